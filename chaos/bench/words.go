package bench

import (
	"fmt"
	"strconv"
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

// Measured says whether there is a figure.
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

// Title says what is read.
func (s Series) Title() string {
	return fmt.Sprintf("%d messages of %d B, %s", s.Count, s.Size, map[Pulls]string{Equal: "equal pulls", Defaults: "everyone's defaults"}[s.Pulls])
}

// Words is a series in one sentence, without the full stop: who is the fastest, and ours beside the base.
func (s Series) Words(r Result) string {
	head := s.Title()
	if s.Pulls == Equal {
		head += fmt.Sprintf(" of %d messages", r.Batch)
	}
	if r.Work > 0 {
		head += fmt.Sprintf(", %s of work on each", r.Work)
	}
	fastest, ours := s.best(func(Entry) bool { return true }), s.best(func(e Entry) bool { return e.Ours })
	if fastest == nil {
		return head + ": nobody came to the end"
	}
	text := fmt.Sprintf("%s: %s is the fastest with %s messages/s", head, fastest.Name, whole(fastest.Figures.Rate.Median))
	if ours == nil {
		return text
	}
	for i, ratio := range ours.Ratios {
		lead := "; " + ours.Name + " reads"
		if i > 0 {
			lead = ","
		}
		text += fmt.Sprintf("%s %s of what %s does with %s of its CPU a message", lead, times(ratio.Rate.Median), ratio.Base, times(ratio.CPU.Median))
	}
	return text
}

// best is the fastest of some contestants; nil: none of them came to the end.
func (s Series) best(among func(Entry) bool) *Entry {
	var best *Entry
	for i := range s.Entries {
		e := &s.Entries[i]
		if among(*e) && e.finished() && (best == nil || e.Figures.Rate.Median > best.Figures.Rate.Median) {
			best = e
		}
	}
	return best
}

// Table is a series as a head and rows of cells: the medians of each contestant, and its ratios to each base.
func (s Series) Table() (head []string, rows [][]string) {
	head = []string{"reader", "msg/s", "min-max", "MB/s", "CPU ns", "server ns", "allocs", "B", "wire B"}
	bases := s.bases()
	for _, base := range bases {
		head = append(head, "speed/"+base, "CPU/"+base)
	}
	for _, e := range s.Entries {
		row := []string{e.Name}
		f := e.Figures
		if !e.finished() {
			row = append(row, "-", "-", "-", "-", "-", "-", "-", "-")
		} else {
			server := "-"
			if f.ServerCPU != nil {
				server = whole(f.ServerCPU.Median)
			}
			row = append(row, whole(f.Rate.Median), whole(f.Rate.Min)+"-"+whole(f.Rate.Max), strconv.FormatFloat(f.Volume.Median, 'f', 1, 64),
				whole(f.CPU.Median), server, strconv.FormatFloat(f.Allocations.Median, 'f', 2, 64), whole(f.Allocated.Median), whole(f.Wire.Median))
		}
		for _, base := range bases {
			speed, cpu := "-", "-"
			for _, ratio := range e.Ratios {
				if ratio.Base == base && ratio.Rounds > 0 {
					speed, cpu = times(ratio.Rate.Median), times(ratio.CPU.Median)
				}
			}
			row = append(row, speed, cpu)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// bases are those that somebody is compared with.
func (s Series) bases() (names []string) {
	seen := map[string]bool{}
	for _, e := range s.Entries {
		for _, ratio := range e.Ratios {
			if !seen[ratio.Base] {
				seen[ratio.Base] = true
				names = append(names, ratio.Base)
			}
		}
	}
	return names
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
	add(r.Reconnects, "reconnects")
	for _, said := range r.Said {
		parts = append(parts, "it said: "+said)
	}
	return strings.Join(parts, ", ")
}

// MadeWords say in one line where and when it was measured.
func (r Result) MadeWords() string {
	where := "the lab's server"
	if r.Made.Foreign {
		where = "a server of others"
	}
	text := fmt.Sprintf("%s, nats-reader %s, nats.go %s, nats-server %s (%s), %s, %s, %d cores, %s storage, %d rounds",
		r.Made.Ended.Format("2006-01-02 15:04 MST"), r.Made.Program, r.Made.Client, r.Made.Server, where, r.Made.Go, r.Made.System, r.Made.Cores,
		strings.ToLower(r.Storage), r.Rounds)
	if r.Metadata {
		text += ", with the stream sequence of every message"
	}
	if !r.Whole {
		text += "; it was not finished"
	}
	return text + "; medians, and ratios within rounds"
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func times(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "x" }
