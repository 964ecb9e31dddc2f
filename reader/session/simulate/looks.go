package simulate

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// lookAlone is how long one STREAM.INFO holds back the next one of its stream, as
// package reader has it.
const lookAlone = 500 * time.Millisecond

// look sends STREAM.INFO, or has it wait for the one under way.
func (r *reader) look(e session.Effect) {
	r.looks = append(r.looks, e)
	if r.link.Look(e.Subject) {
		r.sendLook(e.Subject)
	}
}

// sendLook sends the look that all who wait share.
func (r *reader) sendLook(subject string) {
	shared := r.looks
	r.looks = nil
	r.link.LookSent(subject)
	over := false
	end := func() {
		if over {
			return
		}
		over = true
		if r.link.LookOver(subject) {
			r.sendLook(subject)
		}
	}
	for _, e := range shared[1:] {
		r.m.Shared(r.w.now, e.Request)
	}
	r.w.later(r.w.now+lookAlone, call(func() {
		end()
		r.perform()
	}))
	r.send(shared[0], func(_ *session.Effect, a session.Answer) {
		end()
		for _, e := range shared[1:] {
			r.answered(e, a)
		}
	})
}

// unlook is for a look that is not wanted any more before it left.
func (r *reader) unlook(id session.RequestID) {
	i := slices.IndexFunc(r.looks, func(e session.Effect) bool { return e.Request == id })
	if i < 0 {
		return
	}
	subject := r.looks[i].Subject
	if r.looks = slices.Delete(r.looks, i, i+1); len(r.looks) == 0 {
		r.link.LookLeft(subject)
	}
}
