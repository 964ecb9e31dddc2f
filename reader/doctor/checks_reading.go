package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// readingChecks are about who pulls, and who hears the answers.
func readingChecks() []Check {
	return []Check{
		{
			ID: idDeaf, Title: "deaf reader", Severity: Critical, run: deaf,
			Means: "Messages wait, no pull of the consumer waits in any look, nothing is delivered, and yet its reader is there: the consumer outlived its inactive threshold within the watch, a pull was heard, or its owner in nats-reader.owner holds inboxes of attempt after attempt.",
			Why:   "The reader asks, and the server has nowhere to send the answers, or refuses every pull: it will never read again by itself, and its connection and its consumer look healthy.",
			Do:    "Restart the reader, or have it make a new subscription and a new consumer; then find out who took its subscription.",
		},
		{
			ID: idNoPuller, Title: "nobody pulls", Severity: Warning, run: noPuller,
			Means: "Messages wait, no pull of the consumer waits in any look, and nothing is delivered; or messages were handed out, are not acknowledged beyond ack_wait, and nobody pulls who would get them again. A push consumer: nobody is subscribed to its deliver subject.",
			Why:   "Its reader is gone, stalled or deaf: the state of a consumer does not tell which.",
			Do:    "Look whether its process runs. A longer watch than its inactive threshold, or --listen, decides between deaf and gone.",
		},
		{
			ID: idNobody, Title: "delivered to nobody", Severity: Critical, run: unheard,
			Means: "Messages are delivered, and nobody holds the inbox that they go to: only a subscription that takes every inbox, such as _INBOX.> or >, keeps the server sending.",
			Why:   "Without acks these messages are lost; with them they come again and again. The consumer looks as healthy as any.",
			Do:    "Restart the reader, and end the subscription that takes every inbox.",
		},
		{
			ID: idAbsent, Title: "pulls for a consumer that does not exist", Severity: Critical, run: absent,
			Means: "A pull was heard (--listen) for a consumer that the stream does not have.",
			Why:   "Servers up to 2.10.22 answer such a pull with nothing at all: the reader waits for ever.",
			Do:    "Restart the reader; it must make its consumer again.",
		},
	}
}

// deaf: the picture of nobody pulling, and the proof that somebody does.
func deaf(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		pulls := s.heard(c)
		by, attempts := s.holders.recovers(c)
		if by != nil && s.replaced(c) {
			by = nil // left behind
		}
		if !c.still() || !s.outlived(c) && len(pulls) == 0 && by == nil {
			continue
		}
		s.deaf[c] = true
		s.told[c] = true
		if _, beyond := s.beyondLimits(c); len(beyond) > 0 {
			continue // refused for what they ask: READER_017 tells it
		}
		facts := c.stillFigures()
		text := fmt.Sprintf("pulls arrive, %s, and nothing is delivered", waits(c))
		if s.outlived(c) {
			facts = append(facts, figures("inactive_threshold", c.Config.InactiveThreshold, "proof", fmt.Sprintf("it is still there after %s: the server would have deleted it without pulls", age(c.span())))...)
		}
		if by != nil {
			if !s.outlived(c) && len(pulls) == 0 {
				text = fmt.Sprintf("its reader is there and tries to replace it again and again, %s, and nothing is delivered", waits(c))
			}
			facts = append(facts, figures("proof", fmt.Sprintf("its owner, connection %s, holds inboxes of attempts %s in turn, and not that of this consumer", by, strings.Trim(fmt.Sprint(attempts), "[]")))...)
		}
		for _, p := range pulls {
			facts = append(facts, figures("pulls_heard", fmt.Sprintf("%d in %s to inbox %s", p.Count, age(s.Heard.For), p.Inbox))...)
		}
		facts = append(facts, s.makerFigures(c)...)
		steps := []string{
			"restart the reader, or call Replace on one of nats-reader: a new inbox and a new consumer read on where this one stands",
			infoCommand(c),
		}
		if c.NextSize > 0 {
			facts = append(facts, figures("next_message", fmt.Sprintf("%d bytes", c.NextSize))...)
			steps = append(steps, fmt.Sprintf("if its pulls have max_bytes below %d, raise it: such a pull is refused (409 Message Size Exceeds MaxBytes) for ever", c.NextSize))
		}
		if by != nil {
			steps = append([]string{"read its log, or watch its events: it says what refuses or swallows the consumers it wants to make (permission, consumer limit, a node that is down)"}, steps...)
		}
		if len(pulls) == 0 {
			steps = append(steps, listenStep(c))
		}
		steps = append(steps, "look for what took its subscription: permissions of its user (nats-reader explain 019), an UNSUB, a proxy; nats-reader explain drop-subscription makes the same")
		found = append(found, on(c, Critical, text, facts, steps...))
	}
	return found
}

func waits(c *Consumer) string {
	if n := c.last().Pending; n != 1 {
		return fmt.Sprintf("%d messages wait", n)
	}
	return "1 message waits"
}

func (c *Consumer) stillFigures() []Figure {
	since := "never"
	if d, ever := c.sinceDelivery(); ever {
		since = age(d) + " ago"
	}
	facts := figures(
		"looks", len(c.Samples), "watched", age(c.span()),
		"num_pending", fmt.Sprintf("%d to %d", c.first().Pending, c.last().Pending),
		"num_waiting", "0 in every look", "num_ack_pending", c.last().AckPending,
		"delivered", fmt.Sprintf("stays at consumer sequence %d, stream sequence %d", c.last().Delivered.Consumer, c.last().Delivered.Stream),
		"last_delivery", since,
	)
	if c.NextTime != nil {
		facts = append(facts, figures("oldest_waiting", "stored "+age(max(c.last().Time.Sub(*c.NextTime), 0))+" ago")...)
	}
	return facts
}

// makerFigures tell whose consumer it is, where that can be seen.
func (s *subject) makerFigures(c *Consumer) []Figure {
	switch by, sure := s.holders.maker(c); {
	case by != nil:
		return figures("made_by", "the process of connection "+by.String())
	case sure:
		return figures("made_by", "a process that is not connected")
	default:
		return nil
	}
}

// unheard: messages go to an inbox that only a subscription to all inboxes takes.
func unheard(s *subject) (found []Finding) {
	if !s.holders.known || len(s.holders.wide) == 0 {
		return nil
	}
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if !c.watched() || c.last().Delivered.Consumer <= c.first().Delivered.Consumer { // it may have been reset
			continue
		}
		inbox := s.unheldInbox(c)
		if inbox == "" {
			continue
		}
		listener := s.holders.wide[0]
		s.told[c] = true
		found = append(found, on(c, Critical,
			fmt.Sprintf("%s delivered while nobody holds %s", plural(int(c.last().Delivered.Consumer-c.first().Delivered.Consumer), "message"), inbox),
			figures("delivered", fmt.Sprintf("consumer sequence %d to %d", c.first().Delivered.Consumer, c.last().Delivered.Consumer), "inbox", inbox,
				"taken_by", listener.String(), "ack_policy", cmp.Or(c.Config.AckPolicy, "none")),
			"restart the reader: "+map[bool]string{true: "what was not acknowledged comes again", false: "what was delivered meanwhile is lost to it, and must be read again from the stream"}[c.acked()],
			"end the subscription to all inboxes of "+listener.String()+", or give it a narrower subject",
			infoCommand(c)))
	}
	return found
}

// unheldInbox names the inbox of a consumer where it is known that nobody but
// takers of every inbox holds it.
func (s *subject) unheldInbox(c *Consumer) string {
	if c.push() {
		if s.holders.complete && !s.holders.held(c.Config.DeliverSubject) {
			return c.Config.DeliverSubject
		}
		return ""
	}
	pulls := s.heard(c)
	for _, p := range pulls {
		if s.holders.held(p.Inbox) || !s.holders.complete {
			return ""
		}
	}
	if len(pulls) > 0 {
		return pulls[0].Inbox
	}
	if by, sure := s.holders.maker(c); by == nil && sure && !c.durable() || s.nobodyTook(c) {
		return "the inbox of its reader"
	}
	return ""
}

// fewDelivered is what is too little to be looked for among what clients were sent.
const fewDelivered = 10

// nobodyTook says that all clients together, but for those that take every inbox
// and have no other subscription, were sent less than half of what the consumer
// delivered during the watch.
func (s *subject) nobodyTook(c *Consumer) bool {
	delivered := int64(c.last().Delivered.Consumer - c.first().Delivered.Consumer)
	if !s.holders.complete || delivered < fewDelivered || s.Reconnected {
		return false
	}
	var taken int64
	for _, by := range s.Connections.List {
		listens := by.Others == 0 && !slices.ContainsFunc(by.Subs, func(sub string) bool { return !wide(sub) })
		if !by.Own && !(listens && len(by.Subs) > 0) {
			taken += by.Got - by.Had
		}
	}
	return taken < delivered/2
}

// held says whether somebody subscribes to a subject, other than to all inboxes.
func (h *holders) held(subject string) bool {
	if h.subjects[subject] != nil {
		return true
	}
	for _, w := range h.wildcards {
		if covers(w.subject, subject) {
			return true
		}
	}
	return false
}

// absent: pulls that were heard for a consumer that no look has found.
func absent(s *subject) (found []Finding) {
	if s.Heard == nil {
		return nil
	}
	exists := map[[2]string]bool{}
	for _, c := range s.Consumers {
		exists[[2]string{c.Stream, c.Name}] = true
	}
	for _, a := range s.Advisories {
		exists[[2]string{a.Stream, a.Consumer}] = true // made or deleted meanwhile: life, not a fault
	}
	told := map[[2]string]int{} // index in found
	for _, p := range s.Heard.Pulls {
		stream, key := s.streams[p.Stream], [2]string{p.Stream, p.Consumer}
		if exists[key] || s.Consumer != "" && s.Consumer != p.Consumer || stream == nil && s.Stream != "" || stream != nil && stream.Created.IsZero() {
			continue
		}
		heard := figures("pulls_heard", fmt.Sprintf("%d in %s to inbox %s", p.Count, age(s.Heard.For), p.Inbox))
		if i, known := told[key]; known {
			found[i].Facts = append(found[i].Facts, heard...)
			continue
		}
		what := "stream " + p.Stream + " has no such consumer"
		if stream == nil {
			what = "there is no stream " + p.Stream
		}
		told[key] = len(found)
		found = append(found, Finding{
			Severity: Critical, Stream: p.Stream, Consumer: p.Consumer, Text: "pulls were heard, and " + what,
			Facts: append(figures("server", s.Server.Version), heard...),
			Do:    steps("restart the reader: it must make its consumer again", "find who holds the inbox among the connections in a bundle: $ nats-reader doctor "+word(p.Stream)+" --bundle FILE"),
		})
	}
	return found
}
