package simulate

import (
	"math/rand/v2"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// wire is how long anything takes from a client to the server, or back.
const wire = time.Millisecond

// world is readers, a server, and the wire between them.
type world struct {
	plan    *Plan
	draw    *rand.Rand
	now     time.Duration
	agenda  agenda
	server  *model.Server
	readers []*reader
	journal journal
	failed  *Failure
	tape    *tape // nil: nothing is written down

	instant int // ticks since the clock moved
	trouble trouble
	over    time.Duration // the end of the last fault
	lastEnd time.Duration
	maker   int    // who made the durable
	harmed  []told // what a server does not send again, by its own fault and without a sign
}

// trouble is what is wrong with the server now: each until its time.
type trouble struct {
	frozen  time.Duration // the server's process is stopped
	down    time.Duration // the server, or the way to it, takes no connection
	apiDown time.Duration // API requests are swallowed
	apiLost time.Duration // done, but not answered
	apiErr  time.Duration // answered 503/10008
	apiDone bool          // by a node that hears no other one, while the leader does what is asked
	apiSlow time.Duration // processed late
	lag     time.Duration // by how much
	muted   time.Duration // no heartbeat arrives
	quorum  time.Duration // no leader: creates are not answered, then refused
	off     time.Duration // JetStream is not enabled
	silent  time.Duration // statuses other than heartbeats are lost
	swallow int           // messages lost on the wire
	twice   int           // messages that come twice
	swap    int           // messages that come behind the next one
	full    int           // consumers of others on the stream
	denied  map[string]time.Duration
}

func newWorld(p *Plan) *world {
	w := &world{plan: p, draw: rand.New(rand.NewPCG(uint64(p.Seed), 0x5eed))}
	w.server = model.NewServer(w, p.Era)
	w.server.AddStream(&model.Stream{Name: streamName, Created: createdAt, Retention: p.Retention, MaxMessages: p.MaxMessages, MaxInactive: p.MaxInactive}, 1)
	w.journal.generation = 1
	for range p.Stored {
		w.publish(w.draw.IntN(p.SubjectsOf))
	}
	for i := range p.Readers {
		w.readers = append(w.readers, newReader(w, i))
	}
	return w
}

const (
	streamName = "ORDERS"
	createdAt  = 100
	epoch      = 1001 // the server's clock when a run begins
	size       = 100  // of a message, as a rule
)

func (w *world) stream() *model.Stream { return w.server.Stream(streamName) }

// stamp is the server's clock.
func (w *world) stamp() int64 { return epoch + int64(w.now) }

// publish stores one message, if there is a stream.
func (w *world) publish(subject int) {
	st := w.stream()
	if st == nil || w.trouble.quorum > w.now || w.trouble.off > w.now {
		return
	}
	n := size
	if w.plan.Large > 0 && (len(w.journal.log)+1)%w.plan.Large == 0 {
		n = w.plan.LargeSize
	}
	// The journal knows a message before anybody can receive it.
	stamp := w.journal.add(w.now, st.Last()+1, subject)
	st.Publish(stamp, subject, n)
}

// later has something done by the world.
func (w *world) later(at time.Duration, do model.Timer) {
	w.agenda.add(max(at, w.now), false, false, do)
}

// Now is the world's time.
func (w *world) Now() time.Duration { return w.now }

// At has something done by the server.
func (w *world) At(at time.Duration, t model.Timer) { w.agenda.add(max(at, w.now), true, false, t) }

// Interest says whether the server knows a subscriber of an inbox.
func (w *world) Interest(in model.Inbox) bool {
	for _, c := range w.readers[readerOf(in)].conns {
		if c.has(in) {
			return true
		}
	}
	return false
}

// Message sends a message to whoever is subscribed.
func (w *world) Message(in model.Inbox, _ uint64, d model.Delivery) {
	r := w.readers[readerOf(in)]
	for _, c := range r.conns {
		if c.has(in) {
			r.sendMessage(c, attemptOf(in), d)
		}
	}
}

// Status sends a status to whoever is subscribed.
func (w *world) Status(in model.Inbox, token uint64, st model.Status) {
	if st.Code == 100 && w.trouble.muted > w.now || st.Code != 100 && w.trouble.silent > w.now {
		return
	}
	r := w.readers[readerOf(in)]
	for _, c := range r.conns {
		if c.has(in) {
			r.sendStatus(c, attemptOf(in), token, st)
		}
	}
}

// An inbox is a reader's number and its attempt's.
const attempts = 1 << 20

func inboxOf(r, attempt int) model.Inbox   { return model.Inbox(r*attempts + attempt) }
func readerOf(in model.Inbox) int          { return int(in) / attempts }
func attemptOf(in model.Inbox) int         { return int(in) % attempts }
func (w *world) frozen() bool              { return w.trouble.frozen > w.now }
func (w *world) reachable() bool           { return !w.frozen() && w.trouble.down <= w.now }
func (w *world) fault(until time.Duration) { w.over = max(w.over, until) }

// run lets time pass, until a promise is broken.
func (w *world) run(until time.Duration) {
	for w.failed == nil {
		at, ok := w.agenda.next()
		if !ok || at > until {
			break
		}
		e := w.agenda.take()
		if e.at > w.now {
			w.now, w.instant = e.at, 0
		}
		if e.server && w.frozen() {
			w.agenda.delay(e, w.trouble.frozen)
			continue
		}
		if w.instant++; w.instant > 20000 {
			w.fail("endless", "something goes on for ever at one instant")
			return
		}
		e.do.Fire()
	}
	w.now = max(w.now, until)
}

// phases are the names of a machine's phases, as the transcripts tell them.
var phases = map[session.Phase]string{
	session.Opening: "opening", session.Reading: "reading", session.Silent: "silent",
	session.Replacing: "replacing", session.Ending: "ending", session.Done: "done",
}
