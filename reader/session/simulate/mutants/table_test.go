package mutants

// mutant is one rule broken in one place: old stands in a file of package session
// exactly once, and new in its place with MUTANT where the mutant differs. One without
// a new text is MUTANT2 of the one before it.
type mutant struct {
	id   string
	rule int
	file string
	old  string
	new  string
}

// mutants has at least one of each rule; those of the lines of the status table are
// made from the table itself.
var mutants = []mutant{
	// 1. Replaced as a whole, the new one first and proven.
	{"the old inbox stays subscribed", 1, "swap.go", "		m.letGo(old)\n", "		if !MUTANT {\n			m.letGo(old)\n		}\n"},
	{"a failed attempt ends the session in use", 1, "recovery.go", "	m.discard(a)\n	err = marked(err)\n", "	m.discard(a)\n	if MUTANT && m.cur != nil {\n		m.cur.condemned = true\n	}\n	err = marked(err)\n"},
	{"a failed attempt leaves its inbox", 1, "recovery.go", "	m.unsubscribe(a)\n	m.try = nil\n", "	if !MUTANT {\n		m.unsubscribe(a)\n	}\n	m.try = nil\n"},
	{"no pull to heal by", 1, "attempt.go", "		if m.rec.tries > 1 {\n", "		if m.rec.tries > 1 && !MUTANT {\n"},
	{"a condemned session heals", 1, "inbox.go", "	if s.condemned {\n		return Drop\n", "	if s.condemned && !MUTANT {\n		return Drop\n"},
	{"a heartbeat out of step heals", 1, "answers.go", "st.LastConsumer != s.consumerSeq {\n			return\n", "st.LastConsumer != s.consumerSeq && !MUTANT {\n			return\n"},
	{"a message that leaves others out heals", 1, "inbox.go", "	if s.silent && m.jumps(s, d) {\n", "	if s.silent && m.jumps(s, d) && !MUTANT {\n"},
	{"a consumer that went with its stream does not come back", 10, "ask.go", "	s.condemned, s.gone, s.strayed = true, true, true\n", "	s.condemned, s.gone, s.strayed = true, true, !MUTANT\n"},
	{"a probe is due behind the time of its proof", 5, "attempt.go", "a.step == proving && t < a.proofBy {\n", "a.step == proving && (t < a.proofBy || MUTANT) {\n"},
	{"what is unavailable has made nothing", 10, "create.go", " && !isCode(err, codeUnavailable)\n", " && (MUTANT || !isCode(err, codeUnavailable))\n"},
	{"a roll back that was seen is skipped over", 8, "inbox.go", "	m.cur.rolled = true\n", "	m.cur.rolled = !MUTANT\n"},
	{"a stream that was skipped into unseen is the one before", 8, "swap.go", "	if a.skips && m.blind {\n", "	if a.skips && m.blind && !MUTANT {\n"},
	{"a question for the end is asked again at once", 5, "end.go", "now < m.asks.endAfter {\n", "now < m.asks.endAfter && !MUTANT {\n"},
	{"a roll back is forgotten before a proof", 8, "recovery.go", "bool { return m.start.kind == StartTime && !m.unread }", "bool { return !MUTANT && m.start.kind == StartTime && !m.unread }"},
	{"what cannot be deleted is asked for first, again and again", 10, "create.go", "(next == nil || l.tries < next.tries) {\n", "(next == nil || l.tries < next.tries && !MUTANT) {\n"},
	{"a stream that seems re-created took its consumers", 8, "open.go", "	s.gone = s.gone || another && !m.blind\n", "	s.gone = s.gone || another && (!m.blind || MUTANT)\n"},
	{"the probe waits for room", 1, "prove.go", "	a.step = proving\n", "	if MUTANT && m.buf.msgs >= m.cfg.MaxMessages {\n		m.failAttempt(now, ErrNoAnswer)\n		return\n	}\n	a.step = proving\n"},
	{"the probe's heartbeat is the reader's", 1, "prove.go", "	a.probe = m.sendPull(now, a.sess, p)\n", "	if MUTANT {\n		p.Heartbeat = m.cfg.Heartbeat\n	}\n	a.probe = m.sendPull(now, a.sess, p)\n"},
	{"the old consumer is kept", 1, "swap.go", "		if old.consumer != s.consumer {\n", "		if old.consumer != s.consumer && !MUTANT {\n"},

	// 2. Judged by the server's answers to our own pulls, by nothing else.
	{"silent without a pull", 2, "session.go", "s.condemned || !s.pulls.outstanding() {\n", "s.condemned || !MUTANT && !s.pulls.outstanding() {\n"},
	{"an answer on another inbox counts", 2, "answers.go", "	case m.cur != nil && m.cur.attempt == attempt:\n		m.statusInUse", "	case m.cur != nil && (m.cur.attempt == attempt || MUTANT):\n		m.statusInUse"},
	{"a message on another inbox counts", 2, "inbox.go", "	case m.cur != nil && m.cur.attempt == attempt:\n		v := m.deliverInUse", "	case m.cur != nil && (m.cur.attempt == attempt || MUTANT):\n		v := m.deliverInUse"},
	{"silent after one heartbeat", 2, "session.go", "connected) + 2*heartbeat, true", "connected) + 2*heartbeat - shorter(MUTANT, heartbeat), true"},

	// 3. Silent: ask once.
	{"a consumer that is gone is a failure", 3, "ask.go", "			m.condemn(now, CauseConsumerGone, false, nil)\n", "			m.condemn(now, CauseConsumerGone, MUTANT, nil)\n"},
	{"a consumer that is gone may heal", 3, "ask.go", "		case isCode(a.Err, codeConsumerNotFound):\n			s.gone = true\n", "		case isCode(a.Err, codeConsumerNotFound) && !MUTANT:\n			s.gone = true\n"},
	{"a stream that is gone is no news", 3, "ask.go", "		case isCode(a.Err, codeStreamNotFound):\n			m.streamGone", "		case isCode(a.Err, codeStreamNotFound) && !MUTANT:\n			m.streamGone"},
	{"the ask about a stall is repeated", 3, "answers.go", "		s.looked = true\n", "		s.looked = !MUTANT\n"},
	{"a stall is not asked about", 3, "answers.go", "		m.askStalled(now)\n", "		if !MUTANT {\n			m.askStalled(now)\n		}\n"},

	// 4. Every status has its place in one table.
	{"a limit that is named is not obeyed", 4, "answers.go", "	m.limits.obey(l)\n	s.obeyed = true\n", "	if !MUTANT {\n		m.limits.obey(l)\n	}\n	s.obeyed = true\n"},
	{"a limit is obeyed again and again", 4, "answers.go", "	if !ok || s.obeyed {\n", "	if !ok || s.obeyed && !MUTANT {\n"},
	{"the limits of a create's answer are not obeyed", 4, "create.go", "	m.limits.obey(f.Limits)\n	m.noteLevel(&f)\n", "	if !MUTANT {\n		m.limits.obey(f.Limits)\n	}\n	m.noteLevel(&f)\n"},
	{"a pull that ends early is sent again at once", 4, "answers.go", "	return !q.served && now-q.sent < q.Expires/2\n", "	return !MUTANT && !q.served && now-q.sent < q.Expires/2\n"},
	{"a message too large is never pulled alone", 4, "answers.go", "		s.alone = true\n", "		s.alone = !MUTANT\n"},
	{"a message too large is told again and again", 4, "answers.go", "			m.large = true\n", "			m.large = !MUTANT\n"},
	{"a status names no pull", 4, "pulls.go", "		if q.Token != st.Token {\n			continue\n", "		if q.Token != st.Token && !MUTANT {\n			continue\n"},

	{"an unknown status is asked again", 4, "status.go", "	return statusRule{code: code, text: text, inUse: refused,", "	if MUTANT {\n		return statusRule{code: code, text: text, inUse: again}\n	}\n	return statusRule{code: code, text: text, inUse: refused,"},

	// 5. One retry authority.
	{"no pause behind a failure", 5, "recovery.go", "	wait := m.pace.next(m.cfg.Retry, m.cfg.Rand())\n	m.rec.nextAt", "	wait := m.pace.next(m.cfg.Retry, m.cfg.Rand())\n	if MUTANT {\n		wait = 0\n	}\n	m.rec.nextAt"},
	{"what dies soon is made again at once", 5, "retry.go", "	if healthy > max(p.last, policy.Initial) {\n", "	if healthy > max(p.last, policy.Initial) || MUTANT {\n"},
	{"the first attempt is paced", 5, "retry.go", "		*p = pace{}\n		return 0\n", "		if MUTANT {\n			return p.next(policy, r)\n		}\n		*p = pace{}\n		return 0\n"},
	{"pauses do not grow", 5, "retry.go", "		d *= p.Multiplier\n", "		if MUTANT {\n			break\n		}\n		d *= p.Multiplier\n"},
	{"a failed attempt starts the budget anew", 5, "recovery.go", "	m.rec.fails++\n", "	m.rec.fails++\n	if MUTANT {\n		m.rec.began, m.rec.fails = now, 0\n	}\n"},
	{"attempts are not counted", 5, "recovery.go", "n > 0 && m.rec.fails >= n {\n", "n > 0 && m.rec.fails >= n && !MUTANT {\n"},
	{"the total timeout is not kept", 5, "machine.go", "	if m.rec.on && !m.ended() && m.cfg.Retry.TotalTimeout > 0 &&", "	if m.rec.on && !MUTANT && !m.ended() && m.cfg.Retry.TotalTimeout > 0 &&"},
	{"the wait for a proof does not grow", 5, "prove.go", "proofWaitAfter(m.rec.unproven)\n", "proofWaitAfter(when(!MUTANT, m.rec.unproven))\n"},
	{"a request has no deadline", 5, "requests.go", "		if !ok || r.deadline == 0 || !m.overdue(now, r.deadline) {\n", "		if !ok || r.deadline == 0 || MUTANT || !m.overdue(now, r.deadline) {\n"},
	{"what is behind a message is late", 5, "flow.go", "	case transit == 0:\n		return true\n", "	case transit == 0, MUTANT:\n		return true\n"},
	{"a PONG is not waited for", 5, "flow.go", "	case m.pong >= due:\n", "	case m.pong >= due, MUTANT && m.pong > 0:\n"},
	{"a PONG says nothing", 5, "flow.go", "	if sent > m.pong {\n", "	if sent > m.pong && !MUTANT {\n"},
	{"a PONG says more than came before it", 5, "flow.go", "		return m.pongAt + handover\n", "		return m.pongAt + handover - shorter(MUTANT, handover)\n"},

	// 6. Only a missing stream is fatal.
	{"a missing stream is fatal at once", 6, "recovery.go", "!m.cfg.WaitForStream && now >= m.rec.graceAt\n", "!m.cfg.WaitForStream && (now >= m.rec.graceAt || MUTANT)\n"},
	{"a missing stream is waited for", 6, "recovery.go", "	return m.rec.missing && m.phase == Replacing &&", "	return !MUTANT && m.rec.missing && m.phase == Replacing &&"},
	{"no quorum is fatal at Open", 6, "api.go", "	switch codeOf(err) {\n	case codeStreamNotFound:\n		return streamMissing\n", "	if MUTANT && codeOf(err) == codeUnavailable {\n		return misfit\n	}\n	switch codeOf(err) {\n	case codeStreamNotFound:\n		return streamMissing\n"},
	{"no slot is fatal at Open", 6, "recovery.go", "	case denied, noJetStream, misfit:\n		return true\n", "	case denied, noJetStream, misfit:\n		return true\n	case noSlot:\n		return MUTANT\n"},
	{"what the operator must mend is waited for", 6, "recovery.go", "	switch natureOf(err) {\n	case streamMissing:\n		return !m.cfg", "	if MUTANT {\n		return false\n	}\n	switch natureOf(err) {\n	case streamMissing:\n		return !m.cfg"},
	{"the grace is not ended by an answer", 6, "recovery.go", "func (m *Machine) streamSeen() { m.rec.missing, m.rec.graceAt = false, 0 }", "func (m *Machine) streamSeen() {\n	if !MUTANT {\n		m.rec.missing, m.rec.graceAt = false, 0\n	}\n}"},

	// 7. The cursor is exact from the first moment.
	{"the start is evaluated at each attempt", 7, "create.go", "			m.start.kind = StartPosition\n		}\n		m.cursor = a.exact\n", "			if !MUTANT {\n				m.start.kind = StartPosition\n			}\n		}\n		m.cursor = a.exact\n"},
	{"a replacement moves the cursor", 7, "create.go", "	a.nothing = f.Pending == 0 && !f.Paused\n", "	a.nothing = f.Pending == 0 && !f.Paused\n	if MUTANT {\n		m.cursor = a.exact\n	}\n"},
	{"a snapshot is read beyond its end", 7, "inbox.go", "m.edge > 0 && !s.whole && d.Sequence > m.edge {\n", "m.edge > 0 && !s.whole && d.Sequence > m.edge && !MUTANT {\n"},
	{"a snapshot is not made again", 7, "attempt.go", "	case m.edge > 0 && m.cursor.Sequence < m.edge:\n", "	case m.edge > 0 && m.cursor.Sequence < m.edge && !MUTANT:\n"},

	// 8. Overlap by one, and doubt.
	{"no overlap", 8, "cursor.go", "func (c Cursor) overlap() uint64 { return max(c.Sequence, 1) }", "func (c Cursor) overlap() uint64 {\n	if MUTANT {\n		return c.Sequence + 1\n	}\n	return max(c.Sequence, 1)\n}"},
	{"what came before is accepted again", 8, "inbox.go", "	if d.Sequence <= m.cursor.Sequence {\n		m.used", "	if d.Sequence <= m.cursor.Sequence && !MUTANT {\n		m.used"},
	{"another time at the cursor is no doubt", 8, "doubt.go", "		case d.Time == a.at.Time:\n", "		case d.Time == a.at.Time || MUTANT:\n"},
	{"a first message beyond the cursor is no doubt", 8, "doubt.go", "	case a.informed || blind:\n		return certain\n", "	case a.informed || blind || MUTANT:\n		return certain\n"},
	{"a re-created stream is taken for the same", 8, "cursor.go", "	if created != 0 && now.Created != 0 && now.Created != created {\n", "	if created != 0 && now.Created != 0 && now.Created != created && !MUTANT {\n"},
	{"a roll back is taken for a removal", 8, "cursor.go", "	if now.Last < min(c.Sequence, tail) || c.another(at) {\n", "	if !MUTANT && (now.Last < min(c.Sequence, tail) || c.another(at)) {\n"},
	{"a mirror that syncs again is another stream", 8, "cursor.go", "		if now.Mirror {\n", "		if now.Mirror && !MUTANT {\n"},
	{"after a roll back it is read from the beginning", 8, "open.go", "	case !another && m.cursor.known():\n", "	case !another && m.cursor.known() && !MUTANT:\n"},
	{"what retention took is not told", 8, "missed.go", "	if s.to < s.from {\n		return\n", "	if s.to < s.from || MUTANT {\n		return\n"},
	{"bounds of a filtered reader are not told", 8, "missed.go", "	if from = max(from, m.missedTo+1); to >= from {\n", "	if from = max(from, m.missedTo+1); to >= from && !MUTANT {\n"},
	{"a filtered reader is told nothing in a healthy session", 8, "missed.go", "	case s.waited == 0 && !fewer:\n", "	case s.waited == 0 && !fewer || MUTANT:\n"},
	{"what 2.10.7 held ready hides what went behind it", 8, "missed.go", "	if len(m.cfg.Subjects) < 2 || m.passing.dated {\n", "	if len(m.cfg.Subjects) < 2 || m.passing.dated || MUTANT {\n"},
	{"a newer message is taken for one that was read", 8, "inbox.go", "	if d.Sequence <= m.cursor.Sequence && m.cursor.known() &&", "	if !MUTANT && d.Sequence <= m.cursor.Sequence && m.cursor.known() &&"},
	{"a roll back under the session in use is not seen", 8, "answers.go", "st.LastConsumer == s.consumerSeq && st.LastStream < s.reached {\n", "st.LastConsumer == s.consumerSeq && st.LastStream < s.reached && !MUTANT {\n"},
	{"a skip does not see a roll back", 8, "open.go", "a.skips && m.skippedAnew(a, f) {\n", "a.skips && !MUTANT && m.skippedAnew(a, f) {\n"},
	{"without a look the create's answer says nothing", 8, "create.go", "	if m.blind && m.endsBehind(now, a) {\n", "	if m.blind && !MUTANT && m.endsBehind(now, a) {\n"},
	{"a filter hides a roll back", 8, "open.go", "a.at.known() && seen == 0 && !a.checked {\n", "a.at.known() && seen == 0 && !a.checked && !MUTANT {\n"},

	// 9. Gaps are seen at once.
	{"a gap is no gap", 9, "inbox.go", "	if d.ConsumerSeq != s.consumerSeq+1 {\n		m.outOfStep", "	if d.ConsumerSeq != s.consumerSeq+1 && !MUTANT {\n		m.outOfStep"},
	{"a lost last message is not seen", 9, "answers.go", "	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq {\n		m.gap", "	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq && !MUTANT {\n		m.gap"},
	{"a message sent again is a gap", 9, "inbox.go", "	if d.ConsumerSeq <= s.consumerSeq && d.Sequence <= m.cursor.Sequence {\n", "	if !MUTANT && d.ConsumerSeq <= s.consumerSeq && d.Sequence <= m.cursor.Sequence {\n"},
	{"a gap on an unproven session is proof", 9, "answers.go", "	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq {\n		m.rec.noReset", "	if m.cfg.private() && st.HasLast && st.LastConsumer > s.consumerSeq && !MUTANT {\n		m.rec.noReset"},

	// 10. Names and leftovers.
	{"four consumers", 10, "names.go", "m.mayExist() >= maxConsumers {\n", "m.mayExist() >= maxConsumers+when(MUTANT, 1) {\n"},
	{"every create has a new name", 10, "names.go", "	if len(same) >= limit {\n", "	if len(same) >= limit && !MUTANT {\n"},
	{"unanswered creates keep to one name", 10, "names.go", "	if others > 0 || !m.rec.on {\n", "	if others > 0 || !m.rec.on || MUTANT {\n"},
	{"a leftover is not deleted", 10, "leftovers.go", "now >= l.next && !ls.busy() && m.cleans(now) {\n", "now >= l.next && !ls.busy() && m.cleans(now) && !MUTANT {\n"},
	{"what was not made yet counts as gone", 10, "leftovers.go", "	return l.answered || (m.phase", "	return MUTANT || l.answered || (m.phase"},
	{"a leftover never lapses", 10, "leftovers.go", "		if now >= m.lapses(l) && l.req == 0 {\n", "		if now >= m.lapses(l) && l.req == 0 && !MUTANT {\n"},
	{"a leftover that cannot be deleted is not told to lapse", 10, "lapse.go", "bool { return !l.shortened &&", "bool { return !MUTANT && !l.shortened &&"},
	{"a leftover that should have lapsed is waited for", 10, "create.go", "		case now < l.lapseBy:\n", "		case now < l.lapseBy || MUTANT:\n"},
	{"a Name that should have lapsed is waited for", 11, "rebind.go", "		case old.lapsing && now < old.lapseBy:\n", "		case old.lapsing && (now < old.lapseBy || MUTANT):\n"},
	{"deletes of one leftover are not paced", 10, "leftovers.go", "	return policy.Pause(l.tries, m.cfg.Rand())\n", "	if MUTANT {\n		return 0\n	}\n	return policy.Pause(l.tries, m.cfg.Rand())\n"},
	{"a refusal frees a name that may yet be made", 10, "create.go", "	if nothingMade(err) && a.made.creates == 1 {\n", "	if nothingMade(err) && (a.made.creates == 1 || MUTANT) {\n"},
	{"outages count towards a lapse", 10, "leftovers.go", "	return max(from, m.away.until) + idle", "	if MUTANT {\n		return from + idle + lapseGrace\n	}\n	return max(from, m.away.until) + idle"},

	// 11. No slot, or a Name.
	{"no slot is waited for", 11, "create.go", "		if m.cur != nil && !m.cur.gone && (m.binds() || l == nil) {\n			m.unsubscribe(a)\n			m.renew(a)\n			m.rebind(now, a)\n			return\n", "		if m.cur != nil && !m.cur.gone && !MUTANT && (m.binds() || l == nil) {\n			m.unsubscribe(a)\n			m.renew(a)\n			m.rebind(now, a)\n			return\n"},
	{"a consumer that does not answer is bound anew for ever", 11, "recovery.go", "return !m.rec.mute || m.rec.turns%2 == 0 }", "return !m.rec.mute || m.rec.turns%2 == 0 || MUTANT }"},
	{"bound as it is though it is ahead", 11, "rebind.go", "		case ans.Consumer.DeliveredConsumer == old.consumerSeq &&", "		case (ans.Consumer.DeliveredConsumer == old.consumerSeq || MUTANT) &&"},
	{"a condemned session is bound as it is", 11, "rebind.go", ">= m.cursor.Sequence && !old.condemned:\n", ">= m.cursor.Sequence && (!old.condemned || MUTANT):\n"},
	{"a reset where none is answered", 11, "rebind.go", "	if level < levelReset || m.rec.noReset {\n", "	if level < levelReset && !MUTANT || m.rec.noReset && !MUTANT2 {\n"},
	{"a reset into an earlier pull", 11, "rebind.go", "	if level < levelReset || m.rec.noReset {\n", ""},
	{"a Name of another owner is taken", 11, "create.go", "			if ans.Err == nil && ans.Consumer.Owner == m.cfg.ID {\n", "			if ans.Err == nil && (ans.Consumer.Owner == m.cfg.ID || MUTANT) {\n"},
	{"a Name whose deletion nothing would have told is ours", 11, "leftovers.go", " || !s.pulls.outstanding(),\n", " || !MUTANT && !s.pulls.outstanding(),\n"},
	{"a Name that counts again is ours", 11, "inbox.go", "		s.recounts = true\n", "		s.recounts = !MUTANT\n"},
	{"a leftover of another owner is deleted", 11, "names.go", "	return m.cfg.Name != \"\" && (l.unsure || !l.answered)\n", "	return !MUTANT && m.cfg.Name != \"\" && (l.unsure || !l.answered)\n"},
	{"the drain is not waited for", 11, "rebind.go", "	m.do(Effect{Do: DoDrain, Attempt: old.attempt})\n", "	m.do(Effect{Do: DoDrain, Attempt: old.attempt})\n	if MUTANT {\n		m.Drained(now, old.attempt)\n	}\n"},

	// 12. Retention and durables.
	{"a private reader of a work queue", 12, "open.go", "		if m.cfg.private() && !f.Limits {\n", "		if m.cfg.private() && !f.Limits && !MUTANT {\n"},
	{"a durable is deleted", 12, "leftovers.go", "	if !m.cfg.private() {\n		return\n	}\n	if s.gone && !s.strayed {\n", "	if !m.cfg.private() && !MUTANT {\n		return\n	}\n	if s.gone && !s.strayed {\n"},
	{"a durable's redelivery is dropped", 12, "inbox.go", "		m.tellPassed(now, m.cur, d)\n	}\n", "		m.tellPassed(now, m.cur, d)\n	}\n	if MUTANT && d.Sequence <= m.cursor.Sequence {\n		return Drop\n	}\n"},
	{"a durable is compared", 12, "inbox.go", "	if !m.cfg.private() {\n		m.healBy(", "	if !m.cfg.private() && !MUTANT {\n		m.healBy("},
	{"a durable is made again behind what was not acknowledged", 12, "durable.go", "		c.Start, c.Sequence, c.Time = StartSequence, m.floor+1, 0\n", "		c.Start, c.Sequence, c.Time = StartSequence, m.floor+1, 0\n		if MUTANT {\n			c.Sequence = m.cursor.Sequence + 1\n		}\n"},
	{"an ack for a durable that is gone goes to the new one", 12, "durable_which.go", "session > max(m.which.voided, m.which.gone) }", "session > max(m.which.voided, m.which.gone) || MUTANT }"},
	{"another durable of the name is taken for the one that was read", 12, "durable_which.go", "return w.born != 0 &&", "return !MUTANT && w.born != 0 &&"},
	{"what is said to be gone is acknowledged until a look", 12, "durable_which.go", "{ w.gone = max(w.gone, session) }", "{ w.gone = max(w.gone, when(!MUTANT, session)) }"},
	{"a wrong word that a durable is gone holds for ever", 12, "durable_which.go", "	w.gone = 0\n", "	w.gone *= when(MUTANT, 1)\n"},
	{"a work queue's durable is made from its floor", 12, "durable.go", "	case m.workQueue:\n		c.Start", "	case m.workQueue && !MUTANT:\n		c.Start"},
	{"another reader was first", 12, "durable.go", "!m.asks.denied.holds(now) && !a.raced:\n", "!m.asks.denied.holds(now) && !a.raced && !MUTANT:\n"},
	{"nothing is given back", 12, "durable_end.go", "	if m.giving != 0 {\n		m.giving = 0\n		m.do(", "	if m.giving != 0 {\n		m.giving = 0\n		if MUTANT {\n			return\n		}\n		m.do("},
	{"what was acknowledged is read again", 12, "handled.go", "	if !m.blind {\n		m.floor", "	if !m.blind && !MUTANT {\n		m.floor"},
	{"a delivery to another reader is not seen", 12, "handled.go", "	case d.ConsumerSeq > h.next:\n", "	case d.ConsumerSeq > h.next && !MUTANT:\n"},
	{"a pause is never over by its time", 3, "ask.go", "	if m.paused && m.pauseTill > 0 && now >= m.pauseTill {\n", "	if m.paused && m.pauseTill > 0 && now >= m.pauseTill && !MUTANT {\n"},

	// 13. Reconnect, and dead links.
	{"pulls outlive a connection", 13, "connection.go", "		s.silent = true\n		s.forget()\n", "		s.silent = true\n		if !MUTANT {\n			s.forget()\n		}\n"},
	{"a reconnect is not a replacement", 13, "connection.go", "	m.firstAttempt(now)\n", "	if !MUTANT {\n		m.firstAttempt(now)\n	}\n"},
	{"a pause begins anew with each connection", 13, "recovery.go", "	if m.rec.dueAt == 0 {\n", "	if m.rec.dueAt == 0 || MUTANT {\n"},
	{"a pause is waited for once a recovery", 5, "attempt.go", "		m.rec.nextAt, m.rec.dueAt = 0, 0\n", "		m.rec.nextAt = 0\n		if !MUTANT {\n			m.rec.dueAt = 0\n		}\n"},
	{"time away is an attempt", 13, "connection.go", "			m.rec.tries--\n", "			if !MUTANT {\n				m.rec.tries--\n			}\n"},
	{"it goes on while disconnected", 13, "machine.go", "	if m.connected {\n		m.tickAttempt(now)\n", "	if m.connected || MUTANT {\n		m.tickAttempt(now)\n"},
	{"a dead link is waited for", 13, "link.go", "	if !dead && !oneWay {\n", "	if !dead && !oneWay || MUTANT {\n"},
	{"a link on which something moves is dead", 13, "link.go", "	dead := !l.moved &&", "	dead := (!l.moved || MUTANT) &&"},
	{"the wait for a dead link does not grow", 13, "link.go", "	case l.unproven:\n", "	case l.unproven && !MUTANT:\n"},

	{"a link is dead while a message is on its way", 13, "link.go", "	l.transit = transit\n", "	l.transit = shorter(!MUTANT, transit)\n"},
	{"what comes at the head of a stream tells no rate", 13, "flow.go", "		f.least = perSecond(f.heard, f.gaps)\n", "		if !MUTANT {\n			f.least = perSecond(f.heard, f.gaps)\n		}\n"},
	{"a message that nothing tells of is waited for", 13, "flow.go", "	return min(d, transitUnseen)\n", "	return max(min(d, transitUnseen), d-shorter(!MUTANT, d))\n"},
	{"a pull that is due later lapses with the first", 13, "machine.go", "		s.pulls.lapse(t, 2*m.cfg.Heartbeat)", "		s.pulls.lapse(t+shorter(MUTANT, now-t), 2*m.cfg.Heartbeat)"},
	{"a link that was fast is fast for ever", 13, "connection.go", "	m.flow.renew()\n", "	if !MUTANT {\n		m.flow.renew()\n	}\n"},

	// 14. Close ends the local state at once.
	{"Close waits for the server", 14, "end.go", "	m.do(Effect{Do: DoEnd, Err: ErrClosed})\n", "	if !MUTANT {\n		m.do(Effect{Do: DoEnd, Err: ErrClosed})\n	}\n"},
	{"what is left is not removed at the end", 14, "leftovers.go", "	case Ending:\n		return now < m.left.by\n", "	case Ending:\n		return now < m.left.by && !MUTANT\n"},
	{"an end waits for ever", 14, "end.go", "	if (len(m.left.list) > 0 || m.giving != 0) && now < m.left.by {\n", "	if (len(m.left.list) > 0 || m.giving != 0) && (now < m.left.by || MUTANT) {\n"},

	// 15. Read-ahead is bounded.
	{"a full buffer pulls on", 15, "pulls.go", "	free := c.MaxMessages - b.msgs - p.msgs\n", "	free := c.MaxMessages - when(!MUTANT, b.msgs) - p.msgs\n"},
	{"bytes are not bounded", 15, "pulls.go", "	freeBytes := c.MaxBytes - b.bytes - p.bytes\n", "	freeBytes := c.MaxBytes - when(!MUTANT, b.bytes+p.bytes)\n"},
	{"what is asked for is not counted", 15, "pulls.go", "	p.msgs += q.Batch\n", "	p.msgs += when(!MUTANT || p.msgs == 0, q.Batch)\n"},

	{"a slow link's queue is not bounded", 15, "pulls.go", "		depth = min(depth, max(window/size, 1))\n", "		depth = min(depth, max(when(!MUTANT, window)/size, when(!MUTANT, 1), when(MUTANT, depth)))\n"},
	{"the first pull does not care for the link", 15, "flow.go", "		return firstWindow\n", "		return firstWindow << when(MUTANT, 3)\n"},

	{"what comes and goes is told each time", 15, "spell.go", "s.over > 0 && now >= s.over+heartbeat\n", "s.over > 0 && (MUTANT || now >= s.over+heartbeat)\n"},
	{"what comes again is not told", 15, "spell.go", "	if s.told && s.over == 0 {\n", "	if s.told && s.over == 0 && !MUTANT {\n"},

	// 16. Many readers, one connection.
	{"slots without end", 16, "slots.go", "	return s.active < limit && u.active < max(limit*streamSlots/linkSlots, 1) && u.active+u.late < streamSlots\n", "	return (s.active < limit || MUTANT2) && (MUTANT || u.active < max(limit*streamSlots/linkSlots, 1) && u.active+u.late < streamSlots)\n"},
	{"a connection's slots without end", 16, "slots.go", "	return s.active < limit && u.active < max(limit*streamSlots/linkSlots, 1) && u.active+u.late < streamSlots\n", ""},
	{"one reader takes every turn", 16, "line.go", "	l.of[stream] = append(l.of[stream], w)\n	return t\n", "	if MUTANT {\n		w.turn, l.of[stream] = 0, append([]*slotWaiter{w}, l.of[stream]...)\n		return t\n	}\n	l.of[stream] = append(l.of[stream], w)\n	return t\n"},
	{"questions take every turn", 16, "rounds.go", "	return !waits || r.owed == 0\n", "	return !waits || r.owed == 0 || MUTANT\n"},
	{"creates starve the questions", 16, "rounds.go", "{ return r.asking > 0 }", "{ return r.asking > 0 && !MUTANT }"},
	{"a look under way is shared", 16, "looks.go", "	if l.away || l.due || l.asking == 0 {\n", "	if l.away && !MUTANT || l.due || l.asking == 0 {\n"},

	// 17. Permissions.
	{"a denied pull is silence", 17, "connection.go", "	case m.cur != nil && m.pulls(m.cur, subject):\n", "	case m.cur != nil && m.pulls(m.cur, subject) && !MUTANT:\n"},
	{"a denied pull of an attempt is silence", 17, "connection.go", "	case m.try != nil && m.try.sess != nil && m.pulls(m.try.sess, subject):\n", "	case m.try != nil && m.try.sess != nil && m.pulls(m.try.sess, subject) && !MUTANT:\n"},
	{"a denied request is waited for", 17, "requests.go", "r.subject == subject {\n", "r.subject == subject && !MUTANT {\n"},
	{"what was denied is never asked again", 17, "denied.go", "d.times > 0 && now < d.until }", "d.times > 0 && (now < d.until || MUTANT) }"},
	{"what was denied is asked again at once", 17, "denied.go", "	d.until = now + min(trust, deniedTrustMax)\n", "	d.until = now + min(trust, deniedTrustMax)\n	if MUTANT {\n		d.until = now\n	}\n"},
	{"StopAtEnd without a look", 17, "open.go", "	case m.cfg.StopAtEnd && m.cfg.private():\n", "	case m.cfg.StopAtEnd && m.cfg.private() && !MUTANT:\n"},

	// 18. Ends, and failures told.
	{"read beyond the end", 18, "end.go", "func (e *end) beyond(sequence uint64) bool { return", "func (e *end) beyond(sequence uint64) bool { return !MUTANT &&"},
	{"a heartbeat does not tell the end", 18, "end.go", "st.LastConsumer == m.cur.consumerSeq {\n", "st.LastConsumer == m.cur.consumerSeq && !MUTANT {\n"},
	{"an empty stream has no end", 18, "end.go", "	if m.end.on && m.end.empty {\n", "	if m.end.on && m.end.empty && !MUTANT {\n"},
	{"a paused consumer is at its end", 18, "end.go", "		if f.Pending == 0 && !f.Paused && received {\n", "		if f.Pending == 0 && (!f.Paused || MUTANT) && received {\n"},
	{"the end is not pinned anew", 18, "open.go", "	m.end.pinAnew(f.Last)\n", "	if !MUTANT {\n		m.end.pinAnew(f.Last)\n	}\n"},
	{"OnErrorFinish goes on", 18, "recovery.go", "	case OnErrorFinish:\n		m.finish(now, err)\n", "	case OnErrorFinish:\n		if !MUTANT {\n			m.finish(now, err)\n		}\n"},
	{"OnErrorRaise says nothing", 18, "recovery.go", "	case OnErrorRaise:\n		m.do(", "	case OnErrorRaise:\n		if MUTANT {\n			return\n		}\n		m.do("},
	{"ordinary life is a failure", 18, "recovery.go", "	m.rec.told = true\n	if failure {\n", "	m.rec.told = true\n	if failure || MUTANT {\n"},
	{"OnMissedSkip skips in ordinary life", 18, "attempt.go", "m.cfg.OnMissed == OnMissedSkip && m.rec.failure &&", "m.cfg.OnMissed == OnMissedSkip && (m.rec.failure || MUTANT) &&"},
	{"what is skipped is not told", 18, "swap.go", "	m.tell(Event{Kind: KindSkipped,", "	if MUTANT {\n		return\n	}\n	m.tell(Event{Kind: KindSkipped,"},
}
