package tui

import (
	"fmt"
	"slices"
	"time"
)

// zooms are how long a column of the timeline lasts, from the second on: 0 is the whole run.
var zooms = []time.Duration{
	0, time.Hour, 20 * time.Minute, 5 * time.Minute, 2 * time.Minute, time.Minute, 30 * time.Second, 10 * time.Second,
	5 * time.Second, 2 * time.Second, time.Second, 500 * time.Millisecond, 200 * time.Millisecond,
}

// zoomBy shows less or more time. From the whole run it goes to the next step that shows less.
func (m *Model) zoomBy(by int) {
	if _, shown := m.rectOf(PaneTimeline); !shown {
		m.say("the timeline is not on the screen: 7 shows it")
		return
	}
	whole := m.columnLength(true)
	if m.zoom == 0 && by > 0 {
		m.zoom = len(zooms) - 1
		for i := 1; i < len(zooms); i++ {
			if zooms[i] < whole {
				m.zoom = i
				break
			}
		}
	} else {
		m.zoom = min(max(m.zoom+by, 0), len(zooms)-1)
	}
	if m.zoom > 0 && zooms[m.zoom] >= whole {
		m.zoom = 0
	}
}

// laneHead is the width of what stands before a lane.
const laneHead = 8

// columnLength is how long one column lasts; whole: where all of the run is shown.
func (m *Model) columnLength(whole bool) time.Duration {
	if m.zoom > 0 && !whole {
		return zooms[m.zoom]
	}
	w := m.width
	if r, ok := m.rectOf(PaneTimeline); ok {
		w = r.W
	}
	columns := max(w-laneHead-1, 1)
	each := m.seen().Sub(m.book.began) / time.Duration(columns)
	return max(each, 100*time.Millisecond)
}

// lane is the time that the columns of the timeline show.
type lane struct {
	from time.Time
	each time.Duration
	n    int
}

// at gives the column of a time, which may be outside.
func (l lane) at(t time.Time) int {
	d := t.Sub(l.from)
	if d < 0 {
		return -1
	}
	return int(d / l.each)
}

// fill draws signs from a time to another, where they are inside.
func (l lane) fill(signs []rune, from, to time.Time, sign rune) {
	first, last := max(l.at(from), 0), min(l.at(to), l.n-1)
	for i := first; i <= last; i++ {
		signs[i] = sign
	}
}

func (l lane) put(signs []rune, t time.Time, sign rune) {
	if i := l.at(t); i >= 0 && i < l.n {
		signs[i] = sign
	}
}

// drawTimeline draws the sessions, the faults and the rate over the same time.
func (m *Model) drawTimeline(w, h int) []string {
	r, now := m.current(), m.seen()
	l := lane{each: m.columnLength(false), n: max(w-laneHead-1, 1)}
	l.from = m.book.began
	if m.zoom > 0 {
		l.from = now.Add(-time.Duration(l.n-1) * l.each)
		if l.from.Before(m.book.began) {
			l.from = m.book.began
		}
	}
	blank := func() []rune {
		signs := make([]rune, l.n)
		for i := range signs {
			signs[i] = ' '
		}
		return signs
	}
	head := func(s string, signs []rune, one role) string {
		return m.look.paint(roleDim, m.look.fit(s, laneHead)) + m.look.paint(one, string(signs))
	}
	lanes := max(h-2, 1)
	if h < 3 {
		lanes = h
	}
	var lines []string
	rows := r.sessions.rows
	if len(rows) > lanes {
		rows = rows[len(rows)-lanes:]
	}
	for i, row := range rows {
		lines = append(lines, head(fmt.Sprintf(" #%d", row.number), m.sessionLane(l, blank(), row, i == len(rows)-1, now), roleGood))
	}
	for len(lines) < lanes {
		lines = append(lines, "")
	}
	if h < 3 {
		return lines
	}
	faults := blank()
	for _, mark := range m.book.faults.marks {
		l.put(faults, mark.time, '^')
		if key := faultKeys[mark.name]; key != "" {
			l.put(faults, mark.time.Add(l.each), []rune(key)[0])
		}
	}
	rates := r.rates.columns(l.from.Add(time.Duration(l.n)*l.each), l.each, l.n)
	peak := slices.Max(append(rates, 0))
	return append(lines,
		head(" faults", faults, roleFault),
		m.look.paint(roleDim, m.look.fit(" "+brief(peak)+"/s", laneHead))+m.look.spark(rates),
	)
}

// sessionLane draws one session: deaf, replacing, live, ended.
func (m *Model) sessionLane(l lane, signs []rune, row sessionRow, newest bool, now time.Time) []rune {
	end := row.to
	if end.IsZero() {
		end = now
	}
	if row.deaf > 0 {
		l.fill(signs, row.from.Add(-row.deaf), row.from, '.')
	}
	if row.took > 0 {
		l.fill(signs, row.from.Add(-row.took), row.from, '~')
	}
	l.fill(signs, row.from, end, '=')
	if !row.to.IsZero() {
		l.put(signs, row.to, 'x')
		return signs
	}
	sessions := m.current().sessions
	if newest && !sessions.deafSince.IsZero() {
		l.fill(signs, sessions.deafSince, now, '.')
		return signs
	}
	l.put(signs, now, '>')
	return signs
}

func (m *Model) timelineRemark() string {
	each := m.columnLength(false)
	what := "the whole run"
	if m.zoom > 0 {
		what = "the last " + age(time.Duration(m.width)*each)
	}
	return fmt.Sprintf("%s, 1 column = %s   = live  ~ replacing  . deaf  x ended  ^ fault", what, seconds(each))
}
