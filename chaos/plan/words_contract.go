package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// contractWords tell what must hold, the defaults included.
func (p Plan) contractWords() (lines []string) {
	c := p.Contract
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	most := func(n *uint64, one string) {
		if n != nil {
			say("At most %s.", plural(*n, one))
		}
	}
	none := func(n *uint64) bool { return n == nil || *n == 0 }
	switch {
	case p.destroys():
		say("What was stored and not destroyed, and could be read, is read.")
	case none(c.Lost):
		say("Every message that was stored is read.")
	}
	if !none(c.Lost) {
		say("At most %s lost.", plural(*c.Lost, "message"))
	}
	switch {
	case p.Target.Durable != "" && c.Duplicated == nil:
		say("A message may come again: a durable reads at least once.")
	case none(c.Duplicated) && none(c.OutOfOrder):
		say("None is read twice, none out of order.")
	default:
		most(c.Duplicated, "message read twice")
		most(c.OutOfOrder, "message out of order")
	}
	if !none(c.Unexpected) {
		say("At most %s that nobody published.", plural(*c.Unexpected, "message"))
	}
	if c.Deaf != nil {
		say("A reader is never deaf for longer than %s.", short(*c.Deaf))
	} else {
		say("A reader is never deaf for longer than %s beyond the faults.", short(p.Allowance()))
	}
	if c.Silence != nil {
		say("While messages wait, something is handed out at least every %s.", short(*c.Silence))
	}
	if c.Recovery != nil {
		say("It reads again within %s of each fault's end.", short(*c.Recovery))
	}
	most(c.Sessions, "session")
	most(c.APIRequests, "JetStream API request")
	if c.APIRequestsPerMinute != nil {
		say("At most %s a minute.", plural(*c.APIRequestsPerMinute, "JetStream API request"))
	}
	if c.Consumers != nil {
		say("At most %s at one time.", plural(*c.Consumers, "consumer"))
	}
	most(c.WireBytes, "byte on the wire")
	switch {
	case c.Orphans == nil && TargetKind(orElse(p.Target.Name, TargetReader)) != TargetReader: // it lapses by itself
	case none(c.Orphans):
		say("No consumer of its own is left on the server.")
	default:
		say("At most %s left on the server.", plural(*c.Orphans, "consumer"))
	}
	if p.Ends != "" {
		say("The target ends by itself, with %q in its error; it may be deaf for %s more before it does.", p.Ends, short(p.Grace()))
	}
	return lines
}

func plural(n uint64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	for _, tail := range []string{" read twice", " out of order", " on the wire"} {
		if head, cut := strings.CutSuffix(one, tail); cut {
			return fmt.Sprintf("%d %ss%s", n, head, tail)
		}
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// destroys says whether a step destroys messages.
func (p Plan) destroys() bool {
	for _, s := range p.Steps {
		spec, _ := s.Spec()
		if f, _ := chaos.FindFault(spec.Name); f.Destructive {
			return true
		}
	}
	return false
}

// Defaults of a reader that its deafness is judged by.
const (
	readerAttempt  = 2 * time.Second
	readerRetryMax = 2 * time.Second
	readerGrace    = 15 * time.Second
)

// Allowance is how long the target may be deaf beyond the faults where the contract sets
// no limit: detection twice and two recoveries, by its settings. Those are for the reader:
// for any other target it is what a reader by itself has.
func (p Plan) Allowance() time.Duration {
	t := p.Target
	if TargetKind(orElse(t.Name, TargetReader)) != TargetReader {
		return oracle.DefaultDeafness()
	}
	return oracle.DeafnessLimit(orElse(t.Heartbeat, readerHeartbeat), orElse(t.AttemptTimeout, readerAttempt), orElse(t.RetryMax, readerRetryMax))
}

// Grace is how much longer a target that is to end may wait before it does: as long as it
// waits for a stream that is missing. 0 for one that is to read on.
func (p Plan) Grace() time.Duration {
	if p.Ends == "" {
		return 0
	}
	return orElse(p.Target.StreamGrace, readerGrace)
}
