package readerprom_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// still is a reader at one moment.
type still struct {
	status   reader.Status
	position reader.Position
	err      error
}

func (s *still) Status() reader.Status     { return s.status }
func (s *still) Position() reader.Position { return s.position }
func (s *still) Err() error                { return s.err }

// lasted is how long a deafness lasted, which is another at each look.
var lasted = regexp.MustCompile(` \(1h[\d.ms]+\)`)

// What the probes say of every state, without a word of its events.
func TestHealthOfEveryState(t *testing.T) {
	since := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		status       reader.Status
		err          error
		ready, alive bool
		text         string // its begin
	}{
		{reader.Status{State: reader.StateOpening}, nil, false, true, "opening"},
		{reader.Status{State: reader.StateReading}, nil, true, true, "reading"},
		{reader.Status{State: reader.StateIdle}, nil, true, true, "idle"},
		{reader.Status{State: reader.StatePaused}, nil, true, true, "paused by an operator"},
		{reader.Status{State: reader.StateWaitingAcks}, nil, true, true, "waiting_acks: the durable is at max_ack_pending"},
		{reader.Status{State: reader.StateBufferFull}, nil, true, true, "buffer_full: its caller reads slower"},
		{reader.Status{State: reader.StateRecovering, Since: since, LastError: "old", Retry: reader.RetryStatus{Attempt: 1}}, nil, false, true, "recovering, silent since " + since.UTC().Format(time.RFC3339) + ", attempt 1"},
		{reader.Status{State: reader.StateRecovering, Since: since, LastError: "no\nanswer", Retry: reader.RetryStatus{Attempt: 2}}, nil, false, true, "recovering, silent since " + since.UTC().Format(time.RFC3339) + ", attempt 2: no answer"},
		{reader.Status{State: reader.StateDisconnected, Since: since}, nil, false, true, "disconnected, silent since "},
		{reader.Status{State: reader.StateClosed}, reader.ErrClosed, false, false, "closed by its own program"},
		{reader.Status{State: reader.StateClosed}, nil, false, false, "closed: it came to its end"},
		{reader.Status{State: reader.StateClosed, LastError: "old"}, reader.ErrStreamNotFound, false, false, "closed: " + reader.ErrStreamNotFound.Error()},
	} {
		metrics := readerprom.New(readerprom.Options{})
		c.status.Stream = "S"
		if err := metrics.Add("r", &still{status: c.status, err: c.err}); err != nil {
			t.Fatal(err)
		}
		h := metrics.Health()
		if len(h) != 1 || h[0].Ready != c.ready || h[0].Alive != c.alive || h[0].Reader != "r" || h[0].Stream != "S" || h[0].State != c.status.State {
			t.Errorf("%s: got %+v", c.status.State, h)
			continue
		}
		if said := lasted.ReplaceAllString(h[0].Text, ""); !strings.HasPrefix(said, c.text) || strings.Contains(h[0].Text, "old") {
			t.Errorf("%s: got %q, want %q", c.status.State, h[0].Text, c.text)
		}
		code := map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}
		if got, body := probe(metrics.Readyz()); got != code[c.ready] {
			t.Errorf("%s: readyz %d %q", c.status.State, got, body)
		}
		if got, body := probe(metrics.Livez()); got != code[c.alive] {
			t.Errorf("%s: livez %d %q", c.status.State, got, body)
		}
	}
}

// The events of a recovery say why it does not read, from the first failure to the proof.
func TestHealthTellsTheCause(t *testing.T) {
	b := newBench(t)
	var told []reader.Kind
	cfg, err := b.metrics.Observe("r", reader.Config{Stream: "S", Observer: func(e reader.Event) { told = append(told, e.Kind) }})
	b.must(err)
	text := func() string { return b.metrics.Health()[0].Text }
	cfg.Observer(reader.Event{Kind: session.KindStreamMissing, Err: errors.New("stream not found (404/10059)")})
	if want := "opening: the stream is missing: stream not found (404/10059)"; text() != want {
		t.Errorf("got %q, want %q", text(), want)
	}
	if s := b.scrape(); s["nats_reader_state{reader=r,state=opening,stream=S}"] != 1 || len(s) != 10 {
		t.Errorf("of a reader that is opening there is %v", s)
	}
	r := &still{status: reader.Status{State: reader.StateReading, Stream: "S"}}
	cfg.Observer(reader.Event{Kind: session.KindSessionOpened, Session: 1})
	b.must(b.metrics.Add("r", r))
	cfg.Observer(reader.Event{Kind: session.KindPermissionDenied, Session: 1, Err: errors.New("one that it can do without")})

	r.status.State, r.status.Since = reader.StateRecovering, time.Now()
	at := time.Now().Add(-time.Minute)
	cfg.Observer(reader.Event{Kind: session.KindSessionSilent, Session: 1, Time: at, Deaf: 4 * time.Second})
	prefix := fmt.Sprintf("recovering, silent since %s (", at.Add(-4*time.Second).UTC().Format(time.RFC3339))
	for _, c := range []struct {
		event reader.Event
		want  string
	}{
		{reader.Event{}, ": no answer to a pull"},
		{reader.Event{Kind: session.KindSessionLost, Session: 1, Cause: session.CauseAnswersLost, Time: at, Deaf: 6 * time.Second}, ": answers_lost"},
		{reader.Event{Kind: session.KindReplaceFailed, Session: 1, Cause: session.CauseAnswersLost, Err: errors.New("no answer\nforged")}, ": answers_lost: no answer forged"},
		{reader.Event{Kind: session.KindPermissionDenied, Session: 1, Text: "publish to $JS.API.X"}, ": permission denied: publish to $JS.API.X"},
		{reader.Event{Kind: session.KindConsumerLimit, Session: 1, Err: errors.New("(400/10026)")}, ": no room for a consumer: (400/10026)"},
		{reader.Event{Kind: session.KindDisconnected, Session: 1, Time: time.Now()}, ": the connection is down"},
	} {
		if c.event.Kind != "" {
			cfg.Observer(c.event)
		}
		if got := text(); !strings.HasPrefix(got, prefix) || !strings.HasSuffix(got, c.want) {
			t.Errorf("after %s: got %q, want %q … %q", c.event.Kind, got, prefix, c.want)
		}
	}
	if s := b.scrape(); s["nats_reader_deaf_seconds{reader=r,stream=S}"] < 64 || s["nats_reader_deaf_longest_seconds{reader=r,stream=S}"] < 64 || s["nats_reader_deaf_duration_seconds_count{reader=r,stream=S}"] != 0 {
		t.Errorf("64s of deafness are %v", s)
	}
	cfg.Observer(reader.Event{Kind: session.KindSessionReplaced, Session: 2, Deaf: 90 * time.Second})
	cfg.Observer(reader.Event{Kind: session.KindSessionReplaced, Session: 3, Cause: session.CauseRequested}) // owed nothing
	r.status.State = reader.StateReading
	s := b.scrape()
	if s["nats_reader_deaf_duration_seconds_count{reader=r,stream=S}"] != 1 || s["nats_reader_deaf_duration_seconds_sum{reader=r,stream=S}"] != 90 || s["nats_reader_deaf_seconds{reader=r,stream=S}"] != 0 {
		t.Errorf("after the proof: %v", s)
	}
	if text() != "reading" || len(told) != 11 {
		t.Errorf("after the proof: %q; its own observer was told %d events", text(), len(told))
	}
}

// What is not known is left out, and time without a bound is no time.
func TestFiguresAtTheirEdges(t *testing.T) {
	b := newBench(t)
	waiting := reader.Status{State: reader.StateReading, Stream: "S", Pending: 5}
	b.must(b.metrics.Add("unread", &still{status: waiting}))
	b.must(b.metrics.Add("behind", &still{status: waiting, position: reader.Position{Time: time.Now().Add(-time.Hour)}}))
	b.must(b.metrics.Add("ahead", &still{status: waiting, position: reader.Position{Time: time.Now().Add(time.Hour)}})) // another clock
	waiting.State, waiting.Retry = reader.StateRecovering, reader.RetryStatus{Attempt: 7, BudgetLeft: 3 * time.Second}
	waiting.Replaced = map[reader.Cause]uint64{"new_cause": 2}
	b.must(b.metrics.Add("short", &still{status: waiting}))
	s := b.scrape()
	of := func(name, reader string) string { return "nats_reader_" + name + "{reader=" + reader + ",stream=S}" }
	for _, series := range []string{of("lag_seconds", "unread"), of("last_answer_timestamp_seconds", "unread"), of("deaf_longest_seconds", "unread"), of("deaf_duration_seconds_count", "unread")} {
		if v, there := s[series]; there {
			t.Errorf("%s is not known, and shown as %g", series, v)
		}
	}
	if s[of("lag_seconds", "behind")] < 3600 || s[of("lag_seconds", "ahead")] != 0 {
		t.Errorf("lags of an hour, and of a clock ahead: %g, %g", s[of("lag_seconds", "behind")], s[of("lag_seconds", "ahead")])
	}
	if !math.IsInf(s[of("retry_budget_seconds", "unread")], 1) || s[of("retry_budget_seconds", "short")] != 3 || s[of("retry_attempt", "short")] != 7 {
		t.Errorf("budgets: %g, %g", s[of("retry_budget_seconds", "unread")], s[of("retry_budget_seconds", "short")])
	}
	if s["nats_reader_sessions_replaced_total{cause=new_cause,reader=short,stream=S}"] != 2 {
		t.Error("a cause that is not known here is not shown")
	}
}

// Names are of one open reader; one that is closed gives way.
func TestNames(t *testing.T) {
	metrics := readerprom.New(readerprom.Options{})
	open := &still{status: reader.Status{State: reader.StateIdle, Stream: "S"}}
	if _, err := metrics.Observe("", reader.Config{}); !errors.Is(err, readerprom.ErrName) {
		t.Errorf("no name: %v", err)
	}
	if err := metrics.Add("\xff", open); !errors.Is(err, readerprom.ErrName) {
		t.Errorf("no UTF-8: %v", err)
	}
	if code, body := probe(metrics.Readyz()); code != http.StatusServiceUnavailable || body != "not ready: no reader is open\n" {
		t.Errorf("readyz of none: %d %q", code, body)
	}
	if code, body := probe(metrics.Livez()); code != http.StatusOK || body != "alive: no reader is open yet\n" {
		t.Errorf("livez of none: %d %q", code, body)
	}
	for range 2 { // a failed Open may be tried again
		if _, err := metrics.Observe("a", reader.Config{}); err != nil {
			t.Error(err)
		}
	}
	if err := metrics.Add("a", open); err != nil {
		t.Error(err)
	}
	if err := metrics.Add("a", &still{status: open.status}); !errors.Is(err, readerprom.ErrName) {
		t.Errorf("taken: %v", err)
	}
	if _, err := metrics.Observe("a", reader.Config{}); !errors.Is(err, readerprom.ErrName) {
		t.Errorf("taken: %v", err)
	}
	open.status.State = reader.StateClosed
	if err := metrics.Add("a", &still{status: reader.Status{State: reader.StateIdle, Stream: "S"}}); err != nil {
		t.Errorf("a closed reader did not give way: %v", err)
	}
	metrics.Remove("nobody")
}

// Those that do not read come first, and not all of very many.
func TestManyReaders(t *testing.T) {
	metrics := readerprom.New(readerprom.Options{})
	for i := range 150 {
		s := reader.Status{State: reader.StateIdle, Stream: "S"}
		if i == 77 {
			s.State = reader.StateDisconnected
		}
		if i == 99 {
			s.State = reader.StateClosed
		}
		if err := metrics.Add(fmt.Sprintf("r%03d", i), &still{status: s}); err != nil {
			t.Fatal(err)
		}
	}
	code, body := probe(metrics.Readyz())
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if code != http.StatusServiceUnavailable || len(lines) != 101 || !strings.HasPrefix(lines[0], "not ready: r077: ") || !strings.HasPrefix(lines[1], "not ready: r099: ") ||
		!strings.HasPrefix(lines[2], "ready: r000: ") || lines[100] != "and 50 more" {
		t.Errorf("readyz: %d %q", code, lines)
	}
	code, body = probe(metrics.Livez())
	if code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not alive: r099: closed") {
		t.Errorf("livez: %d %q", code, body)
	}
	w := httptest.NewRecorder()
	metrics.Readyz().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", w.Code)
	}
}
