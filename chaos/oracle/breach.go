package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// breach notes a count beyond its limit; without a limit any is allowed.
func (v *Verdict) breach(found samples, kind Kind, count uint64, limit *uint64, noun, what string) {
	if limit == nil || count <= *limit {
		return
	}
	text := strings.TrimSpace(counted(count, noun) + " " + what)
	if *limit > 0 {
		text += fmt.Sprintf(", allowed %d", *limit)
	}
	v.violate(Violation{Kind: kind, Count: count, Limit: strconv.FormatUint(*limit, 10), Text: text, Samples: found[kind]})
}

func (v *Verdict) violate(x Violation) {
	v.Finding = Broken
	v.Violations = append(v.Violations, x)
}

func (v *Verdict) doubt(doubtful bool, format string, args ...any) {
	if !doubtful {
		return
	}
	if v.Finding == Held {
		v.Finding = Unknown
	}
	v.Doubts = append(v.Doubts, fmt.Sprintf(format, args...))
}

// counted is a number with its noun.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// tooLong is one time that lasted longer than allowed.
type tooLong struct {
	at            time.Time // when it began
	lasted, limit time.Duration
	text          string // with a verb for the first %s: how long
}

// breachOfTimes notes the times that lasted too long, the worst in words.
func (v *Verdict) breachOfTimes(kind Kind, all []tooLong) {
	if len(all) == 0 {
		return
	}
	x := Violation{Kind: kind, Count: uint64(len(all)), Limit: rounded(all[0].limit).String()}
	worst := all[0]
	for _, t := range all {
		if t.lasted > worst.lasted {
			worst = t
		}
		if len(x.Samples) < MaxSamples {
			x.Samples = append(x.Samples, Sample{Time: t.at.UTC(), Text: t.sentence()})
		}
	}
	x.Text = worst.sentence()
	if len(all) > 1 {
		x.Text += fmt.Sprintf("; beyond the limit %d times in all", len(all))
	}
	v.violate(x)
}

func (t tooLong) sentence() string {
	return fmt.Sprintf(t.text, rounded(t.lasted)) + ", allowed " + rounded(t.limit).String()
}
