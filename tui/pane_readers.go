package tui

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ranking is an order of the readers at a time.
type ranking struct {
	at    time.Time
	items int // that had been folded in
	order []int
}

// bySuspicion orders the readers: what needs a look comes first. It is made once for each drawing.
func (m *Model) bySuspicion() []int {
	if r := m.ranked; r.at.Equal(m.seen()) && r.items == m.book.items && len(r.order) == len(m.book.readers) {
		return r.order
	}
	m.ranked = ranking{m.seen(), m.book.items, m.rank()}
	return m.ranked.order
}

func (m *Model) rank() []int {
	now := m.seen()
	ranks := make([]int, len(m.book.readers))
	order := make([]int, len(m.book.readers))
	for i, r := range m.book.readers {
		order[i], ranks[i] = i, suspicion(r, now)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := m.book.readers[a], m.book.readers[b]
		return cmp.Or(
			cmp.Compare(ranks[b], ranks[a]),
			cmp.Compare(y.longestDeaf(now), x.longestDeaf(now)),
			cmp.Compare(y.sessions.replaced(), x.sessions.replaced()),
			cmp.Compare(a, b),
		)
	})
	return order
}

func (m *Model) pickedReader() int { return m.bySuspicion()[min(m.picked, len(m.book.readers)-1)] }

func (m *Model) readerName(i int) string {
	if i < len(m.opts.Readers) {
		return m.look.text(m.opts.Readers[i])
	}
	return fmt.Sprintf("reader %d", i+1)
}

// drawReaders is the table of many readers.
func (m *Model) drawReaders(w, h int) []string {
	now := m.seen()
	name := max(min(w-68, 30), 10)
	columns := []column{
		{"", 1, false}, {"reader", name, false}, {"state", 12, false}, {"#", 4, true}, {"deaf", 6, true}, {"missed", 6, true},
		{"pending", 8, true}, {"msg/s", 6, true}, {"verdict", 9, false}, {"about", max(w-name-60, 0), false},
	}
	head := m.look.paint(roleDim, m.look.row(columns, heads(columns)))
	var lines []string
	at := min(m.picked, len(m.book.readers)-1)
	for i, n := range m.bySuspicion() {
		r := m.book.readers[n]
		c := conditionOf(r, now)
		s := r.status()
		rate, _ := r.rates.now(now)
		finding := "-"
		if r.contract != nil {
			finding = r.contract.Finding
		}
		text := m.look.row(columns, []string{
			"", m.readerName(n), c.word, fmt.Sprint(s.Session.Number), length(r.longestDeaf(now)), count(s.Missed),
			brief(float64(s.Pending)), brief(rate), finding, m.look.text(c.about),
		})
		switch {
		case i == at && m.focus == PaneSessions:
			text = m.look.paint(roleSelected, m.pointed(text))
		case c.role != roleGood:
			text = m.look.paint(c.role, text)
		}
		lines = append(lines, text)
	}
	return append([]string{head}, window(lines, at, h-1)...)
}
