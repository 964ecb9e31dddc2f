package matrix

import (
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

const s = time.Second

// story is a run of 20s with 10 messages read in each second but those that are named, and one fault.
func story(from, to time.Duration, silentSeconds ...int) result.Run {
	r := result.Run{Began: at(0), Ended: at(20 * s), Server: result.Server{Version: "2.15.3"}, Seed: 3, Series: oracle.Series{From: at(0), Step: s}}
	for range 20 {
		r.Series.Read = append(r.Series.Read, 10)
	}
	for _, i := range silentSeconds {
		r.Series.Read[i] = 0
	}
	r.Faults = []result.Fault{{Text: "cut", From: at(from), To: at(to)}}
	r.Verdict = oracle.Verdict{Finding: oracle.Held}
	return r
}

func silent(r result.Run, from, to time.Duration, open bool) result.Run {
	r.Silences = append(r.Silences, oracle.Span{From: at(from), To: at(to), Open: open})
	return r
}

func TestOutcomes(t *testing.T) {
	deaf := silent(story(5*s, 6*s, 5, 6, 7), 5*s, 20*s, true)
	deaf.Verdict = oracle.Verdict{Finding: oracle.Broken, Lost: 44, LostPostfix: 40}
	gone := story(5*s, 5*s)
	gone.Verdict = oracle.Verdict{Finding: oracle.Broken, Lost: 3, LostPostfix: 3, Violations: []oracle.Violation{
		{Kind: oracle.KindLost, Samples: []oracle.Sample{{Time: at(4 * s)}}}, {Kind: oracle.KindEnded, Samples: []oracle.Sample{{Time: at(7 * s)}}},
	}}
	skipped := story(5*s, 6*s)
	skipped.Verdict = oracle.Verdict{Finding: oracle.Broken, Lost: 9, Duplicated: 2, OutOfOrder: 1}
	unready := result.Run{Began: at(0), Ended: at(s), Error: "no server", Verdict: oracle.Verdict{Finding: oracle.Unknown}}
	ours := story(5*s, 5*s)
	ours.Deaf = []oracle.Span{{From: at(5 * s), To: at(9 * s)}}
	for name, c := range map[string]struct {
		run   result.Run
		quiet bool
		want  Outcome
		words string
	}{
		"read on":                         {story(5*s, 6*s), false, Outcome{End: Reads}, "✔ 0.0s"},
		"silent from the fault":           {silent(story(5*s, 5*s), 5100*time.Millisecond, 9*s, false), false, Outcome{End: Reads, Silence: 3900 * time.Millisecond, After: 3900 * time.Millisecond}, "✔ 3.9s"},
		"back before the fault's end":     {silent(story(5*s, 15*s), 5*s, 12*s, false), false, Outcome{End: Reads, Silence: 7 * s}, "✔ 7.0s/0.0s"},
		"silent before it, and through":   {silent(story(5*s, 6*s), 4*s, 7*s, false), false, Outcome{End: Reads, Silence: 2 * s, After: s}, "✔ 2.0s/1.0s"},
		"silent only before it":           {silent(story(5*s, 6*s), 2*s, 4*s, false), false, Outcome{End: Reads}, "✔ 0.0s"},
		"nobody could publish":            {silent(story(5*s, 8*s, 5, 6, 7), 8200*time.Millisecond, 9*s, false), false, Outcome{End: Reads, Silence: 4 * s, After: s}, "✔ 4.0s/1.0s"},
		"nobody was to publish":           {silent(story(5*s, 8*s, 5, 6, 7), 8200*time.Millisecond, 9*s, false), true, Outcome{End: Reads, Silence: 800 * time.Millisecond, After: 800 * time.Millisecond}, "✔ 0.8s"},
		"nothing read, and no fault acts": {story(5*s, 6*s, 10, 11, 12), false, Outcome{End: Reads}, "✔ 0.0s"},
		"its ordinary pace":               {story(5*s, 8*s, 1, 2, 6, 7), false, Outcome{End: Reads}, "✔ 0.0s"},
		"two silences":                    {silent(silent(story(5*s, 5*s), 5*s, 7*s, false), 12*s, 15*s, false), false, Outcome{End: Reads, Silence: 3 * s, After: 3 * s}, "✔ 3.0s"},
		"deaf by its own word":            {ours, false, Outcome{End: Reads, Silence: 4 * s, After: 4 * s}, "✔ 4.0s"},
		"deaf":                            {deaf, false, Outcome{End: Deaf, Silence: 15 * s, After: 14 * s, Unread: 40, Lost: 4}, "✘ deaf −40, lost 4"},
		"gave up":                         {gone, false, Outcome{End: GaveUp, Silence: 2 * s, Lost: 3}, "✘ gave up 2.0s"},
		"skipped":                         {skipped, false, Outcome{End: Reads, Lost: 9, Duplicated: 2, OutOfOrder: 1}, "✘ 0.0s, lost 9, twice 2, disorder 1"},
		"not played":                      {unready, false, Outcome{End: None, Error: "no server"}, "?"},
	} {
		got := OutcomeOf(Cell{"reader", "f", Embedded, 1}, c.run, c.quiet)
		if words := got.Words(); words != c.words {
			t.Errorf("%s: words %q, want %q", name, words, c.words)
		}
		if got.Finding != c.run.Verdict.Finding || got.Seed != c.run.Seed || got.Version != c.run.Server.Version || got.Took != c.run.Ended.Sub(c.run.Began) {
			t.Errorf("%s: not what the run says: %+v", name, got)
		}
		w := c.want
		if got.End != w.End || got.Silence != w.Silence || got.After != w.After || got.Unread != w.Unread || got.Lost != w.Lost ||
			got.Duplicated != w.Duplicated || got.OutOfOrder != w.OutOfOrder || got.Error != w.Error {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestWorst(t *testing.T) {
	held, slow := Outcome{Finding: oracle.Held, End: Reads, Silence: s}, Outcome{Finding: oracle.Held, End: Reads, Silence: 2 * s}
	unknown := Outcome{Finding: oracle.Unknown, End: None}
	late := Outcome{Finding: oracle.Broken, End: Reads, Silence: 99 * s}
	gone, deaf := Outcome{Finding: oracle.Broken, End: GaveUp}, Outcome{Finding: oracle.Broken, End: Deaf}
	order := []Outcome{held, slow, unknown, late, gone, deaf}
	for i := range order {
		for j := range i {
			for _, pair := range [][]Outcome{{order[i], order[j]}, {order[j], order[i]}} {
				if got := worst(pair); got.Finding != order[i].Finding || got.End != order[i].End || got.Silence != order[i].Silence {
					t.Errorf("of %+v: %+v", pair, got)
				}
			}
		}
	}
}
