package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// The timeline is drawn in lanes that are stretched to the width there is, so that its words stand beside them
// and keep their size.
const (
	laneWidth    = 1000.0 // units of a lane
	leastBar     = 1.5    // of one that is too short to be seen
	maxBars      = 400    // in a lane
	maxFaultRows = 8      // of faults that act at the same time

	leastSilence = 250 * time.Millisecond // that is drawn: shorter ones are the pace of the load
)

// bar is a time in a lane.
type bar struct {
	X, W  string       // in units of the lane
	Place template.CSS // of its words
	Label string       // short, may be cut
	Title string       // whole
	Alt   bool         // the second of two shades
	Small bool         // its words fit in a wide page alone

	from, to float64
}

// tick is a time on the axis.
type tick struct {
	Place template.CSS
	Text  string
	Last  bool
}

// timeline is what happened when.
type timeline struct {
	Any      bool // there is something to draw
	Length   string
	Ticks    []tick
	Phases   []bar
	Faults   [][]bar
	Wordless bool // the faults have no words
	Sessions []bar
	Deaf     []bar
	Silences []bar
	Blind    bool

	Published, Read, Lag string // points
	MostRate, MostLag    string
	Step                 string
	Left                 []string // what was left out
}

// scale maps the times of a run to a lane.
type scale struct {
	began  time.Time
	length time.Duration
}

func (s scale) at(t time.Time) float64 {
	x := laneWidth * float64(t.Sub(s.began)) / float64(s.length)
	return min(max(x, 0), laneWidth)
}

func (s scale) bar(from, to time.Time, label, title string) bar {
	b := bar{Label: Clean(label), Title: Clean(title), from: s.at(from), to: s.at(to)}
	if b.to-b.from < leastBar {
		b.from = min(b.from, laneWidth-leastBar)
		b.to = b.from + leastBar
	}
	if b.Small = b.to-b.from < 0.16*laneWidth; b.to-b.from < 0.05*laneWidth {
		b.Label = ""
	}
	b.X, b.W = units(b.from), units(b.to-b.from)
	b.Place = place(b.from, b.to-b.from)
	return b
}

func units(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// place is where words stand in a lane, in percent of its width.
func place(from, width float64) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.2f%%;width:%.2f%%", from/laneWidth*100, width/laneWidth*100)) //nolint:gosec // numbers alone
}

func timelineOf(r result.Run) timeline {
	s := scale{r.Began, r.Ended.Sub(r.Began)}
	if s.length <= 0 {
		return timeline{}
	}
	l := timeline{Any: true, Length: Short(s.length), Ticks: ticks(s), Blind: r.Verdict.Blind}
	for i, p := range r.Phases {
		b := s.bar(p.From, p.To, p.Name, fmt.Sprintf("%s, %s from %s", p.Name, Short(p.To.Sub(p.From)), offset(r, p.From)))
		b.Alt = i%2 == 1
		l.Phases = append(l.Phases, b)
	}
	l.faults(r, s)
	l.sessions(r, s)
	l.Deaf = l.spans("deaf", r, r.Deaf, s)
	silences := slices.DeleteFunc(slices.Clone(r.Silences), func(x oracle.Span) bool { return x.Length() < leastSilence })
	l.Silences = l.spans("silent", r, silences, s)
	l.charts(r, s)
	return l
}

// ticks are at round times, at most seven.
func ticks(s scale) (all []tick) {
	step := time.Second / 10
	for _, factor := range []time.Duration{1, 2, 5, 10, 20, 50, 100, 150, 300, 600, 1200, 3000, 6000, 9000, 18000, 36000} {
		if step = factor * time.Second / 10; s.length/step < 7 {
			break
		}
	}
	for s.length/step >= 7 {
		step *= 2
	}
	for at := time.Duration(0); at <= s.length; at += step {
		x := laneWidth * float64(at) / float64(s.length)
		all = append(all, tick{template.CSS(fmt.Sprintf("left:%.2f%%", x/laneWidth*100)), at.String(), x > 0.93*laneWidth}) //nolint:gosec // a number alone
	}
	return all
}

// faults puts those that act at the same time into rows of their own. Few have a row each, with room for their
// words; very many have no words.
func (l *timeline) faults(r result.Run, s scale) {
	room, words := 0.14*laneWidth, true // of the words of one
	switch {
	case len(r.Faults) <= maxFaultRows:
		room = laneWidth
	case len(r.Faults) > 5*maxFaultRows:
		room, words, l.Wordless = 0, false, true
	}
	drawn, left := 0, 0
	ends := []float64{}
	for _, f := range r.Faults {
		title := fmt.Sprintf("%s, from %s, lasted %s", f.Text, offset(r, f.From), Short(max(f.To.Sub(f.From), 0)))
		if f.Error != "" {
			title += ", failed: " + f.Error
		}
		b := s.bar(f.From, f.To, f.Text, title)
		row := slices.IndexFunc(ends, func(end float64) bool { return end <= b.from })
		if row < 0 && len(ends) == maxFaultRows || drawn == maxBars {
			left++
			continue
		}
		if row < 0 {
			row = len(ends)
			ends, l.Faults = append(ends, 0), append(l.Faults, nil)
		}
		if b.Label = ""; words {
			b.Label = Clean(f.Text)
		}
		ends[row] = min(max(b.to, b.from+room), laneWidth)
		b.Place = place(b.from, ends[row]-b.from)
		if b.from > laneWidth/2 && room == laneWidth { // its words stand to the left
			b.Place = place(b.to-min(room, b.to), min(room, b.to)) + ";text-align:right"
		}
		l.Faults[row] = append(l.Faults[row], b)
		drawn++
	}
	if left > 0 {
		l.Left = append(l.Left, plural(left, "fault"))
	}
}

// sessions draws each, or of too many as many together as need be.
func (l *timeline) sessions(r result.Run, s scale) {
	together := (len(r.Sessions) + maxBars - 1) / maxBars
	for chunk := range slices.Chunk(r.Sessions, max(together, 1)) {
		first, last := chunk[0], chunk[len(chunk)-1]
		title := fmt.Sprintf("session %d, from %s, lasted %s", first.Number, offset(r, first.From), Short(last.To.Sub(first.From)))
		if len(chunk) > 1 {
			title = fmt.Sprintf("sessions %d to %d, from %s, lasted %s", first.Number, last.Number, offset(r, first.From), Short(last.To.Sub(first.From)))
		}
		if last.Cause != "" {
			title += ", ended by " + last.Cause
		}
		b := s.bar(first.From, last.To, fmt.Sprint(first.Number), title)
		b.Alt = len(l.Sessions)%2 == 1
		l.Sessions = append(l.Sessions, b)
	}
}

// spans draws each, or of too many those that lie close together as one.
func (l *timeline) spans(word string, r result.Run, all []oracle.Span, s scale) (bars []bar) {
	near := time.Duration(-1)
	if len(all) > maxBars {
		near = s.length / maxBars
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b oracle.Span) int { return a.From.Compare(b.From) })
	for i := 0; i < len(all); {
		x, longest, count := all[i], all[i].Length(), 1
		for i++; i < len(all) && all[i].From.Sub(x.To) <= near; i++ {
			longest, count = max(longest, all[i].Length()), count+1
			x.Open = x.Open || all[i].Open
			if all[i].To.After(x.To) {
				x.To = all[i].To
			}
		}
		title := fmt.Sprintf("%s for %s from %s", word, Short(longest), offset(r, x.From))
		if x.Cause != "" {
			title += " after " + x.Cause
		}
		if count > 1 {
			title = fmt.Sprintf("%s %d times, at most for %s, from %s", word, count, Short(longest), offset(r, x.From))
		}
		if x.Open {
			title += ", to the end"
		}
		bars = append(bars, s.bar(x.From, x.To, Short(longest), title))
	}
	return bars
}

// chartHeight is in units.
const chartHeight = 100.0

func (l *timeline) charts(r result.Run, s scale) {
	x := r.Series
	n := min(len(x.Published), len(x.Read), len(x.Lag))
	if n == 0 || x.Step <= 0 {
		return
	}
	most, mostLag := 1.0, uint64(1)
	for i := range n {
		most, mostLag = max(most, x.Published[i], x.Read[i]), max(mostLag, x.Lag[i])
	}
	l.MostRate, l.MostLag, l.Step = fmt.Sprintf("%.0f/s", most), fmt.Sprint(mostLag), Short(x.Step)
	l.Published = points(n, x, s, func(i int) float64 { return x.Published[i] / most })
	l.Read = points(n, x, s, func(i int) float64 { return x.Read[i] / most })
	lag := points(n, x, s, func(i int) float64 { return float64(x.Lag[i]) / float64(mostLag) })
	first, _, _ := strings.Cut(lag, ",")
	last := lag[strings.LastIndexByte(lag, ' ')+1:]
	end, _, _ := strings.Cut(last, ",")
	l.Lag = first + ",100 " + lag + " " + end + ",100"
}

// points are a line through the middle of each step.
func points(n int, x oracle.Series, s scale, height func(int) float64) string {
	var out strings.Builder
	for i := range n {
		at := s.at(x.From.Add(time.Duration(i)*x.Step + x.Step/2))
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(units(at) + "," + units(chartHeight*(1-height(i))))
	}
	return out.String()
}
