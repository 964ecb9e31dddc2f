package commands

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/tui"
)

// screenTeller tells a screen, in the words of plain lines.
type screenTeller struct {
	put    func(tui.Item)
	reader int
}

func (t screenTeller) note(text string, facts ...string) {
	t.put(tui.Item{Time: time.Now(), Reader: t.reader, Source: tui.FromRun, Line: noteLine(text, facts).String()})
}

func (t screenTeller) event(e reader.Event) { t.put(eventItem(e, t.reader)) }

func eventItem(e reader.Event, number int) tui.Item {
	return tui.Item{Time: e.Time, Reader: number, Source: tui.FromReader, Line: plainEvent(e), Event: &e}
}

func (t screenTeller) firing(f chaos.Firing, acted int) {
	step := stepOf(f.Spec, string(f.Phase), f.Time)
	step.Acted = acted
	if f.Err != nil {
		step.Why = redact(f.Err.Error())
	}
	t.put(tui.Item{Time: f.Time, Reader: t.reader, Source: tui.FromFault, Line: firingLine(f, acted).String(), Fault: &step})
}

// stepOf is a step of a fault as the screen is told it.
func stepOf(s chaos.Spec, phase string, at time.Time) tui.FaultStep {
	entry, _ := chaos.FindFault(s.Name)
	step := tui.FaultStep{Name: s.Name, Fault: s.Fault(), Phase: phase, Once: entry.Once, Acted: -1}
	if length := s.Length(); phase == tui.FaultFired && length > 0 {
		step.Until = at.Add(length)
	}
	return step
}

func (t screenTeller) acted(f proxy.Firing, facts ...string) {
	step := tui.FaultStep{Fault: f.Fault, Phase: tui.FaultActed, Acted: 1}
	if s, err := chaos.ParseSpec(f.Fault); err == nil {
		step.Name = s.Name
	}
	t.put(tui.Item{Time: f.Time, Reader: t.reader, Source: tui.FromFault, Line: actedLine(f, facts).String(), Fault: &step})
}

// progress is told by snapshots.
func (t screenTeller) progress(time.Time, reader.Status, float64) {}

func (t screenTeller) snapshot(at time.Time, s reader.Status, h handed) {
	t.put(tui.Item{Time: at, Reader: t.reader, Snapshot: &tui.Snapshot{Status: s, Stored: h.stored, Read: h.read}})
}

func (t screenTeller) judged(at time.Time, v oracle.Verdict, final bool) {
	c := contractOf(v, final)
	t.put(tui.Item{Time: at, Reader: t.reader, Contract: &c})
}
