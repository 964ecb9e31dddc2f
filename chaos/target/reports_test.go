package target

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever a target tells, and however often: what it comes to is bounded.
func TestReportsAreBounded(t *testing.T) {
	var told []Report
	r := newReports(func(m Report) { told = append(told, m) }, newGate())
	for range 100_000 {
		r.say("the same")
	}
	if len(told) != 6 || told[5].Times != 100_000 {
		t.Errorf("told %v", told)
	}
	told = nil
	for n := range 1000 {
		r.say("another one, %d %s", n, strings.Repeat("x", 10_000))
	}
	r.end()
	last := told[len(told)-1]
	if len(told) != maxReports || last.Times != 1000-maxReports+1 || !strings.Contains(last.Text, "937 other things") {
		t.Errorf("told %d, the last is %+v", len(told), last)
	}
	for _, m := range told {
		if len(m.Text) > maxReportText+40 {
			t.Errorf("a text of %d bytes", len(m.Text))
		}
	}
	newReports(nil, newGate()).say("to nobody")
}

// Nothing passes a closed gate, and closing waits for what is inside.
func TestGate(t *testing.T) {
	g := newGate()
	inside, goOn, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		if !g.enter() {
			t.Error("an open gate is shut")
		}
		close(inside)
		<-goOn
		close(left)
		g.leave()
	}()
	<-inside
	closed := make(chan struct{})
	go func() { g.close(); close(closed) }()
	close(goOn)
	<-closed
	select {
	case <-left:
	default:
		t.Error("it closed with somebody inside")
	}
	if g.enter() {
		t.Error("a shut gate is open")
	}
	g.close() // again

	r := newReports(func(m Report) { t.Error(fmt.Sprint("told behind a shut gate: ", m)) }, g)
	r.say("too late")
	r.end()
}
