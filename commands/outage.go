package commands

import (
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// outageTold is how long read heals in silence. Most of what is healed takes less; whoever
// waits for longer behind a pipe wants to know that it is not the stream that is quiet.
const outageTold = 10 * time.Second

// outage tells a time without a session that lasts, once, and its end.
type outage struct {
	note func(format string, args ...any)

	mu     sync.Mutex
	number int         // of outages that ended
	timer  *time.Timer // nil: all is well
	since  time.Time
	last   reader.Event // what was heard last of why
	told   bool
}

// follows takes every event of the reader.
func (o *outage) follows(e reader.Event) {
	switch e.Kind {
	case session.KindDisconnected, session.KindSessionSilent, session.KindSessionLost, session.KindReplaceFailed, session.KindStreamMissing:
		if e.Session > 0 { // what keeps the first session away is told as the error of the command
			o.goesOn(e)
		}
	case session.KindSessionReplaced, session.KindSessionHealed:
		o.ends(true)
	case session.KindClosed, session.KindFailed:
		o.ends(false)
	}
}

func (o *outage) goesOn(e reader.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = e
	if o.timer == nil {
		o.since = time.Now().Add(-e.Deaf)
		number := o.number
		o.timer = time.AfterFunc(outageTold-e.Deaf, func() { o.tell(number) })
	}
}

// tell speaks for the outage that set the timer, and for no later one.
func (o *outage) tell(number int) {
	o.mu.Lock()
	if o.number != number {
		o.mu.Unlock()
		return
	}
	o.told = true
	last, lasted := o.last, time.Since(o.since)
	o.mu.Unlock()
	last.Deaf = 0 // its age by now is another
	o.note("warning: nothing can be read for %s, and it goes on trying: %s", report.Short(lasted.Round(time.Second)), plainEvent(last))
}

// ends stops the clock; reads says that messages come again.
func (o *outage) ends(reads bool) {
	o.mu.Lock()
	if o.timer != nil {
		o.timer.Stop()
		o.number++
	}
	told, lasted := o.told, time.Since(o.since)
	o.timer, o.told = nil, false
	o.mu.Unlock()
	if told && reads {
		o.note("reading again after %s", report.Short(lasted))
	}
}
