package report

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// figure is one number of a verdict, beside what was allowed.
type figure struct {
	Name, Value, Limit string
	Detail             string // beside the value
	Bad                bool   // beyond the limit
}

// figures are the numbers of a verdict, those of the contract first.
func figures(v oracle.Verdict) []figure {
	broken := func(kind oracle.Kind) bool {
		return slices.ContainsFunc(v.Violations, func(x oracle.Violation) bool { return x.Kind == kind })
	}
	count := func(kind oracle.Kind, name string, n uint64, limit *uint64, detail string) figure {
		f := figure{Name: name, Value: strconv.FormatUint(n, 10), Detail: detail, Limit: "any", Bad: broken(kind)}
		if limit != nil {
			f.Limit = strconv.FormatUint(*limit, 10)
		}
		return f
	}
	length := func(kind oracle.Kind, name string, d time.Duration, limit *time.Duration) figure {
		f := figure{Name: name, Value: Short(d), Limit: Short(v.Allowance) + " beyond faults", Bad: broken(kind)}
		if limit != nil {
			f.Limit = Short(*limit)
		}
		return f
	}
	l := v.Limits
	lost := ""
	if v.Lost > 0 {
		lost = fmt.Sprintf("prefix %d, middle %d, postfix %d", v.LostPrefix, v.LostMiddle, v.LostPostfix)
	}
	all := []figure{
		count(oracle.KindLost, "lost", v.Lost, l.Lost, lost),
		count(oracle.KindDuplicated, "duplicated", v.Duplicated, l.Duplicated, ""),
		count(oracle.KindOutOfOrder, "out of order", v.OutOfOrder, l.OutOfOrder, ""),
		count(oracle.KindUnexpected, "unexpected", v.Unexpected, l.Unexpected, ""),
		length(oracle.KindSilence, "longest silence", v.LongestSilence, l.Silence),
		length(oracle.KindDeaf, "longest deaf", v.LongestDeaf, l.Deaf),
		recovery(v, broken(oracle.KindRecovery)),
		count(oracle.KindSessions, "sessions", uint64(v.Sessions), l.Sessions, ""),
		count(oracle.KindAPIRequests, "API requests", v.APIRequests, l.APIRequests, ""),
		count(oracle.KindAPIRequestsPerMinute, "API requests in a minute", v.MostRequestsInMinute, l.APIRequestsPerMinute, ""),
		count(oracle.KindConsumers, "consumers at one time", uint64(v.MostConsumers), l.Consumers, ""),
		count(oracle.KindOrphans, "orphans", uint64(max(v.Orphans, 0)), l.Orphans, ""),
		count(oracle.KindWireBytes, "bytes on the wire", v.WireBytes, l.WireBytes, ""),
	}
	for i := range all {
		switch all[i].Name {
		case "longest deaf", "sessions":
			if v.Blind {
				all[i].Value = "not told"
			}
		case "orphans":
			if v.Orphans == oracle.NotCounted {
				all[i].Value = "not counted"
			}
		}
	}
	plain := func(name string, n uint64) figure {
		return figure{Name: name, Value: strconv.FormatUint(n, 10)}
	}
	return append(all,
		plain("published", v.Attempted), plain("acknowledged", v.Acknowledged), plain("delivered", v.Delivered),
		plain("redelivered", v.Redelivered), plain("told as missed or destroyed", v.Told),
		plain("unacknowledged, unread", v.Unknown), plain("unacknowledged, read", v.UnknownRead),
	)
}

// recovery is the slowest of all faults.
func recovery(v oracle.Verdict, bad bool) figure {
	f := figure{Name: "slowest recovery", Value: "no fault", Limit: "any", Bad: bad}
	if v.Limits.Recovery != nil {
		f.Limit = Short(*v.Limits.Recovery)
	}
	var slowest time.Duration
	for _, r := range v.Recoveries {
		slowest = max(slowest, r.Took)
		f.Value = Short(slowest)
	}
	if slices.ContainsFunc(v.Recoveries, func(r oracle.Recovery) bool { return !r.Recovered }) {
		f.Value = "never"
	}
	return f
}
