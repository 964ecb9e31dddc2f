package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// subjectOf gives the subject of an API request, as nats.go and the server spell it.
func (m *Machine) subjectOf(api API, consumer string) string {
	stream := m.cfg.Stream
	switch api {
	case APIStreamNames:
		return m.cfg.APIPrefix + "STREAM.NAMES"
	case APIStreamInfo:
		return m.cfg.APIPrefix + "STREAM.INFO." + stream
	case APIConsumerCreate, APIConsumerUpdate:
		s := m.cfg.APIPrefix + "CONSUMER.CREATE." + stream + "." + consumer
		if len(m.cfg.Subjects) == 1 {
			s += "." + m.cfg.Subjects[0]
		}
		return s
	case APIConsumerInfo:
		return m.cfg.APIPrefix + "CONSUMER.INFO." + stream + "." + consumer
	case APIConsumerDelete:
		return m.cfg.APIPrefix + "CONSUMER.DELETE." + stream + "." + consumer
	case APIMessageGet:
		return m.cfg.APIPrefix + "STREAM.MSG.GET." + stream
	case APIConsumerReset:
		return m.cfg.APIPrefix + "CONSUMER.RESET." + stream + "." + consumer
	}
	panic("session: unknown request " + string(api))
}

func (m *Machine) pullSubject(consumer string) string {
	return m.cfg.APIPrefix + "CONSUMER.MSG.NEXT." + m.cfg.Stream + "." + consumer
}

// request sends one API request; answer is called once, unless it is cancelled.
func (m *Machine) request(e Effect, answer func(now time.Duration, a Answer)) RequestID {
	m.nextReq++
	e.Do, e.Request, e.Timeout = DoRequest, m.nextReq, m.cfg.Retry.AttemptTimeout
	e.Subject = m.subjectOf(e.API, e.Consumer)
	m.reqs[m.nextReq] = &request{id: m.nextReq, api: e.API, subject: e.Subject, consumer: e.Consumer, answer: answer}
	m.do(e)
	return m.nextReq
}

// cancel forgets a request; its answer, should it come, is ignored.
func (m *Machine) cancel(id RequestID) {
	if _, ok := m.reqs[id]; ok {
		delete(m.reqs, id)
		m.do(Effect{Do: DoCancel, Request: id})
	}
}

// Sent notes that a request has left: AttemptTimeout runs from here, because
// waiting for a slot of the connection is no fault of the server. One that was
// cancelled while it waited is not wanted, and must not leave: nobody counts it.
func (m *Machine) Sent(now time.Duration, id RequestID) (wanted bool) {
	r, ok := m.begins(now, id)
	if ok {
		m.fig.API[r.api]++
		m.tell(Event{Kind: KindAPIRequest, Request: string(r.api), Consumer: r.consumer})
	}
	return ok
}

// Shared notes that a request has left as part of another reader's, which counts it.
func (m *Machine) Shared(now time.Duration, id RequestID) { m.begins(now, id) }

func (m *Machine) begins(now time.Duration, id RequestID) (*request, bool) {
	r, ok := m.reqs[id]
	if !ok || r.deadline > 0 {
		return nil, false
	}
	r.sent, r.deadline = now, now+m.cfg.Retry.AttemptTimeout
	return r, true
}

// Answer gives a request its answer.
func (m *Machine) Answer(now time.Duration, id RequestID, a Answer) {
	r, ok := m.reqs[id]
	if !ok || m.phase == Done {
		return
	}
	delete(m.reqs, id)
	m.permitted(r.api, a)
	m.away.note(now, r.api, a.Err)
	if a.Consumer != nil && r.deadline > 0 {
		m.passing.noteServer(r.sent, now, a.Consumer)
	}
	r.answer(now, a)
	m.settle(now)
}

// openRequests gives the requests under way in the order they were made: an
// answer may make or cancel others.
func (m *Machine) openRequests() []RequestID {
	if len(m.reqs) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m.reqs))
}

func (m *Machine) expireRequests(now time.Duration) {
	for _, id := range m.openRequests() {
		r, ok := m.reqs[id]
		if !ok || r.deadline == 0 || !m.overdue(now, r.deadline) {
			continue
		}
		m.cancel(id)
		m.away.note(now, r.api, ErrNoAnswer)
		r.answer(now, Answer{Err: fmt.Errorf("%w to %s within %s", ErrNoAnswer, r.subject, m.cfg.Retry.AttemptTimeout)})
	}
}

// violates answers the requests whose subject the server denied.
func (m *Machine) violates(now time.Duration, subject, text string) bool {
	hit := false
	for _, id := range m.openRequests() {
		if r, ok := m.reqs[id]; ok && r.subject == subject {
			m.cancel(id)
			hit = true
			err := &deniedError{subject, text}
			m.refusedTo(now, r.api)
			m.tellDenied(subject, err)
			r.answer(now, Answer{Err: err})
		}
	}
	return hit
}

// inboxHas says whether subject lies in the session's inbox.
func (s *Session) inboxHas(subject string) bool {
	return subject == s.inbox || strings.HasPrefix(subject, strings.TrimSuffix(s.inbox, "*"))
}
