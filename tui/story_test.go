package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// story tells a model what a run would.
type story struct {
	t    *testing.T
	m    *Model
	feed *Feed
	now  time.Time
	done []string // what the hands did
}

// base is when every story begins.
var base = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newStory(t *testing.T, change ...func(*Options)) *story {
	t.Helper()
	s := &story{t: t, feed: NewFeed(), now: base}
	opts := Options{Title: "ORDERS  orders.>", Where: "nats://127.0.0.1:4222", ASCII: true}
	opts.Hands = Hands{
		Refused: func(_ int, f chaos.Spec) string {
			if f.Name == "partition" {
				return "it needs a cluster"
			}
			return ""
		},
		Target: func(int) string { return "ORDERS" },
		Fire: func(_ int, f chaos.Spec, typed string) error {
			s.done = append(s.done, strings.TrimSpace("fire "+f.Fault()+" "+typed))
			return nil
		},
		Clear:     func() (string, error) { s.done = append(s.done, "clear"); return "2 faults are undone", nil },
		Export:    func() (string, error) { s.done = append(s.done, "export"); return "written: run.jsonl", nil },
		Copy:      func(text string) error { s.done = append(s.done, "copy "+text); return nil },
		Quit:      func() { s.done = append(s.done, "quit") },
		Interrupt: func() { s.done = append(s.done, "interrupt") },
	}
	for _, f := range change {
		f(&opts)
	}
	m, err := NewModel(s.feed, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.m = m
	return s
}

// after lets time pass.
func (s *story) after(d time.Duration) *story {
	s.now = s.now.Add(d)
	return s
}

func (s *story) event(e reader.Event) *story {
	e.Time = s.now
	s.feed.Put(Item{Time: s.now, Source: FromReader, Line: strings.ReplaceAll(string(e.Kind), "_", " ") + fmt.Sprintf("  session=%d", e.Session), Event: &e})
	return s
}

// opened tells a first session.
func (s *story) opened() *story {
	s.event(reader.Event{Kind: session.KindAPIRequest, Request: "consumer_create"})
	s.after(100 * time.Millisecond)
	s.event(reader.Event{Kind: session.KindSessionOpened, Session: 1, Consumer: "reader-kT9xQ2mB-1", Inbox: "_INBOX.Lq7a.1.*", From: 1, Took: 110 * time.Millisecond})
	return s.snapshot(reader.StateReading, 0)
}

// lost and replaced tell of session n.
func (s *story) lost(n int, cause reader.Cause) *story {
	return s.event(reader.Event{Kind: session.KindSessionLost, Session: n, Cause: cause})
}

func (s *story) replaced(n int, cause reader.Cause, deaf, took time.Duration) *story {
	return s.event(reader.Event{
		Kind: session.KindSessionReplaced, Session: n, Cause: cause, Deaf: deaf, Took: took,
		Consumer: fmt.Sprintf("reader-kT9xQ2mB-%d", n), Inbox: fmt.Sprintf("_INBOX.Lq7a.%d.*", n),
	})
}

// snapshot tells where the reader stands.
func (s *story) snapshot(state reader.State, delivered uint64, change ...func(*reader.Status)) *story {
	return s.snapshotOf(0, state, delivered, change...)
}

func (s *story) snapshotOf(n int, state reader.State, delivered uint64, change ...func(*reader.Status)) *story {
	number := 0
	if row := s.take().m.book.readers[n].sessions.current(); row != nil {
		number = row.number
	}
	status := reader.Status{
		State: state, Since: s.now.Add(-2 * time.Second), Stream: "ORDERS", Cursor: delivered, Position: delivered, Delivered: delivered, Bytes: delivered * 100,
		Session: reader.SessionStatus{Number: number}, Pulls: 3, APIRequests: map[string]uint64{"consumer_create": 2, "stream_info": 2},
	}
	for _, f := range change {
		f(&status)
	}
	s.feed.Put(Item{Time: s.now, Reader: n, Snapshot: &Snapshot{Status: status, Stored: s.now.Add(-300 * time.Millisecond), Read: s.now.Add(-200 * time.Millisecond)}})
	return s
}

// flowing tells snapshots for seconds of a steady rate.
func (s *story) flowing(secondsLong int, rate uint64) *story {
	at := s.m.book.readers[0].snapshot.Status.Delivered
	for range secondsLong * 2 {
		at += rate / 2
		s.after(500*time.Millisecond).snapshot(reader.StateReading, at)
		s.take()
	}
	return s
}

func (s *story) contract(finding string, why ...string) *story {
	mark := Kept
	if finding == "broken" {
		mark = Broken
	}
	s.feed.Put(Item{Time: s.now, Contract: &Contract{
		Finding: finding, Deaf: 12 * time.Second, Why: why,
		Promises: []Promise{
			{mark, "no message lost", "0 of 18340"}, {Kept, "none handed out twice", "0 of 18340"}, {Kept, "order kept", "0 of 18340"},
			{Kept, "never deaf for long", "longest 2.39s of 12s"}, {Kept, "few API requests", "14, at most 9 a minute"}, {Open, "nothing left on the server", "counted at the end"},
		},
	}})
	return s
}

func (s *story) fault(f FaultStep) *story {
	s.feed.Put(Item{Time: s.now, Source: FromFault, Line: "fault " + f.Fault + " " + f.Phase, Fault: &f})
	return s
}

// take has the model see what was told.
func (s *story) take() *story {
	s.m.Update(tickMsg(s.now))
	return s
}

// press presses keys, and does what they ask for.
func (s *story) press(keys ...string) *story {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		for name, special := range map[string]tea.KeyType{
			"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
			"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "ctrl+c": tea.KeyCtrlC, " ": tea.KeySpace,
		} {
			if k == name {
				msg = tea.KeyMsg{Type: special}
				if special == tea.KeySpace {
					msg.Runes = []rune{' '}
				}
			}
		}
		_, cmd := s.m.Update(msg)
		s.do(cmd)
	}
	return s
}

// do runs a command as the loop would, but for those that only blink.
func (s *story) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case doneMsg, manyMsg:
		s.m.Update(msg)
	}
}

// view draws at a size, and checks that nothing is larger than the terminal.
func (s *story) view(w, h int) string {
	s.t.Helper()
	s.take().m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	view := s.m.View()
	s.fits(view, w, h)
	return view
}

func (s *story) fits(view string, w, h int) {
	s.t.Helper()
	if w <= 0 || h <= 0 {
		if view != "" {
			s.t.Errorf("%dx%d: something is drawn", w, h)
		}
		return
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		s.t.Errorf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > w {
			s.t.Errorf("%dx%d: line %d is %d wide: %q", w, h, i, n, line)
		}
	}
}

// has checks that words are on the screen.
func (s *story) has(view string, words ...string) {
	s.t.Helper()
	for _, word := range words {
		if !strings.Contains(view, word) {
			s.t.Errorf("%q is not on the screen:\n%s", word, view)
		}
	}
}

var errDenied = errors.New("nats: permissions violation for publish")
