package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// The speeds of a replay.
const (
	slowest = 1.0 / 8
	fastest = 1024.0
)

// player plays the items of a past run.
type player struct {
	items  []Item // in the order of time
	at     int    // how many have been told
	time   time.Time
	clock  time.Time // of the screen, when time was right
	speed  float64
	paused bool
}

// Replay has the model play a past run, so many times as fast as it was. Items are put in the order of time.
func (m *Model) Replay(items []Item, speed float64) {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return a.Time.Compare(b.Time) })
	p := &player{items: items, speed: min(max(speed, slowest), fastest)}
	if len(items) > 0 {
		p.time = items[0].Time
	}
	m.replay = p
	m.now = p.time
}

func (p *player) end() time.Time {
	if len(p.items) == 0 {
		return p.time
	}
	return p.items[len(p.items)-1].Time
}

// advance plays what is due by a time of the screen's clock.
func (m *Model) advance(clock time.Time) {
	p := m.replay
	if !p.clock.IsZero() && !p.paused {
		passed := time.Duration(float64(clock.Sub(p.clock)) * p.speed)
		p.time = p.time.Add(max(passed, 0))
		if p.time.After(p.end()) {
			p.time = p.end()
		}
	}
	p.clock = clock
	m.now = p.time
	m.play()
}

// play folds in what had been told by the time of the replay.
func (m *Model) play() {
	p := m.replay
	for p.at < len(p.items) && !p.items[p.at].Time.After(p.time) {
		m.book.add(p.items[p.at])
		p.at++
	}
}

// seek goes to another time. Going back, what is known begins anew.
func (m *Model) seek(by time.Duration) {
	p := m.replay
	if len(p.items) == 0 {
		return
	}
	to := p.time.Add(by)
	if first := p.items[0].Time; to.Before(first) {
		to = first
	}
	if to.After(p.end()) {
		to = p.end()
	}
	if to.Before(p.time) {
		m.book, m.filtered, p.at = newBook(m.opts.Readers), filtered{}, 0
	}
	p.time, m.now = to, to
	m.play()
}

// seekKey does what a key of the replay asks for, and says whether it is one.
func (m *Model) seekKey(k tea.KeyMsg) bool {
	switch {
	case key.Matches(k, keyMap.slower):
		m.replay.speed = max(m.replay.speed/2, slowest)
	case key.Matches(k, keyMap.faster):
		m.replay.speed = min(m.replay.speed*2, fastest)
	case key.Matches(k, keyMap.seekBack):
		m.seek(-10 * time.Second)
	case key.Matches(k, keyMap.seekOn):
		m.seek(10 * time.Second)
	case key.Matches(k, keyMap.seekFarBack):
		m.seek(-time.Minute)
	case key.Matches(k, keyMap.seekFarOn):
		m.seek(time.Minute)
	default:
		return false
	}
	return true
}

// words tell where the replay is.
func (p *player) words() string {
	state := fmt.Sprintf("x%g", p.speed)
	switch {
	case p.paused:
		state = "paused, space goes on"
	case !p.time.Before(p.end()):
		state = "at its end"
	}
	first := p.end()
	if len(p.items) > 0 {
		first = p.items[0].Time
	}
	return fmt.Sprintf("[REPLAY %s of %s, %s]", age(p.time.Sub(first)), age(p.end().Sub(first)), state)
}
