package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Every fault of the catalogue has a key of its own, and can be made by it.
func TestFaultKeys(t *testing.T) {
	taken := map[string]string{}
	for _, e := range menu() {
		if len(e.key) != 1 || e.key == "0" || taken[e.key] != "" {
			t.Errorf("%s has the key %q, which is none of its own: %q has it", e.Name, e.key, taken[e.key])
		}
		taken[e.key] = e.Name
		if err := e.spec().Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if !e.Once && e.spec().Length() == 0 {
			t.Errorf("%s has no end", e.Name)
		}
	}
	if len(taken) != len(faultKeys) {
		t.Errorf("%d keys for %d faults", len(faultKeys), len(taken))
	}
}

func TestArmedFaults(t *testing.T) {
	s := newStory(t)
	s.opened().flowing(3, 100)
	s.press("!")
	s.has(s.view(80, 24), "not armed: A arms the faults")
	s.press("d", "A", "!")
	s.has(s.view(80, 24), "[ARMED]", "! a fault's key")
	s.press("d")
	s.has(s.view(160, 48), "delete-consumer: deletes the consumer that the reader uses at the moment (acts once)")
	s.press("!", "l", "!", "Y")
	s.has(s.view(160, 48), "partition: it needs a cluster")
	s.press("!", "S")
	s.has(s.view(80, 24), "purge-stream destroys messages: type ORDERS: _")
	s.press("O", "R", "D", "enter")
	s.has(s.view(80, 24), `purge-stream: not made: "ORD" is not "ORDERS"`)
	s.press("!", "S", "O", "R", "D", "E", "R", "S", "enter", "0", "A", "!")
	s.has(s.view(80, 24), "not armed")
	s.press("d", "0")
	s.fault(FaultStep{Name: "step-down-stream", Fault: "step-down-stream", Phase: FaultFailed, Why: "fault step-down-stream: stream ORDERS has one replica"}).take()
	s.has(s.view(80, 24), "step-down-stream failed: stream ORDERS has one replica")
	s.press("<")
	s.has(s.view(80, 24), "only a replay goes faster, slower, back or on")
	want := []string{"fire delete-consumer", "fire latency", "fire purge-stream ORDERS", "clear", "clear"}
	if !slices.Equal(s.done, want) {
		t.Errorf("got  %q\nwant %q", s.done, want)
	}
}

func TestArmedFromTheStart(t *testing.T) {
	s := newStory(t, func(o *Options) { o.Armed = true })
	s.take().press("4", "down", "down", "right", "enter", "!", "esc", "!", "9")
	if len(s.done) != 1 || !strings.HasPrefix(s.done[0], "fire ") {
		t.Errorf("got %q", s.done)
	}
	s.has(s.view(80, 24), `no fault has the key "9"`)
	s = newStory(t, func(o *Options) { o.Armed = true; o.Hands.Disarmed = "start with --arm" })
	s.take().press("!", "d", "A")
	s.has(s.view(80, 24), "start with --arm")
	if s.m.armed || len(s.done) > 0 {
		t.Error("armed without leave")
	}
}

func TestFilterFollowAndFreeze(t *testing.T) {
	s := newStory(t)
	s.opened()
	for i := range 500 {
		s.after(time.Second).event(reader.Event{Kind: session.KindCaughtUp, Session: i})
	}
	s.take()
	s.press("5")
	s.has(s.view(80, 24), "FOLLOWING, 502", "session=499")
	s.press("pgup", "up")
	s.has(s.view(80, 24), "scrolled back, f follows")
	before := s.view(80, 24)
	s.event(reader.Event{Kind: session.KindGap}).take()
	if after := s.view(80, 24); strings.Contains(after, "gap  session=0") || strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("it does not stay where it was scrolled to:\n%s", after)
	}
	s.press("f")
	s.has(s.view(80, 24), "FOLLOWING", "gap  session=0")
	s.press("/", "g", "a", "p", "|", "O", "p", "e", "n", "enter")
	s.has(s.view(80, 24), "/gap|Open]", "2 of 503 shown", "session opened")
	s.press("esc", " ")
	s.event(reader.Event{Kind: session.KindMissed, Session: 1, Count: 3}).take()
	if view := s.view(80, 24); strings.Contains(view, "missed  session=1") || !strings.Contains(view, "[FROZEN") {
		t.Errorf("not frozen:\n%s", view)
	}
	s.press(" ")
	s.has(s.view(80, 24), "missed  session=1")
}

func TestExpandAndCopy(t *testing.T) {
	s := newStory(t)
	s.opened().flowing(3, 100)
	s.after(4 * time.Second).event(reader.Event{Kind: session.KindSessionSilent, Session: 1, Deaf: 4 * time.Second})
	s.lost(1, session.CauseAnswersLost).replaced(2, session.CauseAnswersLost, 4*time.Second, time.Millisecond)
	s.event(reader.Event{Kind: session.KindSessionRetired, Session: 1}).take()
	s.press("1", "enter")
	s.has(s.view(160, 48), "12:00:03.100  last answer heard", "12:00:07.100  session silent  session=1", "session replaced  session=2", "12:00:07.100  session retired  session=1")
	s.press("y", "down", "y", "enter", "7", "y", "x", "q", "q", "ctrl+c")
	want := []string{"copy reader-kT9xQ2mB-2", "copy reader-kT9xQ2mB-1", "export", "quit", "interrupt", "interrupt"}
	if !slices.Equal(s.done, want) {
		t.Errorf("got  %q\nwant %q", s.done, want)
	}
}

// What was read last may be old, and a reader that has read all lags behind nothing.
func TestLagWhereNothingWaits(t *testing.T) {
	s := newStory(t)
	s.opened().flowing(3, 100).snapshot(reader.StateIdle, 300).take()
	s.has(s.view(80, 24), "lag 0.1s")
	s.after(2 * time.Second).take()
	s.has(s.view(80, 24), "lag none")
}

func TestZoomOfTheTimeline(t *testing.T) {
	s := newStory(t)
	s.opened().flowing(1200, 100)
	s.view(160, 48)
	s.press("7")
	s.has(s.view(160, 48), "the whole run, 1 column = 7.9s")
	s.press("+")
	s.has(s.view(160, 48), "1 column = 5.0s")
	s.press("+", "-", "-")
	s.has(s.view(160, 48), "the whole run")
	for range 30 {
		s.press("+")
	}
	s.has(s.view(160, 48), "1 column = 0.2s")
	s.view(80, 24)
	s.press("1", "-")
	s.has(s.view(80, 24), "the timeline is not on the screen: 7 shows it")
	s.has(s.view(160, 48), "1 column = 0.2s")
}

// A terminal of a few lines hides no question, no answer, and not that faults can be made.
func TestQuestionsOnSmallScreens(t *testing.T) {
	for _, h := range []int{1, 2, 10} {
		s := newStory(t)
		s.opened().flowing(3, 100)
		s.has(s.view(40, h), "LIVE")
		s.press("!")
		s.has(s.view(40, h), "not armed")
		s.press("A", "!")
		s.has(s.view(40, h), "! a fault's key")
		s.press("S")
		s.has(s.view(40, h), "purge-stream destroys")
		s.press("esc")
		s.has(s.view(40, h), "purge-stream: not made")
		s.after(7*time.Second).snapshot(reader.StateReading, 400).take()
		s.has(s.view(40, h), "LIVE")
		if h > 1 {
			s.has(s.view(40, h), "LIVE", "[ARMED]")
			s.press("?")
			s.has(s.view(40, h), "keys and words")
		}
	}
}

// Whatever others write and however the terminal is resized: no panic, no line too long, no sign that moves.
func TestHostileScreens(t *testing.T) {
	nasty := []string{
		strings.Repeat("漢字", 300), "\x1b[2J\x1b[31mred\x07", "a\nb\tc\r", "\u202eright\u200bzero", strings.Repeat("x", 5000), "e\u0301\u0301\u0301", "\xff\xfe", "👩‍👩‍👧‍👦 family",
	}
	s := newStory(t, func(o *Options) { o.ASCII = false; o.Title, o.Where = nasty[0], nasty[1] })
	s.opened()
	for i := range 10_000 {
		word := nasty[i%len(nasty)]
		s.after(time.Millisecond).event(reader.Event{Kind: session.KindReplaceFailed, Session: 1, Text: word, Err: errors.New(word)})
		s.feed.Put(Item{Time: s.now, Reader: -1, Source: FromLog, Line: word})
		if i%4000 == 0 {
			s.take()
		}
	}
	s.replaced(2, reader.Cause(nasty[0]), time.Hour, time.Hour)
	s.event(reader.Event{Kind: session.KindSessionReplaced, Session: 3, Consumer: nasty[0], Inbox: nasty[1], Cause: reader.Cause(nasty[1])})
	s.contract("broken", nasty...)
	s.fault(FaultStep{Name: "latency", Fault: nasty[1], Phase: FaultFired})
	s.snapshot(reader.StateRecovering, 1<<60, func(s *reader.Status) {
		s.LastError, s.Pending, s.Buffered = nasty[0], 1<<63, -1
		s.APIRequests = map[string]uint64{nasty[1]: 1 << 62}
		s.Retry.BudgetLeft = time.Hour
	})
	s.event(reader.Event{Kind: session.KindPermissionDenied, Text: nasty[1]})
	s.take()
	keys := []string{"tab", "enter", "up", "pgup", "+", "?", "down", "esc", "/", "漢", "enter", " ", "-", "A", "!", "x", "y", "home", "end", "1", "2", "3", "4", "5", "6", "7"}
	for i := range 150 {
		w, h := (i*37)%230, (i*13)%70
		if i%50 == 0 {
			w, h = 1, 1
		}
		view := s.view(w, h)
		if strings.ContainsAny(view, "\x1b\x07\t\r\u202e\u200b") {
			t.Fatalf("%dx%d: a sign that moves is drawn: %q", w, h, view)
		}
		s.press(keys[i%len(keys)])
	}
}

// Ten thousand items between two looks: lines beyond the room are left out and counted, what matters is not.
func TestFeedIsBounded(t *testing.T) {
	s := newStory(t)
	for i := range feedRoom + 100 {
		s.feed.Put(Item{Time: s.now, Source: FromRun, Line: fmt.Sprint("line ", i)})
		s.feed.Put(Item{Time: s.now, Snapshot: &Snapshot{Status: reader.Status{State: reader.StateReading, Delivered: uint64(i)}}})
	}
	s.event(reader.Event{Kind: session.KindSessionOpened, Session: 7}).take()
	if got := s.m.book; got.dropped != 100 || got.lines.total != feedRoom+1 || got.readers[0].number() != 7 || got.readers[0].status().Delivered != feedRoom+99 {
		t.Errorf("dropped %d, lines %d, delivered %d", got.dropped, got.lines.total, got.readers[0].status().Delivered)
	}
}

func TestManyReaders(t *testing.T) {
	names := []string{"ORDERS", "PAYMENTS", "AUDIT"}
	s := newStory(t, func(o *Options) { o.Readers = names })
	for n := range names {
		s.feed.Put(Item{Time: s.now, Reader: n, Line: "session opened", Source: FromReader, Event: &reader.Event{Time: s.now, Kind: session.KindSessionOpened, Session: 1, Consumer: names[n] + "-1"}})
		s.snapshotOf(n, reader.StateReading, 10)
	}
	s.after(time.Second)
	s.feed.Put(Item{Time: s.now, Reader: 2, Line: "session lost", Source: FromReader, Event: &reader.Event{Time: s.now, Kind: session.KindSessionLost, Session: 1, Cause: session.CauseGap}})
	s.snapshotOf(2, reader.StateRecovering, 10)
	view := s.view(80, 24)
	s.has(view, "3 readers, the most suspicious first", "REPLACING  AUDIT: #1: gap", "AUDIT: session lost")
	if !strings.Contains(view, "* AUDIT") {
		t.Errorf("the suspicious one is not the first:\n%s", view)
	}
	s.press("enter")
	view = s.view(80, 24)
	s.has(view, "AUDIT-1", "AUDIT: #1: gap")
	if strings.Contains(view, "ORDERS-1") {
		t.Errorf("not zoomed in:\n%s", view)
	}
	s.press("esc", "down", "enter")
	s.has(s.view(80, 24), "LIVE  ORDERS: #1")
}

func TestReplayAndSeek(t *testing.T) {
	s := newStory(t)
	var items []Item
	for i := range 100 {
		at := base.Add(time.Duration(i) * time.Second)
		items = append(items, Item{Time: at, Source: FromRun, Line: fmt.Sprint("second ", i, ".")})
	}
	slices.Reverse(items) // they are put in order
	s.m.Replay(items, 4)
	clock := base.Add(24 * time.Hour)
	s.m.Update(tickMsg(clock))
	s.m.Update(tickMsg(clock.Add(5 * time.Second)))
	look := func() string { s.m.resize(80, 24); return s.m.View() }
	s.has(look(), "second 20.", "[REPLAY 20s of 1m39s, x4]", "0:00:20")
	s.press("right", "right", ">")
	s.has(look(), "second 40.", "x8")
	s.press("left")
	view := look()
	s.has(view, "second 30.")
	if strings.Contains(view, "second 31.") {
		t.Errorf("what is to come is shown:\n%s", view)
	}
	s.press(" ")
	s.m.Update(tickMsg(clock.Add(time.Hour)))
	s.has(look(), "second 30.", "paused")
	s.press(" ", "A")
	s.m.Update(tickMsg(clock.Add(2 * time.Hour)))
	s.has(look(), "second 99.", "at its end")
	if s.m.armed {
		t.Error("a replay is armed")
	}
	if _, cmd := s.m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'q'}}); cmd == nil {
		t.Error("q does not end a replay")
	}
}

// The keys that the help tells are those that are bound, and each is told once.
func TestKeyTable(t *testing.T) {
	bound := map[string]bool{}
	for _, s := range keyMap.sections() {
		for _, k := range s.keys {
			if k.Help().Key == "" || k.Help().Desc == "" || len(k.Keys()) == 0 {
				t.Errorf("%v has no help", k.Keys())
			}
			if s.title == "Replay" {
				continue // the same keys move elsewhere
			}
			for _, key := range k.Keys() {
				if bound[key] {
					t.Errorf("%q is bound twice", key)
				}
				bound[key] = true
			}
		}
	}
	for _, k := range keyMap.short() {
		if shortWords[k.Help().Key] == "" {
			t.Errorf("%s has no word for the footer", k.Help().Key)
		}
	}
	if !strings.Contains(KeysMarkdown(), "| `q` | end the run") {
		t.Error(KeysMarkdown())
	}
}

func TestThemes(t *testing.T) {
	if _, err := NewModel(NewFeed(), Options{Theme: "neon"}); err == nil || !strings.Contains(err.Error(), "safe, classic, mono") {
		t.Errorf("got %v", err)
	}
	for _, theme := range Themes() {
		for _, colors := range []Colors{Colors16, Colors256, ColorsAll} {
			s := newStory(t, func(o *Options) { o.Theme, o.Colors = theme, colors })
			s.opened().flowing(2, 10)
			s.press("A")
			if view := s.view(80, 24); !strings.Contains(view, "\x1b[") {
				t.Errorf("%s: nothing is painted", theme)
			}
		}
	}
	for env, want := range map[string]Colors{
		"TERM=xterm-256color": Colors256, "TERM=xterm": Colors16, "TERM=xterm COLORTERM=truecolor": ColorsAll, "TERM=dumb": NoColors, "TERM=xterm-256color NO_COLOR=1": NoColors,
	} {
		if got := TerminalColors(strings.Fields(env)); got != want {
			t.Errorf("%s: %d, want %d", env, got, want)
		}
	}
}
