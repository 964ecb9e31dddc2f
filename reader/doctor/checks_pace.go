package doctor

import (
	"fmt"
	"strconv"
	"time"
)

// paceChecks are about how fast is read, and what limits it.
func paceChecks() []Check {
	return []Check{
		{
			ID: "READER_007", Title: "inactive threshold too short", Severity: Warning, run: threshold,
			Means: "The consumer's inactive threshold is shorter than two of its heartbeats, than the time its handler was seen at one message, or than the 2s that a client takes to reconnect.",
			Why:   "The server deletes the consumer while its reader is busy or reconnecting, and what the reader knew of its place is gone.",
			Do:    "Set an inactive threshold of at least three heartbeats, or three times the longest handler.",
		},
		{
			ID: "READER_008", Title: "falling behind", Severity: Critical, run: behind,
			Means: "What waits grows from look to look, to 1000 messages or more, though messages are delivered; or a limit in io.nats.monitor.unprocessed-critical, last-delivery-critical or last-ack-critical of the consumer's metadata is passed.",
			Why:   "Sooner or later the stream's limits remove messages that were never read, or fill the disk.",
			Do:    "Add readers of a durable, take larger batches, make the handler faster.",
		},
		{
			ID: "READER_009", Title: "stuck at max_ack_pending", Severity: Critical, run: acks,
			Means: "As many messages are out unacknowledged as the consumer allows, in every look. Told apart: slow_handler (acks come), owner_dead (nobody pulls any more), naks_with_delay (they are not sent again though ack_wait is over), acks_denied (they are sent again and again, and no ack arrives).",
			Why:   "The server hands out nothing until an ack comes, however many readers wait.",
			Do:    "Find out why acks do not come: the cause tells which.",
		},
		{
			ID: idWaiting, Title: "no room for another pull", Severity: Critical, run: waiting,
			Means: "As many pulls wait as max_waiting allows, in every look; or io.nats.monitor.waiting-critical is passed.",
			Why:   "A further pull is refused with 409 Exceeded MaxWaiting, or by 2.11.17 and newer dropped without an answer if it has a heartbeat: its reader looks deaf.",
			Do:    "Raise max_waiting (the consumer must be made again), or have fewer readers.",
		},
		{
			ID: idLimits, Title: "pulls beyond the consumer's limits", Severity: Critical, run: limits,
			Means: "A pull was heard (--listen) that asks for more than max_batch, max_expires or max_bytes of the consumer.",
			Why:   "Every such pull is refused with a 409, and many clients show only an ordinary time-out.",
			Do:    "Ask for less, or raise the limit.",
		},
	}
}

// reconnectTime is what a client takes to come back by default.
const reconnectTime = 2 * time.Second

func threshold(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		t := c.Config.InactiveThreshold
		if t <= 0 || c.push() || len(c.Samples) == 0 || c.owner() != "" && t <= time.Millisecond { // told to lapse
			continue
		}
		var heartbeat time.Duration
		for _, p := range s.heard(c) {
			heartbeat = max(heartbeat, p.Heartbeat)
		}
		handler := c.handlerTime()
		var text string
		facts := figures("inactive_threshold", t)
		switch {
		case handler > t:
			text = fmt.Sprintf("its handler was at one message for %s, longer than the inactive threshold of %s", age(handler), t)
			facts = append(facts, figures("handler", age(handler), "num_ack_pending", c.last().AckPending)...)
		case heartbeat > 0 && t < 2*heartbeat:
			text = fmt.Sprintf("its inactive threshold of %s is shorter than two heartbeats of %s", t, heartbeat)
			facts = append(facts, figures("idle_heartbeat", heartbeat)...)
		case t < reconnectTime && !s.told[c]:
			text = fmt.Sprintf("its inactive threshold of %s is shorter than a reconnect", t)
			facts = append(facts, figures("reconnect", fmt.Sprintf("clients take %s by default", reconnectTime))...)
		default:
			continue
		}
		better := max(30*time.Second, 3*heartbeat, 3*handler).Round(time.Second)
		found = append(found, on(c, Warning, text, facts,
			fmt.Sprintf("have the reader ask for an inactive threshold of %s", better),
			fmt.Sprintf("until it does, and makes the consumer again: $ nats consumer edit %s %s --inactive-threshold %s", word(c.Stream), word(c.Name), better)))
	}
	return found
}

// handlerTime is how long messages were seen out with nobody pulling: at least as
// long as the handler took. 0: not seen.
func (c *Consumer) handlerTime() (longest time.Duration) {
	if !c.acked() {
		return 0
	}
	for _, at := range c.Samples {
		if at.Waiting == 0 && at.AckPending > 0 && at.Delivered.Active != nil {
			longest = max(longest, at.Time.Sub(*at.Delivered.Active))
		}
	}
	if longest > c.ackWait() {
		return 0 // given up, by the server's measure
	}
	return longest
}

// muchWaits is the least that a reader is behind by.
const muchWaits = 1000

func behind(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if len(c.Samples) == 0 || c.paused() {
			continue
		}
		if f, passed := c.passedLimit(); passed {
			found = append(found, f)
			continue
		}
		if !c.watched() || !c.moved() || s.deaf[c] {
			continue
		}
		first, last := c.first(), c.last()
		grows := last.Pending >= muchWaits
		for j := 1; j < len(c.Samples); j++ {
			grows = grows && c.Samples[j].Pending > c.Samples[j-1].Pending
		}
		if !grows {
			continue
		}
		grown, read := last.Pending-first.Pending, last.Delivered.Consumer-first.Delivered.Consumer
		if grown*10 < read { // what a look catches between a publisher's and a reader's step
			continue
		}
		seconds := c.span().Seconds()
		found = append(found, on(c, Warning, fmt.Sprintf("%d messages wait, %d more than %s ago", last.Pending, grown, age(c.span())),
			figures("num_pending", fmt.Sprintf("%d to %d", first.Pending, last.Pending), "grows_by", rate(float64(grown)/seconds), "delivered", rate(float64(read)/seconds),
				"num_ack_pending", last.AckPending, "num_waiting", last.Waiting),
			"look at what its handler waits for, and whether it goes on: "+doctorCommand(c, " --for 60s"),
			map[bool]string{true: "start more readers of the same durable, or take larger batches", false: "take larger batches, or read by a durable that several share"}[c.durable()],
			"see how long the stream keeps messages: $ nats stream info "+word(c.Stream)))
	}
	return found
}

func rate(perSecond float64) string {
	return strconv.FormatFloat(perSecond, 'f', map[bool]int{true: 0, false: 1}[perSecond >= 100], 64) + "/s"
}

func waiting(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		most := c.Config.MaxWaiting
		limit, own := c.monitorNumber("io.nats.monitor.waiting-critical")
		switch {
		case len(c.Samples) == 0 || c.push():
		case own && limit > 0 && uint64(c.last().Waiting) > limit:
			found = append(found, on(c, Critical, fmt.Sprintf("%d pulls wait, above the %d that its metadata allows", c.last().Waiting, limit),
				figures("num_waiting", c.last().Waiting, "io.nats.monitor.waiting-critical", limit), infoCommand(c)))
		case c.watched() && most > 0 && c.every(func(at Sample) bool { return at.Waiting >= most }):
			severity := Warning
			if most == 1 {
				severity = Info // one reader has its one pull out, as it should
			}
			found = append(found, on(c, severity, fmt.Sprintf("%d pulls wait, and max_waiting is %d", c.last().Waiting, most),
				figures("num_waiting", c.last().Waiting, "max_waiting", most, "num_pending", c.last().Pending),
				"count its readers by the connections and inboxes in a bundle: $ nats-reader doctor "+word(c.Stream)+" --bundle FILE",
				"end readers that are not needed, or have each keep fewer pulls out",
				"to raise max_waiting the consumer must be made again: note its ack floor first, "+infoCommand(c)))
		}
	}
	return found
}

func limits(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		p, facts := s.beyondLimits(c)
		if len(facts) == 0 {
			continue
		}
		found = append(found, on(c, Critical, fmt.Sprintf("pulls ask for more than it allows: %s %s, %s %s", facts[0].Name, facts[0].Value, facts[1].Name, facts[1].Value),
			append(facts, figures("pulls_heard", p.Count, "inbox", p.Inbox)...),
			"have the reader ask for less",
			"or raise the limit: $ nats consumer edit "+word(c.Stream)+" "+word(c.Name)))
	}
	return found
}

// beyondLimits gives the pulls that were heard and are refused for what they ask,
// and which limits they pass.
func (s *subject) beyondLimits(c *Consumer) (p Pulls, facts []Figure) {
	for _, p = range s.heard(c) {
		if m := c.Config.MaxBatch; m > 0 && p.Batch > m {
			facts = append(facts, figures("batch", p.Batch, "max_batch", m)...)
		}
		if m := c.Config.MaxExpires; m > 0 && p.Expires > m {
			facts = append(facts, figures("expires", p.Expires, "max_expires", m)...)
		}
		if m := c.Config.MaxBytes; m > 0 && p.MostBytes > m {
			facts = append(facts, figures("max_bytes_asked", p.MostBytes, "max_bytes", m)...)
		}
		if len(facts) > 0 {
			return p, facts
		}
	}
	return p, nil
}
