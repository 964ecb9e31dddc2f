package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// request sends an API request and brings its answer back, if there is one.
func (r *reader) request(e session.Effect) {
	if r.conn == nil {
		r.fail("driver", "a request is sent while disconnected: %s", e.Subject)
		return
	}
	r.open = append(r.open, e.Request)
	if e.API == session.APIStreamInfo {
		r.look(e)
		return
	}
	r.send(e, func(*session.Effect, session.Answer) {})
}

// send has a request leave; over is told when its answer has come.
func (r *reader) send(e session.Effect, over func(e *session.Effect, a session.Answer)) {
	w := r.w
	r.tally.requested(r, &e)
	if e.API == session.APIConsumerCreate {
		r.madeAt = w.now
	}
	r.m.Sent(w.now, e.Request)
	if w.trouble.apiDown > w.now {
		return
	}
	r.toServer(func(c *conn) {
		if w.isDenied(string(e.API)) {
			r.refuse(c, e.Subject, "Publish")
			return
		}
		if w.trouble.apiSlow > w.now {
			w.At(w.now+w.trouble.lag, call(func() { r.process(c, e, over) }))
			return
		}
		r.process(c, e, over)
	})
}

// process is the server's part of a request.
func (r *reader) process(c *conn, e session.Effect, over func(*session.Effect, session.Answer)) {
	w := r.w
	a, ok := w.answer(r, &e)
	if t := &w.trouble; t.apiErr > w.now && t.apiDone {
		refused := t.apiErr
		t.apiErr = 0
		w.answer(r, &e)
		t.apiErr = refused
	}
	if e.API == session.APIConsumerCreate {
		if r.late == nil {
			r.late = map[string]bool{}
		}
		r.late[e.Consumer] = !slices.Contains(r.open, e.Request)
		r.tally.created(r)
	}
	if !ok || w.trouble.apiLost > w.now {
		return
	}
	r.toClient(c, 500, func() {
		over(&e, a)
		r.answered(e, a)
	})
}

// answered is an answer that has come, if it is still wanted.
func (r *reader) answered(e session.Effect, a session.Answer) {
	w := r.w
	i := slices.Index(r.open, e.Request)
	if i < 0 {
		return
	}
	r.open = slices.Delete(r.open, i, i+1)
	r.tally.answered(r, &e, a.Err)
	w.writeAnswer(r, e.Request, a)
	r.m.Answer(w.now, e.Request, a)
	r.perform()
}

var errUnavailable = &session.APIError{Code: 503, ErrCode: 10008, Text: "JetStream system temporarily unavailable"}

// answer is what the server says; ok is false where it does not answer.
func (w *world) answer(r *reader, e *session.Effect) (a session.Answer, ok bool) {
	t := &w.trouble
	switch {
	case t.off > w.now:
		a.Err = &session.APIError{Code: 503, ErrCode: 10039, Text: "JetStream not enabled for account"}
		return a, true
	case t.apiErr > w.now:
		a.Err = errUnavailable
		return a, true
	case t.quorum > w.now && e.API == session.APIConsumerCreate:
		// Not answered for seconds, then refused.
		a.Err = errUnavailable
		return a, t.quorum-w.now < 8*time.Second
	}
	fail := func(e *model.Error) {
		if e != nil {
			a.Err = &session.APIError{Code: e.Code, ErrCode: e.ErrCode, Text: e.Text}
		}
	}
	switch e.API {
	case session.APIStreamNames:
		for _, st := range w.server.Streams {
			a.Names = append(a.Names, st.Name)
		}
		return a, true
	case session.APIStreamInfo:
		st, err := w.server.StreamInfo(streamName)
		if fail(err); err == nil {
			a.Stream = &session.StreamFacts{Created: st.Created, First: st.First(), Last: st.Last(), LastTime: st.LastTime(),
				Limits: st.Retention == model.Limits, Retention: st.Retention.String(), Mirror: st.Mirror}
		}
		return a, true
	case session.APIConsumerCreate:
		if st := w.stream(); st != nil && t.full > 0 && st.Consumer(e.Consumer) == nil && len(st.Consumers())+t.full >= slots {
			fail(&model.Error{Code: 400, ErrCode: 10026, Text: "maximum consumers limit reached"})
			return a, true
		}
		absent := w.stream() != nil && w.stream().Consumer(e.Consumer) == nil
		info, err, ok := w.server.Create(streamName, e.Consumer, r.modelConfig(e.Create), model.Create)
		if absent && info != nil {
			w.maker = r.n
		}
		if fail(err); info != nil {
			a.Consumer = w.facts(info)
		}
		return a, ok
	case session.APIConsumerUpdate:
		info, err, ok := w.server.Create(streamName, e.Consumer, r.modelConfig(e.Create), model.Update)
		if fail(err); info != nil {
			a.Consumer = w.facts(info)
		}
		return a, ok
	case session.APIConsumerInfo:
		info, err, ok := w.server.Info(streamName, e.Consumer)
		if fail(err); info != nil {
			a.Consumer = w.facts(info)
		}
		return a, ok
	case session.APIConsumerDelete:
		err, ok := w.server.Delete(streamName, e.Consumer)
		fail(err)
		a.Done = err == nil
		return a, ok
	case session.APIConsumerReset:
		info, err, ok := w.server.Reset(streamName, e.Consumer, e.Sequence)
		fail(err)
		a.Done = info != nil
		return a, ok
	case session.APIMessageGet:
		m, err := w.server.Get(streamName, e.Sequence)
		if fail(err); m != nil {
			a.Message = &session.MessageFacts{Sequence: m.Sequence, Time: m.Time}
		}
		return a, true
	}
	panic("simulate: unknown request " + string(e.API))
}

// slots is how many consumers a stream takes while others fill it.
const slots = 10

var policies = map[session.StartKind]model.Policy{
	session.StartAll: model.All, session.StartNew: model.New, session.StartLast: model.Last,
	session.StartLastPerSubject: model.LastPerSubject, session.StartSequence: model.BySequence, session.StartTime: model.ByTime,
}

// shortestThreshold is what package reader asks for to have a consumer lapse.
const shortestThreshold = time.Millisecond

// modelConfig is what a reader's consumer is made with, as package reader asks.
func (r *reader) modelConfig(c session.Create) model.Config {
	out := model.Config{Policy: policies[c.Start], Inactive: c.Inactive, Owner: r.id, Filter: r.cfg.Filter, Memory: r.cfg.Memory}
	if r.cfg.Durable != "" {
		out.Durable, out.Explicit, out.Inactive, out.AckWait = true, true, 0, r.cfg.AckWait
		out.Owner, out.MaxAckPending, out.MaxWaiting = "", r.cfg.MaxAckPending, r.cfg.MaxWaiting
	}
	if c.Lapse {
		out.Inactive = shortestThreshold
	}
	switch c.Start {
	case session.StartSequence:
		out.Sequence = c.Sequence
	case session.StartTime:
		out.Time = c.Time
	case session.StartLastPerSubject:
		if out.Filter == 0 {
			out.Filter = model.Everything
		}
	}
	out.MaxBatch, out.MaxExpires, out.MaxBytes = r.w.plan.MaxBatch, r.w.plan.MaxExpires, r.w.plan.MaxBytes
	return out
}

func (w *world) facts(i *model.Info) *session.ConsumerFacts {
	f := &session.ConsumerFacts{
		Name: i.Name, DeliveredConsumer: i.DeliveredConsumer, DeliveredStream: i.DeliveredStream, Pending: i.Pending, Paused: i.Paused,
		AckPending: i.AckPending, MaxAckPending: i.Config.MaxAckPending, AckFloor: i.AckFloor, AckNone: !i.Config.Explicit,
		PushBased: i.Config.Push, Level: i.Level, Version: i.Version, Created: i.Created, At: w.stamp(), Owner: i.Config.Owner,
		Waiting: i.Waiting, MaxWaiting: i.Config.MaxWaiting,
		Limits: session.Limits{Batch: i.Config.MaxBatch, Expires: i.Config.MaxExpires, Bytes: i.Config.MaxBytes},
	}
	if f.MaxWaiting > 0 {
		f.Limits.Waiting = max(f.MaxWaiting-1, 1) // as package reader has it
	}
	f.Filters = subjectsOf(i.Config.Filter)
	return f
}

// subjectsOf gives a filter as subjects: one for each of its bits.
func subjectsOf(filter uint64) (out []string) {
	if filter == model.Everything {
		return []string{">"}
	}
	for i := range 64 {
		if filter&(1<<i) != 0 {
			out = append(out, subjectName(i))
		}
	}
	return out
}

func subjectName(i int) string { return "orders." + string(rune('a'+i)) }

func apiErrorText(err error) string {
	if e, ok := err.(*session.APIError); ok {
		return fmt.Sprintf("error %d/%d %s", e.Code, e.ErrCode, e.Text)
	}
	return "noresponders"
}
