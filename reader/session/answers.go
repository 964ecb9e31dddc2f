package session

import (
	"fmt"
	"time"
)

// Status judges what the server sent to an inbox instead of a message.
func (m *Machine) Status(now time.Duration, attempt int, st Status) {
	switch {
	case m.ended():
	case m.cur != nil && m.cur.attempt == attempt:
		m.statusInUse(now, m.cur, st)
	case m.try != nil && m.try.sess != nil && m.try.sess.attempt == attempt:
		m.statusUnproven(now, m.try, st)
	}
	m.settle(now)
}

// statusInUse is the first column of the table.
func (m *Machine) statusInUse(now time.Duration, s *Session, st Status) {
	if s.condemned {
		return
	}
	since := m.deafSince(now)
	s.answered(now)
	if st.Code == 100 {
		s.pulls.beat(now, st.Token)
		m.heartbeat(now, s, st, since)
		return
	}
	q, known := s.pulls.end(st)
	rule := ruleFor(st.Code, st.Text)
	if rule.inUse == asks || rule.inUse == soon && st.Code == 409 {
		m.away.until = now // a leader went, perhaps with others
	}
	switch rule.inUse {
	case stays:
	case again:
		m.pullAgain(now, s, known && early(now, q))
	case soon:
		m.pullAgain(now, s, true)
	case room:
		m.awaitRoom(now, s, q, known)
	case gone:
		s.deleted = true
		m.which.deleted(s.number)
		m.condemnSilently(now, CauseConsumerDeleted)
	case asks:
		if m.phase == Reading {
			s.silent = true
			m.enterSilent(now)
			m.ask(now, CauseNoResponders)
		}
	case limited:
		m.obeyLimit(now, s, st)
	case refused:
		m.refuse(now, s, st)
	}
}

// early says that a pull ended empty long before its time: asking again at once
// would be a loop at the speed of the round trip.
func early(now time.Duration, q openPull) bool {
	return !q.served && now-q.sent < q.Expires/2
}

// pullAgain asks again when there is room; after an early end behind a pause that
// grows until something arrives.
func (m *Machine) pullAgain(now time.Duration, s *Session, paced bool) {
	if paced {
		s.dry++
		s.pauseTill = now + m.cfg.Retry.Pause(s.dry, m.cfg.Rand())
		return
	}
	m.pull(now)
}

// awaitRoom is for a message that did not fit into what the pull asked for: wait
// for room, and if the most that may be asked for is not enough, pull it alone.
func (m *Machine) awaitRoom(now time.Duration, s *Session, q openPull, known bool) {
	whole := m.wholeBytes()
	switch {
	case known && q.served, !known:
	case q.MaxBytes < whole:
		s.roomFor = whole
	default:
		s.alone = true
		if !m.large {
			m.large = true
			m.tell(Event{Kind: KindMessageTooLarge, Sequence: m.cursor.Sequence,
				Text: fmt.Sprintf("the message behind sequence %d is larger than %d bytes: it is pulled alone", m.cursor.Sequence, whole)})
		}
	}
	m.pull(now)
}

func (m *Machine) wholeBytes() int {
	if m.limits.Bytes > 0 {
		return min(m.cfg.MaxBytes, m.limits.Bytes)
	}
	return m.cfg.MaxBytes
}

// obeyLimit takes over a limit that the server names; a second refusal in a row
// is a failure.
func (m *Machine) obeyLimit(now time.Duration, s *Session, st Status) {
	l, ok := named(st.Text)
	if !ok || s.obeyed {
		m.refuse(now, s, st)
		return
	}
	m.limits.obey(l)
	s.obeyed = true
	m.tell(Event{Kind: KindPullRefused, Consumer: s.consumer, Code: st.Code, Text: st.Text})
	m.pull(now)
}

func (m *Machine) refuse(now time.Duration, s *Session, st Status) {
	m.tell(Event{Kind: KindPullRefused, Consumer: s.consumer, Code: st.Code, Text: st.Text})
	if m.phase == Replacing {
		m.condemnSilently(now, CauseRefused)
		return
	}
	m.condemn(now, CauseRefused, true, refusal(st))
}

// refusal is a status as an error: the server's code and text, or what the code
// means where it has none.
func refusal(st Status) error {
	rule, text := ruleFor(st.Code, st.Text), st.Text
	if text == "" {
		text = rule.meaning
	}
	if rule.inUse == refused || rule.inUse == limited {
		return fmt.Errorf("pull refused: %d %s", st.Code, text)
	}
	return fmt.Errorf("pull ended: %d %s", st.Code, text)
}

// heartbeat is a pull that waits. Its Last-Consumer tells whether the last message
// before a quiet time arrived (rule 9).
func (m *Machine) heartbeat(now time.Duration, s *Session, st Status, since time.Duration) {
	s.dry, s.obeyed = 0, false
	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq {
		m.gap(now, s, st.LastConsumer)
		return
	}
	if m.cfg.private() && st.HasLast && st.LastConsumer == s.consumerSeq && st.LastStream < s.reached {
		// All was received, yet the stream is behind it: it was rolled back.
		m.condemnRolledBack(now)
		return
	}
	if s.silent {
		if m.cfg.private() && st.HasLast && st.LastConsumer != s.consumerSeq {
			return
		}
		m.healBy(now, s, since, st.Token)
	}
	s.beat(now)
	if m.passedAll(now, s, st) || m.endByHeartbeat(now, st) {
		return
	}
	if m.pending > 0 && !s.looked && s.quietFor(now) > m.cfg.Heartbeat/2 {
		s.looked = true
		m.askStalled(now)
	}
}

// statusUnproven is the second column of the table.
func (m *Machine) statusUnproven(now time.Duration, a *attempt, st Status) {
	s := a.sess
	if a.step != proving {
		return
	}
	s.answered(now)
	rule := ruleFor(st.Code, st.Text)
	if rule.inUse == limited {
		if l, ok := named(st.Text); ok {
			m.limits.obey(l)
		}
	}
	if !rule.proves {
		m.failAttempt(now, fmt.Errorf("%w%s", refusal(st), a.crowd))
		return
	}
	if st.Code != 100 {
		s.pulls.end(st)
	}
	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq {
		m.rec.noReset = m.rec.noReset || a.reset
		m.failAttempt(now, fmt.Errorf("consumer %s delivered %d messages that did not arrive", s.consumer, st.LastConsumer))
		return
	}
	switch {
	case m.blind && a.overlaps && st.HasLast && st.LastStream < min(a.at.Sequence, m.tailOf(a)):
		m.streamReset(now, a, StreamFacts{Last: st.LastStream}, true)
	case a.expects && !a.informed && !m.blind && !a.bound:
		m.doubtful(now, a)
	default:
		m.swap(now)
	}
}

// pull asks for as much as there is room for.
func (m *Machine) pull(now time.Duration) {
	s := m.cur
	if s == nil || m.ended() || !m.connected || m.phase != Reading || s.condemned || s.pauseTill > now {
		return
	}
	if s.alone {
		if m.buf.msgs == 0 && !s.pulls.outstanding() {
			q := Pull{Batch: 1}
			q.Expires, q.Heartbeat = within(m.cfg.Expires, m.cfg.Heartbeat, m.limits)
			m.sendPull(now, s, q)
		}
		return
	}
	if s.roomFor > 0 && m.cfg.MaxBytes-m.buf.bytes-s.pulls.bytes < s.roomFor {
		m.noteFull(now, s)
		return
	}
	size := m.buf.size
	if s.roomFor > 0 {
		size = 0 // the next message is larger than the others
	}
	m.flow.measure()
	q, ok := m.cfg.ask(m.buf, &s.pulls, m.limits, size, m.flow.window(m.cfg.Heartbeat))
	if !ok {
		m.noteFull(now, s)
		return
	}
	s.roomFor = 0
	if m.full && (m.pending > 0 || now >= m.fullAt+briefly) {
		s.waited = m.readyAhead() + 1
	}
	m.noteRoom(now)
	m.sendPull(now, s, q)
}

// noteFull notes that no pull is out because the buffer is full.
func (m *Machine) noteFull(now time.Duration, s *Session) {
	if m.full || s.pulls.outstanding() || m.buf.msgs == 0 {
		return
	}
	m.full, m.fullAt = true, now
	if m.crowded.on(now, m.cfg.Heartbeat) {
		m.tell(Event{Kind: KindBufferFull, Sequence: m.cursor.Sequence, Count: uint64(m.buf.msgs)})
	}
}

func (m *Machine) noteRoom(now time.Duration) {
	m.full = false
	m.crowded.off(now)
}

// Took notes that the caller took messages out of the buffer.
func (m *Machine) Took(now time.Duration, msgs, bytes int) {
	m.buf.msgs = max(m.buf.msgs-msgs, 0)
	m.buf.bytes = max(m.buf.bytes-bytes, 0)
	if m.buf.msgs == 0 {
		m.buf.bytes = 0
	}
	m.want(now)
	m.pull(now)
}

// want dates the pull that would go out if the session in use could be read: from
// here on a reader whose buffer was full is deaf.
func (m *Machine) want(now time.Duration) {
	s := m.cur
	if !m.full || s == nil || m.phase == Reading {
		return
	}
	if _, ok := m.cfg.ask(m.buf, &s.pulls, m.limits, m.buf.size, m.flow.window(m.cfg.Heartbeat)); ok {
		m.noteRoom(now)
		if s.askedAt <= s.lastAnswer {
			s.askedAt = now
		}
	}
}
