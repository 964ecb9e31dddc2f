package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Grid is a table of cells; the first column has names, the others have numbers.
type Grid struct {
	Title string // "": it needs none
	Head  []string
	Rows  [][]string
}

// notThere stands where there is no figure.
const notThere = "-"

// Grids are the tables of a series: the medians of each contestant, and a table for each base.
func (s Series) Grids(r Result) []Grid {
	first := s.speed()
	if r.Work > 0 {
		first = s.working(r)
	}
	all := []Grid{first}
	for _, base := range r.Bases {
		if g := s.beside(base); len(g.Rows) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// grid makes a table of the contestants; those that never came to the end have no figures.
func (s Series) grid(title string, head []string, cells func(Entry) []string) Grid {
	g := Grid{Title: title, Head: append([]string{"reader"}, head...)}
	for _, e := range s.Entries {
		row := cells(e)
		if row == nil {
			continue
		}
		if !e.finished() {
			row = slices.Repeat([]string{notThere}, len(head))
		}
		g.Rows = append(g.Rows, append([]string{e.Name}, row...))
	}
	return g
}

func (s Series) speed() Grid {
	head := []string{"msg/s", "MB/s", "CPU ns", "server ns", "allocs", "alloc B", "wire B"}
	return s.grid("", head, func(e Entry) []string {
		f := e.Figures
		return []string{
			short(f.Rate.Median), fixed(f.Volume.Median, 1), fixed(f.CPU.Median, 0), serverCPU(f), fixed(f.Allocations.Median, 2),
			fixed(f.Allocated.Median, 0), fixed(f.Wire.Median, 0),
		}
	})
}

// working is the table where the caller works on each message: what counts is how much longer it takes than the work.
func (s Series) working(r Result) Grid {
	ideal := r.Work.Seconds() * float64(s.Count)
	head := []string{"seconds", "min-max", "/ideal", "wire/payload", "reconnects", "lost", "CPU ns"}
	return s.grid(fmt.Sprintf("the work alone takes %ss", short(ideal)), head, func(e Entry) []string {
		f := e.Figures
		var reconnects, lost uint64
		for _, one := range e.Readings {
			reconnects, lost = reconnects+one.Reconnects, lost+one.Lost
		}
		return []string{
			fixed(f.Seconds.Median, 2), fixed(f.Seconds.Min, 2) + "-" + fixed(f.Seconds.Max, 2), times(f.Seconds.Median / ideal),
			fixed(f.WireRatio.Median, 3), strconv.FormatUint(reconnects, 10), strconv.FormatUint(lost, 10), fixed(f.CPU.Median, 0),
		}
	})
}

// beside is the table of a base, with how far the rounds lie apart.
func (s Series) beside(base string) Grid {
	head := []string{"speed", "min-max", "CPU", "min-max", "msg/s min-max"}
	return s.grid("beside "+base+", round by round", head, func(e Entry) []string {
		rates := short(e.Figures.Rate.Min) + "-" + short(e.Figures.Rate.Max)
		if e.Name == base {
			return []string{"1.00x", notThere, "1.00x", notThere, rates}
		}
		i := slices.IndexFunc(e.Ratios, func(r Ratio) bool { return r.Base == base })
		switch {
		case i < 0:
			return nil
		case e.Ratios[i].Rounds == 0:
			return []string{notThere, notThere, notThere, notThere, rates}
		}
		r := e.Ratios[i]
		return []string{times(r.Rate.Median), between(r.Rate), times(r.CPU.Median), between(r.CPU), rates}
	})
}

// Ahead says who asks for what ahead, in one line.
func (s Series) Ahead() string {
	var kinds []string
	who := map[string][]string{}
	for _, e := range s.Entries {
		if who[e.Ahead] == nil {
			kinds = append(kinds, e.Ahead)
		}
		who[e.Ahead] = append(who[e.Ahead], e.Name)
	}
	for i, kind := range kinds {
		kinds[i] = strings.Join(who[kind], ", ") + ": " + kind
	}
	return "asked for ahead: " + strings.Join(kinds, "; ")
}

func serverCPU(f Figures) string {
	if f.ServerCPU == nil {
		return notThere
	}
	return fixed(f.ServerCPU.Median, 0)
}

func fixed(v float64, places int) string { return strconv.FormatFloat(v, 'f', places, 64) }

func times(v float64) string { return fixed(v, 2) + "x" }

func between(s Spread) string { return fixed(s.Min, 2) + "-" + fixed(s.Max, 2) }

// short is a number with three digits that count, or all that stand before the point.
func short(v float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G"} {
		if v < 9999.5 {
			break
		}
		v, unit = v/1000, u
	}
	switch {
	case v >= 99.95:
		return fixed(v, 0) + unit
	case v >= 9.995:
		return fixed(v, 1) + unit
	default:
		return fixed(v, 2) + unit
	}
}
