package session

import "time"

// Session is one consumer with one inbox subscription.
type Session struct {
	number   int // counted at the proof; 0 before
	attempt  int // names the inbox
	consumer string
	inbox    string // with its wildcard
	made     Create // what its consumer was made with

	created   time.Duration
	soundFrom time.Duration // its proof, or the last time it healed

	consumerSeq uint64 // last consumer sequence accounted for
	reached     uint64 // stream sequence of the last message accounted for
	at          Cursor // the cursor it started at, where it overlaps
	count       count  // what waits, as the consumer told
	startSeq    uint64 // stream sequence it was asked to start at
	snapshot    bool   // last per subject: stream sequences jump by design
	whole       bool   // its own snapshot fixed where snapshots end: it is read whole, and on in order

	lastAnswer  time.Duration // 0: none yet
	lastMessage time.Duration // 0: none yet
	pulls       pulls

	silent    bool          // an outstanding pull and no answer for two heartbeats; it can heal
	condemned bool          // ended by a gap, a refusal or a consumer that is gone; it never heals
	recounts  bool          // its consumer sent again what came: it was set back, or is another one of that name
	rolled    bool          // its answers showed a stream that was rolled back
	deleted   bool          // a status said that its consumer was deleted: only the API's word is certain
	gone      bool          // its consumer is known not to exist
	strayed   bool          // since its stream does not, which may come back with it: JetStream that is switched on again, or a node
	lapsing   bool          // its consumer could not be deleted, and was told to lapse
	lapseBy   time.Duration // by then it should have
	unbound   bool          // its inbox is unsubscribed: nothing can heal it
	askedAt   time.Duration // the first pull after the last answer; 0 none
	owing     bool          // pulls were forgotten since the last answer that the server owed an answer to

	quietFrom time.Duration // first heartbeat since the last message; 0 none
	looked    bool          // the stall ask was spent; a message gives a new one
	healPull  time.Duration // when the last pull to heal by went out; 0 none
	healToken uint64        // its token
	dry       int           // pulls in a row that ended early and empty
	pauseTill time.Duration // no pull before that
	roomFor   int           // bytes that must be free before the next pull
	waited    int           // the next messages that tell what went while a full buffer held its pulls back
	alone     bool          // the next pull takes one message without a bound in bytes
	obeyed    bool          // a limit was obeyed and the next pull is its test
}

// answered notes that the server sent something to the session's inbox.
func (s *Session) answered(now time.Duration) { s.lastAnswer, s.askedAt, s.owing = now, 0, false }

// forget drops the pulls that are out: their answers can not come any more. What they
// were to bring is still owed, so a later pull is not the first one.
func (s *Session) forget() {
	s.owing = s.owing || s.pulls.outstanding()
	s.pulls.clear()
}

// beat notes a heartbeat.
func (s *Session) beat(now time.Duration) {
	if s.quietFrom == 0 {
		s.quietFrom = now
	}
}

// quietFor is how long nothing but heartbeats came, from the first of them: the
// probe's quick ones are not two of the reader's own.
func (s *Session) quietFor(now time.Duration) time.Duration { return now - s.quietFrom }

// deafSince is the later of the last answer and the first pull after it.
func (s *Session) deafSince() time.Duration { return max(s.lastAnswer, s.askedAt) }

// deafSince is since when the session in use is deaf, should it be. One whose buffer
// is full has no pull out, owes nothing and is not (rule 15).
func (m *Machine) deafSince(now time.Duration) time.Duration {
	s := m.cur
	if m.full && s.askedAt <= s.lastAnswer {
		return now
	}
	return s.deafSince()
}

// healthy is how long the session in use owed nothing: since its proof, or since it
// healed. One that heals and dies, for ever, is paced like any failure (rule 5).
func (m *Machine) healthy(now time.Duration) time.Duration {
	return max(m.deafSince(now)-m.cur.soundFrom, 0)
}

// sent notes a pull that went out.
func (s *Session) sent(now time.Duration, p Pull) Pull {
	first := !s.owing && !s.pulls.outstanding()
	p = s.pulls.send(now, p)
	if first && s.askedAt <= s.lastAnswer {
		s.askedAt = now
	}
	return p
}

// silentAt is when the session counts as silent; ok is false while no pull is out.
// Only an outstanding pull of ours owes an answer, so that a caller who reads
// slowly, or not at all, never makes a session look dead (rule 2).
func (s *Session) silentAt(heartbeat, connected time.Duration) (time.Duration, bool) {
	if s.silent || s.condemned || !s.pulls.outstanding() {
		return 0, false
	}
	return max(s.lastAnswer, s.pulls.since, connected) + 2*heartbeat, true
}
