package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// updating says whether the goldens are to be written anew: teatest brings the flag.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// sizes are one of each shape.
var sizes = []struct{ w, h int }{{160, 48}, {80, 24}, {70, 18}, {50, 3}}

// scene is a state of a run, and the words that its screen must have: of the state line, at every size, and
// of the panes, at the two larger ones.
type scene struct {
	name  string
	tell  func(*story)
	state []string
	panes []string
}

func scenes() []scene {
	lively := func(s *story) { s.opened().flowing(41, 1200).contract("held") }
	return []scene{
		{"opening", func(s *story) {
			s.event(reader.Event{Kind: session.KindAPIRequest, Request: "stream_info"}).after(300 * time.Millisecond)
		}, []string{"OPENING", "first session is being made"}, []string{"contract not judged yet", "no session yet"}},
		{"calm", lively, []string{"LIVE", "#1 for 41s", "contract HELD"}, []string{"last msg 0.2s ago", "rate     1.2k/s", "lag 0.1s"}},
		{"silent", func(s *story) {
			lively(s)
			s.after(4*time.Second).event(reader.Event{Kind: session.KindSessionSilent, Session: 1, Deaf: 4 * time.Second}).snapshot(reader.StateRecovering, 49200)
		}, []string{"SILENT", "#1: no answer for 4.0s, asking"}, []string{"session silent", "contract HELD"}},
		{"replacing", func(s *story) {
			lively(s)
			s.after(4 * time.Second).event(reader.Event{Kind: session.KindSessionSilent, Session: 1, Deaf: 4 * time.Second})
			s.after(2*time.Second).lost(1, session.CauseAPISilent).snapshot(reader.StateRecovering, 49200, func(s *reader.Status) {
				s.Retry = reader.RetryStatus{Attempt: 2, NextAt: base.Add(48 * time.Second)}
				s.LastError = "no answer to $JS.API.CONSUMER.CREATE.ORDERS.reader-kT9xQ2mB-2 within 2s"
			})
		}, []string{"REPLACING", "#1: api silent, attempt 2"}, []string{"retry  attempt 2, next in 0.9s", "error  no answer to"}},
		{"deaf", func(s *story) {
			lively(s)
			s.lost(1, session.CauseNoResponders).after(31 * time.Second)
			s.contract("broken", "deaf for 31s at the most, allowed 12s").snapshot(reader.StateRecovering, 49200, func(s *reader.Status) { s.Retry.Attempt = 9 })
		}, []string{"DEAF", "for 31s, allowed 12s", "contract BROKEN"}, []string{"no responders"}},
		{"faults", func(s *story) {
			lively(s)
			s.fault(FaultStep{Name: "mute-heartbeats", Fault: "mute-heartbeats", Phase: FaultFired, Until: s.now.Add(10 * time.Second)})
			s.fault(FaultStep{Name: "latency", Fault: "latency(delay=50ms)", Phase: FaultFired, Until: s.now.Add(20 * time.Second)})
			s.fault(FaultStep{Name: "delete-consumer", Fault: "delete-consumer", Phase: FaultFired, Once: true})
			s.fault(FaultStep{Name: "mute-heartbeats", Fault: "mute-heartbeats", Phase: FaultActed})
			s.after(3*time.Second).take().press("A", "4")
		}, []string{"LIVE", "contract HELD"}, []string{
			"faults on 2", "3 fired, 2 on, ARMED", "ON: h mute-heartbeats, ends in 7s, has acted; l latency(delay=50ms), ends in 1", "[ARMED]",
		}},
		{"disconnected", func(s *story) {
			lively(s)
			s.event(reader.Event{Kind: session.KindDisconnected, Session: 1}).after(2*time.Second).snapshot(reader.StateDisconnected, 49200)
		}, []string{"DISCONNECTED", "for 2s: the connection is down"}, []string{"disconnected  session=1"}},
		{"denied", func(s *story) {
			lively(s)
			s.event(reader.Event{Kind: session.KindPermissionDenied, Session: 1, Text: "$JS.API.CONSUMER.MSG.NEXT.ORDERS.>", Err: errDenied})
			s.lost(1, session.CausePermission).after(time.Second).snapshot(reader.StateRecovering, 49200)
		}, []string{"DENIED", "the server denied $JS.API.CONSUMER.MSG"}, []string{"permission denied"}},
		{"closed", func(s *story) {
			lively(s)
			s.lost(1, session.CauseConsumerDeleted).replaced(2, session.CauseConsumerDeleted, 380*time.Millisecond, 120*time.Millisecond).flowing(5, 1200)
			s.event(reader.Event{Kind: session.KindClosed, Session: 2}).snapshot(reader.StateClosed, 55200).after(time.Second)
		}, []string{"CLOSED", "after 2 sessions, 55,200 messages"}, []string{"consumer deleted", "380ms", "120ms", "contract HELD"}},
		{"help", func(s *story) { lively(s); s.take().press("?") }, nil, []string{"keys and words", "next pane", "filter the events", "more: down"}},
		{"sessions", func(s *story) {
			lively(s)
			for n := 2; n <= 200; n++ {
				s.after(time.Second).lost(n-1, session.CauseGap).after(50*time.Millisecond).replaced(n, session.CauseGap, 50*time.Millisecond, 40*time.Millisecond)
			}
			s.snapshot(reader.StateReading, 60000, func(s *reader.Status) { s.Gaps = 199; s.Session.Number = 200 })
		}, []string{"LIVE", "#200 for 0s", "contract HELD"}, []string{"200, 199 replaced, longest deaf 50ms", "gaps 199", "T9xQ2mB-199"}},
	}
}

func TestGoldens(t *testing.T) {
	for _, c := range scenes() {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", c.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				s := newStory(t)
				c.tell(s)
				got := s.view(size.w, size.h)
				words := c.state
				if size.w >= 80 {
					words = append(words, c.panes...)
				}
				if size.w < 60 && len(words) > 1 { // one line has the state and the verdict
					words = words[:1]
				}
				s.has(got, words...)
				compare(t, filepath.Join("testdata", name+".golden"), got)
			})
		}
	}
}

// compare keeps a view as it was.
func compare(t *testing.T, path, got string) {
	t.Helper()
	var lines []string
	for _, line := range strings.Split(got, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	got = strings.Join(lines, "\n") + "\n"
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run go test ./tui -update, and look at it", err)
	}
	if got != string(want) {
		t.Errorf("not as in %s:\n%s\nbut\n%s", path, want, got)
	}
}
