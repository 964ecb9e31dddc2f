package result

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// inUTC is the run with its times in UTC; what is behind slices of the run given stays as it is.
func inUTC(r Run) Run {
	utc := func(times ...*time.Time) {
		for _, t := range times {
			*t = t.UTC()
		}
	}
	utc(&r.Began, &r.Ended, &r.Series.From)
	r.Phases = mended(r.Phases, func(p *Phase) { utc(&p.From, &p.To) })
	r.Faults = mended(r.Faults, func(f *Fault) { utc(&f.From, &f.To) })
	r.Sessions = mended(r.Sessions, func(s *oracle.Session) { utc(&s.From, &s.To) })
	r.Deaf = mended(r.Deaf, func(s *oracle.Span) { utc(&s.From, &s.To) })
	r.Silences = mended(r.Silences, func(s *oracle.Span) { utc(&s.From, &s.To) })
	r.Notes = mended(r.Notes, func(n *Note) { utc(&n.Time) })
	r.Verdict.Recoveries = mended(r.Verdict.Recoveries, func(x *oracle.Recovery) { utc(&x.From, &x.To) })
	r.Verdict.Violations = mended(r.Verdict.Violations, func(v *oracle.Violation) {
		v.Samples = mended(v.Samples, func(s *oracle.Sample) { utc(&s.Time) })
	})
	return r
}

func mended[T any](all []T, mend func(*T)) []T {
	all = slices.Clone(all)
	for i := range all {
		mend(&all[i])
	}
	return all
}
