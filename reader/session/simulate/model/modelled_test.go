package model_test

import (
	"container/heap"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// modelled is a model under a clock of its own.
type modelled struct {
	server  *model.Server
	stream  string
	made    int
	now     time.Duration
	due     agenda
	seq     int
	subs    map[model.Inbox]bool // false: nobody reads it
	other   []model.Inbox        // on another connection
	in      inboxes
	tokens  uint64
	stamps  int64
	replies map[uint64]model.Delivery // of a message: how it was sent, to acknowledge it
}

func newModelled(era model.Era, stream string) *modelled {
	m := &modelled{stream: stream, subs: map[model.Inbox]bool{}, replies: map[uint64]model.Delivery{}}
	m.server = model.NewServer(m, era)
	return m
}

type dueTimer struct {
	at    time.Duration
	seq   int
	timer model.Timer
}

type agenda []dueTimer

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(v any)   { *a = append(*a, v.(dueTimer)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (m *modelled) Now() time.Duration { return m.now }
func (m *modelled) At(at time.Duration, t model.Timer) {
	m.seq++
	heap.Push(&m.due, dueTimer{max(at, m.now), m.seq, t})
}
func (m *modelled) Interest(in model.Inbox) bool { _, ok := m.subs[in]; return ok }
func (m *modelled) Message(in model.Inbox, _ uint64, d model.Delivery) {
	m.replies[d.Sequence] = d
	if m.subs[in] {
		m.in.heard(int(in), messageWords(d.Sequence, d.ConsumerSeq, d.Deliveries, d.Pending))
	}
}

func (m *modelled) Status(in model.Inbox, _ uint64, st model.Status) {
	if m.subs[in] {
		m.in.heard(int(in), statusWords(st))
	}
}

func messageWords(sequence, consumerSeq uint64, deliveries int, pending uint64) string {
	return fmt.Sprintf("s%d c%d delivery=%d pending=%d", sequence, consumerSeq, deliveries, pending)
}

func statusWords(st model.Status) string {
	s := strings.TrimSpace(fmt.Sprintf("%d %s", st.Code, st.Text))
	if st.HasLast {
		s += fmt.Sprintf(" last=c%d/s%d", st.LastConsumer, st.LastStream)
	}
	if st.HasPending {
		s += fmt.Sprintf(" left=%d/%d", st.PendingMessages, st.PendingBytes)
	}
	return s
}

// run lets time pass until enough, at most to a time.
func (m *modelled) run(until time.Duration, enough func() bool) {
	for !enough() && len(m.due) > 0 && m.due[0].at <= until {
		d := heap.Pop(&m.due).(dueTimer)
		m.now = d.at
		d.timer.Fire()
	}
	if !enough() {
		m.now = until
	}
}

func never() bool { return false }

func (m *modelled) hear(n int, d time.Duration) []string {
	m.run(m.now+d, func() bool { return n > 0 && len(m.in.lines) >= n })
	return m.in.take(n)
}

func (m *modelled) awaits(_, n int) []string { return m.hear(n, patience) }

func (m *modelled) st() *model.Stream { return m.server.Stream(m.stream) }

func (m *modelled) do(o *order, _ string) string {
	name := ""
	if len(o.words) > 0 {
		name = o.words[0]
	}
	fail := func(e *model.Error) string { return errorWords(e.Code, e.ErrCode, e.Text) }
	done := func(e *model.Error, ok bool) string {
		switch {
		case !ok:
			return noAnswer
		case e != nil:
			return fail(e)
		}
		return "ok"
	}
	facts := func(i *model.Info, e *model.Error, ok bool) string {
		if i == nil {
			return done(e, ok)
		}
		w := consumerWords{i.DeliveredConsumer, i.DeliveredStream, i.Pending, i.AckFloor, i.Waiting, i.AckPending, i.Redelivered, i.Paused, ""}
		c := i.Config
		w.config = fmt.Sprintf("inactive=%v maxwaiting=%d ackwait=%v maxack=%d level=%d", c.Inactive, c.MaxWaiting, c.AckWait, max(c.MaxAckPending, 0), i.Level)
		return w.String(o)
	}
	switch o.verb {
	case "stream":
		m.made++
		st := &model.Stream{Name: m.stream, Created: int64(m.made), MaxConsumers: o.number("maxcons", 0), MaxMessages: o.number("max", 0), MaxInactive: o.duration("idle")}
		st.Retention = map[string]model.Retention{"": model.Limits, "interest": model.Interest, "workqueue": model.WorkQueue}[o.options["retention"]]
		m.server.AddStream(st, 1)
	case "drop-stream":
		m.server.DeleteStream(m.stream)
	case "publish":
		for range whole(o.word(0)) {
			m.stamps++
			subject := strings.Index("abcdefgh", or(o.options["subject"], "a"))
			m.st().Publish(m.stamps, subject, o.number("size", 100)+overhead(m.stream))
		}
	case "remove":
		m.st().Remove(uint64(whole(name)))
	case "purge":
		below := uint64(o.number("below", 0))
		if subject := o.options["subject"]; subject != "" {
			m.st().PurgeSubject(strings.Index("abcdefgh", subject), below, o.number("keep", 0))
			break
		}
		if below == 0 {
			below = m.st().Last() + 1
		}
		m.st().Purge(below)
	case "create":
		return facts(m.server.Create(m.stream, name, m.config(o), map[string]model.Action{"": model.Create, "any": model.Any, "update": model.Update}[o.options["action"]]))
	case "crowd":
		last := ""
		for i := range whole(name) {
			last = facts(m.server.Create(m.stream, "x"+strconv.Itoa(i), m.config(o), model.Create))
		}
		return last
	case "info":
		return facts(m.server.Info(m.stream, name))
	case "delete":
		return done(m.server.Delete(m.stream, name))
	case "reset":
		return facts(m.server.Reset(m.stream, name, uint64(whole(o.word(1)))))
	case "pause":
		return done(m.server.Pause(m.stream, name, m.now+lasting(o.word(1))))
	case "streaminfo":
		st, e := m.server.StreamInfo(m.stream)
		if e != nil {
			return fail(e)
		}
		return fmt.Sprintf("first=%d last=%d", st.First(), st.Last())
	case "get":
		msg, e := m.server.Get(m.stream, uint64(whole(name)))
		if e != nil {
			return fail(e)
		}
		return fmt.Sprintf("s%d", msg.Sequence)
	case "lapses":
		gone := func() bool { return m.st().Consumer(name) == nil }
		for end := m.now + 20*time.Second; !gone() && m.now < end; {
			m.run(m.now+50*time.Millisecond, never)
		}
		if gone() {
			return "gone"
		}
		return "still there"
	case "sub":
		m.subs[model.Inbox(whole(name))] = !o.has("unread")
		if o.has("other") {
			m.other = append(m.other, model.Inbox(whole(name)))
		}
	case "unsub":
		delete(m.subs, model.Inbox(whole(name)))
	case "hang-up":
		for _, in := range m.other {
			delete(m.subs, in)
		}
	case "term":
		for _, c := range m.st().Consumers() {
			c.EndPulls(model.Status{Code: 409, Text: "Server Shutdown", HasPending: true})
		}
		m.server.Restart()
	case "kill":
		m.server.Restart()
	case "pull":
		m.tokens++
		m.server.Pull(m.stream, name, model.Inbox(whole(o.word(1))), pullOf(o, m.tokens))
	case "pullraw":
		m.tokens++
		m.server.PullRaw(m.stream, name, model.Inbox(whole(o.word(1))), m.tokens, o.words[2])
	case "ack", "nak", "progress":
		d := m.replies[uint64(whole(name))]
		switch o.verb {
		case "ack":
			m.server.Ack(m.stream, d.Consumer.Name, d.Sequence, d.ConsumerSeq)
		case "nak":
			m.server.Nak(m.stream, d.Consumer.Name, d.Sequence)
		case "progress":
			m.server.InProgress(m.stream, d.Consumer.Name, d.Sequence)
		}
	default:
		panic("unknown verb: " + o.line)
	}
	return ""
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// overhead is what a server counts beside the payload: subject and ack subject, where
// all its numbers have one digit.
func overhead(stream string) int {
	return len(stream+".a") + len("$JS.ACK."+stream+".c1.1.1.1.1700000000000000000.1")
}

func pullOf(o *order, token uint64) model.Pull {
	return model.Pull{Token: token, Batch: o.number("batch", 1), MaxBytes: o.number("bytes", 0), Expires: o.duration("expires"), Heartbeat: o.duration("hb"),
		NoWait: o.has("nowait"), Group: o.options["group"], Pin: o.options["id"]}
}

func (m *modelled) config(o *order) model.Config {
	c := model.Config{
		Explicit: o.has("explicit"), Durable: o.has("durable"), Push: o.has("push"), Memory: o.has("memory"), Inactive: o.duration("inactive"),
		AckWait: o.duration("ackwait"), MaxAckPending: o.number("maxack", 0), MaxWaiting: o.number("maxwaiting", 0), MaxBatch: o.number("maxbatch", 0),
		MaxBytes: o.number("maxbytes", 0), MaxExpires: o.duration("maxexpires"), Group: o.options["group"], Pinned: o.has("pinned"), Description: o.options["description"],
		Unknown: o.options["unknown"],
	}
	if s := o.options["subjectfilter"]; s != "" {
		c.SubjectFilter = 1 << strings.Index("abcdefgh", s)
	}
	for _, s := range o.subjects() {
		c.Filter |= 1 << strings.Index("abcdefgh", s)
	}
	if d := o.duration("paused"); d > 0 {
		c.PauseUntil = m.now + d
	}
	for word, p := range map[string]model.Policy{"new": model.New, "last": model.Last, "lastper": model.LastPerSubject} {
		if o.has(word) {
			c.Policy = p
		}
	}
	if v, ok := o.options["seq"]; ok {
		c.Policy, c.Sequence = model.BySequence, uint64(whole(v))
	}
	switch v, ok := o.options["time"]; {
	case v == "future":
		c.Policy, c.Time = model.ByTime, 1<<60
	case ok:
		c.Policy = model.ByTime
		for msg := range m.st().Messages {
			if msg.Sequence == uint64(whole(v)) {
				c.Time = msg.Time
			}
		}
	}
	return c
}
