package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Sound says whether every reading of a contestant read what was published.
func (e Entry) Sound() bool {
	for _, r := range e.Readings {
		if !r.Sound() {
			return false
		}
	}
	return true
}

// finished says whether a contestant came to the end at least once.
func (e Entry) finished() bool { return e.Figures.Rate.Median > 0 }

// Measured says whether anything was read.
func (r Result) Measured() bool {
	for _, s := range r.Series {
		for _, e := range s.Entries {
			if len(e.Readings) > 0 {
				return true
			}
		}
	}
	return false
}

// serverMeasured says whether the server's CPU is known of any reading.
func (r Result) serverMeasured() bool {
	return slices.ContainsFunc(r.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Entries, func(e Entry) bool {
			return slices.ContainsFunc(e.Readings, func(one Reading) bool { return one.ServerCPU != nil })
		})
	})
}

// Title says what is read, and how much is asked for ahead.
func (s Series) Title(r Result) string {
	pulls := "everyone's defaults"
	if s.Pulls == Equal {
		pulls = fmt.Sprintf("equal pulls of %d", r.Batch)
	}
	text := fmt.Sprintf("%d x %d B, %s", s.Count, s.Size, pulls)
	if r.Work > 0 {
		text += fmt.Sprintf(", %s of work on each", r.Work)
	}
	return text
}

// Words is a series in one sentence, without the full stop: who is the fastest, and ours beside the bases.
func (s Series) Words(r Result) string {
	fastest, ours := s.best(func(Entry) bool { return true }), s.best(func(e Entry) bool { return e.Ours })
	if fastest == nil {
		return "nobody read everything"
	}
	text := fmt.Sprintf("%s is the fastest with %s messages/s", fastest.Name, short(fastest.Figures.Rate.Median))
	if r.Work > 0 {
		text = fmt.Sprintf("%s is the fastest with %ss", fastest.Name, fixed(fastest.Figures.Seconds.Median, 2))
	}
	if ours == nil {
		return text
	}
	var ratios []string
	for _, ratio := range ours.Ratios {
		if ratio.Rounds > 0 {
			ratios = append(ratios, fmt.Sprintf("%s the speed of %s with %s its CPU", times(ratio.Rate.Median), ratio.Base, times(ratio.CPU.Median)))
		}
	}
	if len(ratios) == 0 {
		return text
	}
	return text + "; ours (" + ours.Name + ") has " + strings.Join(ratios, ", and ")
}

// best is the fastest of some contestants that read everything; nil: none of them did.
func (s Series) best(among func(Entry) bool) *Entry {
	var best *Entry
	for i := range s.Entries {
		e := &s.Entries[i]
		if among(*e) && e.finished() && e.Sound() && (best == nil || e.Figures.Rate.Median > best.Figures.Rate.Median) {
			best = e
		}
	}
	return best
}

// Remarks tell what went wrong, a line each.
func (s Series) Remarks() (lines []string) {
	for _, e := range s.Entries {
		if e.Stopped != "" {
			lines = append(lines, fmt.Sprintf("%s was not measured to the end: %s", e.Name, e.Stopped))
		}
		for _, r := range e.Readings {
			if text := r.fault(); text != "" {
				lines = append(lines, fmt.Sprintf("%s, round %d: %s", e.Name, r.Round, text))
			}
		}
	}
	return lines
}

// fault is what went wrong in a reading; "": nothing.
func (r Reading) fault() string {
	var parts []string
	add := func(n uint64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.Lost, "lost")
	add(r.Again, "repeated or out of order")
	add(r.Odd, "not as published")
	if r.Reconnects == 1 {
		parts = append(parts, "1 reconnect")
	} else {
		add(r.Reconnects, "reconnects")
	}
	for _, said := range r.Said {
		parts = append(parts, "it said: "+said)
	}
	return strings.Join(parts, ", ")
}

// MadeWords say where and when it was measured.
func (r Result) MadeWords() string {
	rounds := fmt.Sprintf("medians of %d rounds", r.Rounds)
	if r.Rounds == 1 {
		rounds = "one round"
	}
	where := "the lab's server"
	if r.Made.Foreign {
		where = "a server of others"
	}
	text := fmt.Sprintf("%s, nats-reader %s, nats.go %s, nats-server %s (%s, %s storage), %s, %s, %d cores; %s, figures are per message, ratios within a round",
		r.Made.Ended.Format("2006-01-02 15:04 MST"), r.Made.Program, r.Made.Client, r.Made.Server, where, r.Storage, r.Made.Go, r.Made.System, r.Made.Cores, rounds)
	if r.Measured() && !r.serverMeasured() {
		text += ", the server's CPU was not measured"
	}
	if r.Metadata {
		text += ", with the stream sequence of every message"
	}
	if !r.Whole {
		text += "; it was not finished"
	}
	return text
}
