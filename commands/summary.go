package commands

import (
	"strconv"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
)

type summaryJSON struct {
	Schema        string   `json:"schema"`
	Type          string   `json:"type"`
	Time          string   `json:"time"`
	Contract      string   `json:"contract"`
	Delivered     uint64   `json:"delivered"`
	Lost          uint64   `json:"lost"`
	Duplicated    uint64   `json:"duplicated"`
	OutOfOrder    uint64   `json:"out_of_order"`
	Told          uint64   `json:"told"`
	Unknown       uint64   `json:"unknown"`
	Sessions      int      `json:"sessions"`
	LongestDeaf   string   `json:"longest_deaf"`
	LongestDeafNS int64    `json:"longest_deaf_ns"`
	APIRequests   uint64   `json:"api_requests"`
	Orphans       *int     `json:"orphans"` // null: could not be counted
	MeasuredBy    string   `json:"measured_by"`
	Interrupted   bool     `json:"interrupted,omitempty"`
	Reasons       []string `json:"reasons,omitempty"`
}

// summary writes the last line: the verdict and its figures. Why the contract is
// not held is said on lines before it.
func (p *printer) summary(v oracle.Verdict, interrupted bool) {
	defer p.end()
	if p.json {
		j := summaryJSON{
			Schema: summarySchema, Type: "summary", Time: stamp(time.Now()), Contract: string(v.Finding),
			Delivered: v.Delivered, Lost: v.Lost, Duplicated: v.Duplicated, OutOfOrder: v.OutOfOrder, Told: v.Told, Unknown: v.Unknown,
			Sessions: v.Sessions, LongestDeaf: v.LongestDeaf.String(), LongestDeafNS: int64(v.LongestDeaf),
			APIRequests: v.APIRequests, MeasuredBy: string(v.MeasuredBy), Interrupted: interrupted,
		}
		if v.Orphans != oracle.NotCounted {
			j.Orphans = &v.Orphans
		}
		for _, r := range v.Reasons() {
			j.Reasons = append(j.Reasons, redact(r))
		}
		p.document(j)
		return
	}
	for _, r := range v.Reasons() {
		p.note("because: " + redact(oneLine(r)))
	}
	p.note("measured by "+measured(v), extra(v)...)
	p.print(report.Summary(v))
}

// measured says what the first figures were measured against.
func measured(v oracle.Verdict) string {
	switch v.MeasuredBy {
	case oracle.ByIDs:
		return "the publisher's acknowledged ids"
	case oracle.ByNothing:
		return "nothing: a durable may redeliver, and others may read it"
	default:
		return "consumer and stream sequences"
	}
}

// extra are the figures that are mostly zero.
func extra(v oracle.Verdict) []string {
	var facts []string
	for _, f := range []struct {
		key string
		n   uint64
	}{{"told_missing", v.Told}, {"unacknowledged", v.Unknown}, {"unexpected", v.Unexpected}} {
		if f.n > 0 {
			facts = append(facts, f.key, strconv.FormatUint(f.n, 10))
		}
	}
	return facts
}

// exitOf is the exit code of a verdict.
func exitOf(f oracle.Finding) int {
	switch f {
	case oracle.Held:
		return exitGood
	case oracle.Broken:
		return exitCritical
	default:
		return exitCannotJudge
	}
}
