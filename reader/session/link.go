package session

import "time"

// How a dead link is told (rule 13).
const (
	deadWait     = 2 * time.Second  // W: an unanswered PING with nothing arriving
	deadWaitMax  = 60 * time.Second // W's bound, and that of a PING whatever arrives
	deadFallBack = 10 * time.Minute // without a force, W falls back to its first value
)

// Link is the rules of what all readers of one connection share: slots for API
// requests (rule 16) and the verdict that the link is dead (rule 13). Like
// Machine it holds no clock and no connection; it is not safe for concurrent use.
// The zero value is a connection with no request in flight and no suspicion.
//
// Invariants: at most linkSlots requests are waited for, and of one stream at most
// streamSlots may be in flight; nothing that changes something is sent while a
// question gates; a ticket waits only while no slot is free for it, or for its round;
// at most one suspicion is open, and none between a force and the reconnect that
// follows it.
type Link struct {
	slots
	looks

	suspected bool          // a PING is unanswered
	pingAt    time.Duration // when it was sent
	quietAt   time.Duration // nothing arrived since then, as far as known
	bytes     uint64        // what had arrived by then
	moved     bool          // something arrived since: one of the two ways works

	forcing  bool          // from a force to its reconnect
	forced   bool          // there was a force ever
	forcedAt time.Duration // the last one
	unproven bool          // no proof followed the last one
	wait     time.Duration // W; 0 is deadWait
	transit  time.Duration // how long one message may be on its way, beyond W
}

// Suspect notes that a session fell silent while bytesIn bytes had arrived on the
// connection in all. ping asks for a PING whose answer is told by Pong; while one
// is unanswered there is no second. Arrived are whole messages only: one of them may be
// on its way for transit.
func (l *Link) Suspect(now time.Duration, bytesIn uint64, transit time.Duration) (ping bool) {
	if l.forcing {
		return false
	}
	if l.suspected {
		l.transit = max(l.transit, transit)
		if l.moved || bytesIn != l.bytes {
			// This silence began later than the one that sent the PING.
			l.quietAt, l.bytes, l.moved = now, bytesIn, false
		}
		return false
	}
	l.renewWait(now)
	l.suspected, l.pingAt, l.quietAt, l.bytes, l.moved = true, now, now, bytesIn, false
	l.transit = transit
	return true
}

// renewWait gives the next suspicion its W: twice the last one if the force that
// ended it was not followed by a proof, the first value after a quiet time.
func (l *Link) renewWait(now time.Duration) {
	switch {
	case l.wait == 0, l.forced && now-l.forcedAt >= deadFallBack:
		l.wait = deadWait
	case l.unproven:
		l.wait = min(2*l.wait, deadWaitMax)
	}
	l.unproven = false
}

// Pong notes that the PING was answered: the link lives.
func (l *Link) Pong(time.Duration) { l.suspected = false }

// Proven notes that a session of some reader was proven or healed: its pull went
// out and the answer came in.
func (l *Link) Proven(time.Duration) { l.suspected, l.unproven = false, false }

// Disconnected notes that the connection is known to be down: until it is back there
// is no link to suspect, and nothing gets its turn. The client library would keep it
// and send all at once.
func (l *Link) Disconnected(time.Duration) { l.suspected, l.away = false, true }

// Reconnected notes that the connection is back; how fast its server answers is to be
// learned anew. It tells which tickets are granted by that.
func (l *Link) Reconnected(now time.Duration) (granted []uint64) {
	l.suspected, l.forcing, l.away, l.window = false, false, false, window{}
	return l.serve(now)
}

// Wake gives the time at which Tick has something to decide.
func (l *Link) Wake() (time.Duration, bool) {
	switch {
	case !l.suspected:
		return 0, false
	case l.moved:
		return l.pingAt + deadWaitMax, true
	}
	return min(l.quietAt+l.wait+l.transit, l.pingAt+deadWaitMax), true
}

// Tick decides whether the connection is to be made anew. After a force nothing
// is suspected until Reconnected.
func (l *Link) Tick(now time.Duration, bytesIn uint64) (force bool) {
	if !l.suspected {
		return false
	}
	l.moved = l.moved || bytesIn != l.bytes
	dead := !l.moved && now >= l.quietAt+l.wait+l.transit
	oneWay := now >= l.pingAt+deadWaitMax
	if !dead && !oneWay {
		return false
	}
	l.suspected, l.forcing = false, true
	l.forced, l.forcedAt, l.unproven = true, now, true
	return true
}
