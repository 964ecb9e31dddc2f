package doctor

import (
	"fmt"
	"strconv"
	"time"
)

// acks: the consumer may hand out nothing more; why acks do not come is told apart
// by what the looks have in common.
func acks(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if len(c.Samples) == 0 || c.paused() {
			continue
		}
		if f, passed := c.passedAckLimit(); passed {
			found = append(found, f)
			continue
		}
		if !c.watched() || !c.every(c.full) {
			continue
		}
		found = append(found, s.stuck(c))
	}
	return found
}

func (s *subject) stuck(c *Consumer) Finding {
	first, last := c.first(), c.last()
	since, _ := c.sinceDelivery()
	over := since > c.ackWait()+time.Second
	redelivers := last.Delivered.Consumer > first.Delivered.Consumer && last.Delivered.Stream == first.Delivered.Stream
	acked := last.AckFloor.Stream > first.AckFloor.Stream || last.Delivered.Stream > first.Delivered.Stream
	pulled := c.push() && last.PushBound || c.some(func(at Sample) bool { return at.Waiting > 0 })
	nacked := s.advised(c, "nak")
	facts := figures("num_ack_pending", last.AckPending, "max_ack_pending", c.Config.MaxAckPending, "num_pending", last.Pending, "ack_wait", c.ackWait(),
		"last_delivery", age(since)+" ago", "num_waiting", last.Waiting, "num_redelivered", fmt.Sprintf("%d to %d", first.Redelivered, last.Redelivered),
		"ack_floor", fmt.Sprintf("stream sequence %d to %d", first.AckFloor.Stream, last.AckFloor.Stream))
	var cause, text string
	severity := Warning
	var steps []string
	switch {
	case acked:
		cause, text = "slow_handler", "acks come, more slowly than messages"
		steps = []string{"start more readers of it, or make the handler faster", "raise max_ack_pending where handlers work side by side: $ nats consumer edit " + word(c.Stream) + " " + word(c.Name) + " --max-pending N"}
	case redelivers:
		cause, text, severity = "acks_denied", "the same messages are sent again and again, and no ack arrives", Critical
		steps = []string{
			"look at the reader's permission to publish to $JS.ACK." + c.Stream + "." + c.Name + ".>; with the reader's credentials: $ nats-reader doctor " + word(c.Stream),
			"look whether its handler takes longer than ack_wait, or ends without an ack",
		}
	case nacked || over && pulled:
		cause, text = "naks_with_delay", "nothing is sent again though ack_wait is over and a reader waits: they were refused with a delay (Nak with delay), or their handlers say that they go on (InProgress)"
		steps = []string{"look in the reader's log for why it refuses messages", "have it delay less, or raise max_ack_pending: $ nats consumer edit " + word(c.Stream) + " " + word(c.Name) + " --max-pending N"}
	case over:
		cause, text, severity = "owner_dead", "nobody acknowledges and nobody pulls: who took the messages is gone", Critical
		steps = []string{"start the reader again: its first pull is given all of them once more, nothing is lost", "give it a shorter ack_wait, and have it nak what it holds when it stops"}
	default:
		cause = "slow_handler"
		text = fmt.Sprintf("who took them has %s left before they are sent again", age(max(c.ackWait()-since, 0)))
		steps = []string{"wait for that, and look again: " + doctorCommand(c, ""), "look whether the process that took them runs"}
	}
	facts = append(facts, s.makerFigures(c)...)
	f := on(c, severity, fmt.Sprintf("%d of %d messages are out unacknowledged: %s", last.AckPending, c.Config.MaxAckPending, text), facts, append(steps, infoCommand(c))...)
	f.Cause = cause
	return f
}

// advised says whether an advisory of a kind told of the consumer.
func (s *subject) advised(c *Consumer, kind string) bool {
	for _, a := range s.Advisories {
		if a.Kind == kind && a.Stream == c.Stream && a.Consumer == c.Name {
			return true
		}
	}
	return false
}

// monitorNumber reads a limit of the consumer's own metadata, as natscli's checks do.
func (c *Consumer) monitorNumber(key string) (uint64, bool) {
	n, err := strconv.ParseUint(c.Config.Metadata[key], 10, 64)
	return n, err == nil
}

func (c *Consumer) monitorTime(key string) (time.Duration, bool) {
	d, err := time.ParseDuration(c.Config.Metadata[key])
	return d, err == nil && d > 0
}

// passedAckLimit: the consumer's own limits on what is out, and what was sent again.
func (c *Consumer) passedAckLimit() (Finding, bool) {
	for _, l := range []struct {
		key, what string
		n         int
	}{
		{"io.nats.monitor.outstanding-ack-critical", "messages are out unacknowledged", c.last().AckPending},
		{"io.nats.monitor.redelivery-critical", "messages were sent again", c.last().Redelivered},
	} {
		if limit, set := c.monitorNumber(l.key); set && limit > 0 && uint64(l.n) > limit {
			return on(c, Critical, fmt.Sprintf("%d %s, above the %d that its metadata allows", l.n, l.what, limit), figures(l.what, l.n, l.key, limit), infoCommand(c)), true
		}
	}
	return Finding{}, false
}

// passedLimit: the consumer's own limits on what waits, and on how long ago it
// delivered and was acknowledged while something waits.
func (c *Consumer) passedLimit() (Finding, bool) {
	const unprocessed, delivery, ack = "io.nats.monitor.unprocessed-critical", "io.nats.monitor.last-delivery-critical", "io.nats.monitor.last-ack-critical"
	last := c.last()
	if limit, set := c.monitorNumber(unprocessed); set && limit > 0 && last.Pending > limit {
		return on(c, Critical, fmt.Sprintf("%d messages wait, above the %d that its metadata allows", last.Pending, limit), figures("num_pending", last.Pending, unprocessed, limit), infoCommand(c)), true
	}
	for _, l := range []struct {
		key, what string
		at        *time.Time
		due       bool
	}{
		{delivery, "delivery", last.Delivered.Active, last.Pending > 0},
		{ack, "ack", last.AckFloor.Active, last.AckPending > 0},
	} {
		limit, set := c.monitorTime(l.key)
		if !set || !l.due {
			continue
		}
		since := c.last().Time.Sub(c.Created)
		if l.at != nil {
			since = last.Time.Sub(*l.at)
		}
		if since > limit {
			return on(c, Critical, fmt.Sprintf("the last %s is %s ago, more than the %s that its metadata allows", l.what, age(since), limit), figures("last_"+l.what, age(since)+" ago", l.key, limit), infoCommand(c)), true
		}
	}
	return Finding{}, false
}
