package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// Summary is the verdict in one line, as every output of a judged reader ends.
func Summary(v oracle.Verdict) string {
	sessions, deaf := strconv.Itoa(v.Sessions), Short(v.LongestDeaf)
	if v.Blind {
		sessions, deaf = unknown, unknown
	}
	return fmt.Sprintf("contract %s  delivered=%d lost=%d duplicated=%d out_of_order=%d sessions=%s longest_deaf=%s api_requests=%d orphans=%s",
		v.Finding, v.Delivered, v.Lost, v.Duplicated, v.OutOfOrder, sessions, deaf, v.APIRequests, orphans(v))
}

const unknown = "unknown"

func orphans(v oracle.Verdict) string {
	if v.Orphans == oracle.NotCounted {
		return unknown
	}
	return strconv.Itoa(v.Orphans)
}

// Short is a duration with as many places as a reader of it needs.
func Short(d time.Duration) string {
	switch {
	case d >= time.Second || d <= -time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond || d <= -time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}

// offset is a time as the seconds since the run began.
func offset(r result.Run, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.3fs", t.Sub(r.Began).Seconds())
}

// longestCell bounds what one name or text may take.
const longestCell = 400

// Clean makes a text one line without control characters, direction marks and bytes that are no
// UTF-8.
func Clean(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case out.Len() > longestCell:
			out.WriteString("...")
			return out.String()
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !unicode.IsPrint(r):
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// lines makes a text of the run safe to show, line by line.
func lines(text string) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range all {
		all[i] = Clean(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(all, "\n")
}

// where is what a run was made on.
func where(s result.Server) string {
	text := "nats-server " + Clean(s.Version)
	if s.Version == "" { // the run ended before one answered
		text = "a nats-server of a version that is not known"
	}
	if s.Foreign {
		return text + ", not the lab's"
	}
	if s.Nodes > 1 {
		text += fmt.Sprintf(", %d nodes", s.Nodes)
	}
	if s.Replicas > 0 {
		text += fmt.Sprintf(", R%d", s.Replicas)
	}
	if s.Storage != "" {
		text += ", " + Clean(s.Storage)
	}
	return text
}

// sign is a finding beside its word.
func sign(f oracle.Finding) string {
	switch f {
	case oracle.Held:
		return "✔"
	case oracle.Broken:
		return "✘"
	default:
		return "?"
	}
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
