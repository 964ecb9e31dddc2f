package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/target/bad"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// everyTarget is each target, and each of its forms.
func everyTarget() []string {
	return append(Names(),
		"consume(durable=false)", "messages(durable=false)", "fetch(durable=false)", "legacy-fetch(durable=false)",
		"messages(max-wait=200ms)", "ordered-messages(max-wait=200ms)", "fetch(batch=7,max-wait=1s)", "legacy-fetch(batch=7,max-wait=1s)",
		"ordered-consume(expires=5s,heartbeat=500ms)", "ordered-messages(expires=5s,heartbeat=500ms)", "consume(expires=2s,heartbeat=1s)", "messages(heartbeat=2s)",
		"exec:"+bad.Command(bad.Good))
}

// Every target reads what is stored and what comes, once and in order, and leaves
// nothing when it is stopped.
func TestEveryTargetReads(t *testing.T) {
	for _, name := range everyTarget() {
		t.Run(shortened(name, 40), func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 500)
			kind := b.start(name)
			b.awaitRead(500)
			b.publish(501, 1000)
			b.awaitRead(1000)
			traits := kind.Traits()
			b.mu.Lock()
			last := b.read[len(b.read)-1]
			b.mu.Unlock()
			if traits.Process == (last.Sequence == 1000) || traits.Process == (last.ConsumerSequence > 0) || last.Time.IsZero() {
				t.Errorf("the last message is %+v", last)
			}
			b.stop()
			b.wantRead(1, 1000)
			if kind.Name() != name {
				t.Errorf("its name is %q", kind.Name())
			}
			for _, c := range b.consumers() {
				if c.Config.Durable != "" {
					t.Errorf("the durable %s is left", c.Name)
				}
			}
			if len(b.reports) > 0 && !strings.Contains(name, "heartbeat") { // short ones may be missed on a busy machine
				t.Errorf("it told %v", b.reports)
			}
		})
	}
}

// A filter of several subjects is heeded by every target.
func TestEveryTargetReadsItsSubjects(t *testing.T) {
	for _, name := range append(Names(), "exec:"+bad.Command(bad.Good)) {
		t.Run(shortened(name, 40), func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			for _, m := range [][2]string{{"s.a", "w-1"}, {"s.b", "other-1"}, {"s.c", "w-2"}, {"s.b", "other-2"}, {"s.a", "w-3"}} {
				if _, err := b.js.Publish(b.patient(), m[0], []byte(m[1])); err != nil {
					t.Fatal(err)
				}
			}
			b.in.Subjects = []string{"s.a", "s.c"}
			b.start(name)
			b.awaitRead(3)
			b.stop()
			b.wantRead(1, 3)
		})
	}
}

// A durable that was named is used, and stays.
func TestNamedDurables(t *testing.T) {
	for _, name := range []string{"reader", "consume", "messages", "fetch", "legacy-fetch", "exec:" + bad.Command(bad.Good)} {
		t.Run(shortened(name, 40), func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 10)
			b.in.Durable = "mine"
			b.start(name)
			b.awaitRead(10)
			b.stop()
			b.wantRead(1, 10)
			if all := b.consumers(); len(all) != 1 || all[0].Config.Durable != "mine" {
				t.Errorf("%d consumers, want the durable mine", len(all))
			}
		})
	}
}

// Ours tells its events up to its end, and its status.
func TestOurReaderTells(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.publish(1, 10)
	var also []reader.Event
	b.in.Config = reader.Config{Observer: func(e reader.Event) { also = append(also, e) }}
	b.start("reader")
	b.awaitRead(10)
	b.mu.Lock()
	status := b.status
	b.mu.Unlock()
	if s := status(); s.Session.Number != 1 || s.Delivered != 10 {
		t.Errorf("status %+v", s)
	}
	b.deleteConsumers()
	b.publish(11, 20)
	b.awaitRead(20)
	b.stop()
	b.wantRead(1, 20)
	for _, want := range []reader.Kind{session.KindSessionOpened, session.KindSessionReplaced, session.KindClosed} {
		if !slices.ContainsFunc(b.events, func(e reader.Event) bool { return e.Kind == want }) {
			t.Errorf("the event %s was not told", want)
		}
	}
	if len(also) == 0 {
		t.Error("the observer of the configuration was told nothing")
	}
	if all := b.consumers(); len(all) != 0 {
		t.Errorf("%d consumers are left", len(all))
	}
}

// The code behind a target works at its pace, and what it has in its hand does not
// hold up its end.
func TestPaceOfEveryTarget(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			end := b.pace.Stall()
			b.publish(1, 10)
			b.start(name)
			b.awaitRead(1)
			if n := len(b.ids()); n != 1 {
				t.Errorf("%d messages are read while the code stands still", n)
			}
			end()
			b.awaitRead(10)
			b.pace.Stall() // while it works on message 10, or a little later
			b.publish(11, 20)
			b.stop()
			b.wantRead(1, min(max(len(b.ids()), 10), 11))
		})
	}
}
