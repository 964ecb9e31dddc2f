package commands

import (
	"fmt"
	"slices"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/tui"
)

// contractOf is a verdict as promises with their figures.
func contractOf(v oracle.Verdict, final bool) tui.Contract {
	c := tui.Contract{Finding: string(v.Finding), Final: final, Why: v.Reasons(), Deaf: v.Allowance}
	mark := func(kinds ...oracle.Kind) tui.Mark {
		if slices.ContainsFunc(v.Violations, func(x oracle.Violation) bool { return slices.Contains(kinds, x.Kind) }) {
			return tui.Broken
		}
		return tui.Kept
	}
	messages := func(words string, kind oracle.Kind, n uint64) {
		p := tui.Promise{Mark: mark(kind), Words: words, Figure: fmt.Sprintf("%d of %d", n, max(v.Acknowledged, v.Delivered))}
		if v.MeasuredBy == oracle.ByNothing {
			p.Mark, p.Figure = tui.Unknown, "a durable's is the server's"
		}
		c.Promises = append(c.Promises, p)
	}
	messages("no message lost", oracle.KindLost, v.Lost)
	messages("none handed out twice", oracle.KindDuplicated, v.Duplicated)
	messages("order kept", oracle.KindOutOfOrder, v.OutOfOrder)
	deaf := tui.Promise{Mark: mark(oracle.KindDeaf, oracle.KindSilence), Words: "never deaf for long"}
	deaf.Figure = fmt.Sprintf("longest %s of %s", report.Short(v.LongestDeaf), v.Allowance)
	c.Promises = append(c.Promises, deaf)
	c.Promises = append(c.Promises, tui.Promise{
		Mark: mark(oracle.KindAPIRequests, oracle.KindAPIRequestsPerMinute), Words: "few API requests",
		Figure: fmt.Sprintf("%d, at most %d a minute", v.APIRequests, v.MostRequestsInMinute),
	})
	left := tui.Promise{Mark: mark(oracle.KindOrphans), Words: "nothing left on the server", Figure: fmt.Sprintf("%d left", v.Orphans)}
	switch {
	case v.Orphans == oracle.NotCounted && final:
		left.Mark, left.Figure = tui.Unknown, "could not be counted"
	case v.Orphans == oracle.NotCounted:
		left.Mark, left.Figure = tui.Open, "counted at the end"
	}
	c.Promises = append(c.Promises, left)
	return c
}
