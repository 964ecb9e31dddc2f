package reader

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// maxEvents is how many events may wait for the observer; past it only the kinds
// that tell of sessions, losses and ends are kept.
const maxEvents = 4096

// observe queues an event for the Observer; mu is held. One goroutine delivers
// them in order while there are any, so that an observer may take its time and
// call any method.
func (r *Reader) observe(e Event) {
	if r.cfg.Observer == nil {
		return
	}
	if len(r.events) >= maxEvents && !keptWhenFull(e.Kind) {
		r.dropped++
		return
	}
	e.Time = time.Now()
	r.events = append(r.events, e)
	if !r.telling {
		r.telling = true
		go r.tellEvents()
	}
}

func keptWhenFull(k Kind) bool {
	switch k {
	case session.KindGap, session.KindMissed, session.KindFailed, session.KindClosed:
		return true
	}
	return strings.HasPrefix(string(k), "session_") || strings.HasPrefix(string(k), "stream_")
}

func (r *Reader) tellEvents() {
	for {
		r.mu.Lock()
		batch := r.events
		r.events = nil
		if len(batch) == 0 {
			r.telling = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		for _, e := range batch {
			r.cfg.Observer(e)
		}
	}
}

// LogObserver gives an Observer that logs every event: failures as errors, what
// the reader heals by itself as warnings, the rest as information and debug.
func LogObserver(l *slog.Logger) func(Event) {
	return func(e Event) {
		attrs := []slog.Attr{slog.Int("session", e.Session)}
		add := func(key string, set bool, v any) {
			if set {
				attrs = append(attrs, slog.Any(key, v))
			}
		}
		add("cause", e.Cause != "", string(e.Cause))
		add("consumer", e.Consumer != "", e.Consumer)
		add("sequence", e.Sequence != 0, e.Sequence)
		add("from", e.From != 0, e.From)
		add("to", e.To != 0, e.To)
		add("count", e.Count != 0, e.Count)
		add("attempt", e.Attempt != 0, e.Attempt)
		add("wait", e.Wait != 0, e.Wait)
		add("took", e.Took != 0, e.Took)
		add("deaf", e.Deaf != 0, e.Deaf)
		add("request", e.Request != "", e.Request)
		add("code", e.Code != 0, e.Code)
		if e.Err != nil {
			attrs = append(attrs, slog.String("error", e.Err.Error()))
		}
		add("text", e.Text != "", e.Text)
		l.LogAttrs(context.Background(), logLevel(e.Kind), string(e.Kind), attrs...)
	}
}

func logLevel(k Kind) slog.Level {
	switch k {
	case session.KindFailed:
		return slog.LevelError
	case session.KindSessionSilent, session.KindSessionLost, session.KindReplaceFailed, session.KindRetryWaiting,
		session.KindPullRefused, session.KindGap, session.KindMissed, session.KindSkipped, session.KindStreamReset,
		session.KindStreamMissing, session.KindDisconnected, session.KindConnectionForced, session.KindPermissionDenied,
		session.KindMessageTooLarge, session.KindConsumerLimit, session.KindOrphanLeft:
		return slog.LevelWarn
	case session.KindAPIRequest, session.KindSessionRetired, session.KindDuplicate:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
