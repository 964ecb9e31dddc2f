package doctor

import (
	"fmt"
	"slices"
	"time"
)

// noPuller is the same picture without the proof.
func noPuller(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		switch {
		case c.lapsed() && (s.Consumer == c.Name || c.Lapsed && !s.replaced(c)):
			f := on(c, Warning, fmt.Sprintf("%s, nobody pulled, and it is gone: it lapsed, or was deleted", waits(c)),
				figures("num_pending", c.last().Pending, "num_waiting", "0 in every look", "inactive_threshold", c.Config.InactiveThreshold, "last_seen", stamp(c.last().Time)),
				"look whether the process that reads it runs; a reader must make its consumer again", "see who deletes consumers: $ nats events --js-advisory")
			f.Cause = "lapsed"
			found = append(found, f)
		case !c.watched() || s.deaf[c]:
		case c.push():
			if c.every(func(at Sample) bool { return !at.PushBound && at.Pending > 0 && !at.Paused }) && !c.moved() {
				found = append(found, on(c, Warning, fmt.Sprintf("%s and nobody is subscribed to %s", waits(c), c.Config.DeliverSubject),
					figures("deliver_subject", c.Config.DeliverSubject, "num_pending", c.last().Pending, "push_bound", "false in every look", "idle", age(c.idle())),
					"start its subscriber, or delete the consumer if nobody needs it", infoCommand(c)))
			}
		case c.abandoned():
			found = append(found, s.abandonment(c))
		case c.still() && !c.working() && !s.alive(c) && !s.letGo(c):
			found = append(found, s.missingPuller(c))
		}
	}
	return found
}

// alive says that a reader of nats-reader holds the consumer's inbox, or may: it
// sends no pull while its caller does not take what it has buffered, and one that
// does lapses by itself.
func (s *subject) alive(c *Consumer) bool {
	return s.holders.holds(c) != nil || c.ours()
}

// listenStep is how pulls are heard, with its price.
func listenStep(c *Consumer) string {
	return "listen for pulls and their inbox, which hides 503 answers from clients for 3s: " + doctorCommand(c, " --listen")
}

// lapsed says that it disappeared while messages waited and nobody pulled.
func (c *Consumer) lapsed() bool {
	return c.Gone && len(c.Samples) > 0 && !c.push() && !c.moved() && c.every(func(at Sample) bool { return at.Waiting == 0 && at.Pending > 0 })
}

// replaced says that its reader reads on with another consumer: one that is named
// alike, or was made by the same process, is read from.
func (s *subject) replaced(c *Consumer) bool {
	mark := process(c.Name)
	return slices.ContainsFunc(s.Consumers, func(other Consumer) bool {
		return other.Stream == c.Stream && other.Name != c.Name && other.used() &&
			(stemOf(other.Name) == stemOf(c.Name) || c.owner() != "" && other.owner() == c.owner() || mark != "" && process(other.Name) == mark)
	})
}

// letGo says that a client of Go has ended its reading from a consumer that it
// named, and reads the stream with another one: its process is connected and holds no
// inbox that may be the consumer's. nats.go leaves an ordered
// consumer that was stopped to lapse. One whose handler hangs holds its inbox still.
func (s *subject) letGo(c *Consumer) bool {
	return c.owner() == "" && !c.durable() && c.Config.InactiveThreshold > 0 && !s.outlived(c) && len(s.heard(c)) == 0 && s.replaced(c) && s.dropped(c)
}

// longPause is the longest pause that a reader is believed to make between two
// polls: so long ago it took messages, and it may come back for more.
const longPause = 10 * time.Minute

func (s *subject) missingPuller(c *Consumer) Finding {
	facts := append(c.stillFigures(), s.makerFigures(c)...)
	t := c.Config.InactiveThreshold
	decide := "a pull that is heard decides between deaf and gone: --listen"
	switch {
	case t > 0 && t < time.Hour:
		decide = fmt.Sprintf("it is deaf if it outlives its inactive threshold of %s, and nobody pulls if it lapses", t)
		facts = append(facts, figures("inactive_threshold", t)...)
	case t > 0:
		facts = append(facts, figures("inactive_threshold", t)...)
	}
	steps := []string{"look whether the process that reads it runs, and whether its handler returns"}
	if t > 0 && t < time.Hour {
		steps = append(steps, "watch it for longer than its threshold: "+doctorCommand(c, fmt.Sprintf(" --for %s", (t+lateness+time.Second/2).Round(time.Second)+time.Second)))
	}
	if t == 0 {
		steps = append(steps, "if it polls at times, watch it for longer than one of its pauses: "+doctorCommand(c, " --for 60s"))
	}
	steps = append(steps,
		listenStep(c),
		"restart the reader; it reads on where the consumer stands",
		"if nobody needs the consumer any more, delete it: $ nats consumer rm "+word(c.Stream)+" "+word(c.Name),
	)
	state := "dead, stalled or deaf"
	if since, ever := c.sinceDelivery(); t == 0 && ever && since < longPause {
		state = "between two polls, dead, stalled or deaf"
	}
	text := fmt.Sprintf("%s and nobody pulls: its reader is %s; %s", waits(c), state, decide)
	return on(c, Warning, text, facts, steps...)
}

// abandoned says that messages were handed out, the time to acknowledge them is
// over, and nobody is there to be given them again. At the ack limit another check
// tells it.
func (c *Consumer) abandoned() bool {
	since, ever := c.sinceDelivery()
	return c.watched() && !c.push() && c.acked() && !c.moved() && !c.paused() && !c.grouped() && ever && c.ackWait() > 0 &&
		since > c.ackWait()+time.Second && c.last().AckFloor.Stream == c.first().AckFloor.Stream &&
		c.every(func(at Sample) bool { return at.Waiting == 0 && at.AckPending > 0 && !c.full(at) })
}

func (s *subject) abandonment(c *Consumer) Finding {
	since, _ := c.sinceDelivery()
	n := c.last().AckPending
	facts := append(figures("num_ack_pending", n, "ack_wait", c.ackWait(), "last_delivery", age(since)+" ago", "num_waiting", "0 in every look",
		"num_pending", c.last().Pending, "num_redelivered", c.last().Redelivered), s.makerFigures(c)...)
	f := on(c, Warning, fmt.Sprintf("abandoned deliveries: %s handed out, neither acknowledged nor asked for again", plural(n, "message")), facts,
		"restart the reader: the next pull is given all of them again, nothing is lost",
		infoCommand(c),
		"if it has a handler that works longer than ack_wait and tells so (InProgress), this is no fault",
	)
	f.Cause = "abandoned"
	if s.holders.holds(c) != nil {
		f.Severity = Info // a reader of nats-reader that is not asked for messages keeps those it has
	}
	return f
}
