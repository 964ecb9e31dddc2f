package commands

import (
	"slices"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// The verdict on many readers is the worst one, and says whose it is.
func TestTogether(t *testing.T) {
	c := &scene{readers: []*watched{{name: "A"}, {name: "B"}, {name: "C"}}}
	held := oracle.Verdict{Finding: oracle.Held, Delivered: 10, Sessions: 1, LongestDeaf: time.Second, APIRequests: 3}
	broken := oracle.Verdict{Finding: oracle.Broken, Delivered: 8, Lost: 2, Sessions: 2, Violations: []oracle.Violation{{Kind: oracle.KindLost, Text: "2 messages lost"}}}
	unknown := oracle.Verdict{Finding: oracle.Unknown, Orphans: oracle.NotCounted, Doubts: []string{"nobody knows"}}
	v := c.together([]oracle.Verdict{held, broken, unknown})
	if v.Finding != oracle.Broken || v.Delivered != 18 || v.Lost != 2 || v.Sessions != 3 || v.LongestDeaf != time.Second || v.APIRequests != 3 || v.Orphans != oracle.NotCounted {
		t.Errorf("got %+v", v)
	}
	if got := v.Reasons(); !slices.Equal(got, []string{"B: 2 messages lost", "C: nobody knows"}) {
		t.Errorf("got %q", got)
	}
	if v := c.together([]oracle.Verdict{held, held, held}); v.Finding != oracle.Held || v.Orphans != 0 {
		t.Errorf("got %+v", v)
	}
}
