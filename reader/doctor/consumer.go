package doctor

import (
	"time"
)

// ownerKey is the metadata of a consumer that a reader of nats-reader made.
const ownerKey = "nats-reader.owner"

// lateness is how much longer than its inactive threshold a server may keep a
// consumer that nobody pulls from: it adds 0.1 to 1 s, and a busy one is late.
const lateness = 1500 * time.Millisecond

func (c *Consumer) first() Sample { return c.Samples[0] }
func (c *Consumer) last() Sample  { return c.Samples[len(c.Samples)-1] }

// span is how long it was watched, by the server's clock.
func (c *Consumer) span() time.Duration { return c.last().Time.Sub(c.first().Time) }

func (c *Consumer) push() bool    { return c.Config.DeliverSubject != "" }
func (c *Consumer) durable() bool { return c.Config.Durable != "" }
func (c *Consumer) acked() bool   { return c.Config.AckPolicy != "" && c.Config.AckPolicy != "none" }
func (c *Consumer) owner() string { return c.Config.Metadata[ownerKey] }

// ours says that a reader of nats-reader made it for itself.
func (c *Consumer) ours() bool { return c.owner() != "" && !c.durable() }

// every says whether all samples have it.
func (c *Consumer) every(is func(Sample) bool) bool {
	for _, s := range c.Samples {
		if !is(s) {
			return false
		}
	}
	return true
}

// some says whether a sample has it.
func (c *Consumer) some(is func(Sample) bool) bool {
	return !c.every(func(s Sample) bool { return !is(s) })
}

// watched says whether it was looked at often enough, and is still there.
func (c *Consumer) watched() bool { return len(c.Samples) >= 3 && !c.Gone }

// moved says whether anything was delivered during the watch.
func (c *Consumer) moved() bool {
	return c.last().Delivered.Consumer != c.first().Delivered.Consumer || c.last().Delivered.Stream != c.first().Delivered.Stream
}

// still says that nobody waits for its messages, nothing is delivered and messages
// wait, in every look: what a deaf reader and an absent one have in common.
func (c *Consumer) still() bool {
	return c.watched() && !c.push() && !c.moved() && !c.paused() && !c.grouped() &&
		c.every(func(s Sample) bool { return s.Waiting == 0 && s.Pending > 0 && !c.full(s) })
}

func (c *Consumer) paused() bool { return c.some(func(s Sample) bool { return s.Paused }) }

// grouped says that pulls may be held back by the rules of priority groups.
func (c *Consumer) grouped() bool {
	return c.Config.PriorityPolicy != "" && c.Config.PriorityPolicy != "none"
}

// full says that it may hand out no more before acks come.
func (c *Consumer) full(s Sample) bool {
	return c.acked() && c.Config.MaxAckPending > 0 && s.AckPending >= c.Config.MaxAckPending
}

// active is the latest sign of life that its state holds: made, delivered, acked.
func (c *Consumer) active() time.Time {
	at := c.Created
	for _, t := range []*time.Time{c.last().Delivered.Active, c.last().AckFloor.Active} {
		if t != nil && t.After(at) {
			at = *t
		}
	}
	return at
}

// idle is how long ago that was, by the server's clock.
func (c *Consumer) idle() time.Duration { return max(c.last().Time.Sub(c.active()), 0) }

// sinceDelivery is how long ago it delivered, by the server's clock; false: never.
func (c *Consumer) sinceDelivery() (time.Duration, bool) {
	at := c.last().Delivered.Active
	if at == nil || at.IsZero() {
		return 0, false
	}
	return max(c.last().Time.Sub(*at), 0), true
}

// ackWait is the longest that a message may be out before it is sent again.
func (c *Consumer) ackWait() time.Duration {
	wait := c.Config.AckWait
	for _, b := range c.Config.BackOff {
		wait = max(wait, b)
	}
	return wait
}

// working says that messages are out and their ack wait runs: a handler may be at
// work on them.
func (c *Consumer) working() bool {
	since, ever := c.sinceDelivery()
	return c.acked() && c.last().AckPending > 0 && ever && since <= c.ackWait()
}

// outlived says that the consumer lived on for so long that pulls must have
// reached it: a server deletes one that nobody pulls from. Messages that are out
// extend its life on some versions; a new leader counts anew.
func (s *subject) outlived(c *Consumer) bool {
	t := c.Config.InactiveThreshold
	return t > 0 && !s.Reconnected && !c.LeaderChanged && c.span() > t+lateness &&
		c.every(func(at Sample) bool { return at.AckPending == 0 })
}

// heard gives the pulls for a consumer that were heard.
func (s *subject) heard(c *Consumer) []Pulls {
	return s.pulls[[2]string{c.Stream, c.Name}]
}

// age says a duration as a person would.
func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 2*time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
