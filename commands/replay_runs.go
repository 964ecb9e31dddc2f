package commands

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/tui"
)

// pastOfRuns shows the results of chaos run. Several runs are several readers, which begin at the same time.
func pastOfRuns(set result.Set) past {
	var p past
	for i, run := range set.Runs {
		if len(set.Runs) > 1 {
			p.head.Readers = append(p.head.Readers, run.Name+" "+run.Target)
		}
		shift := time.Duration(0)
		if i > 0 {
			shift = set.Runs[0].Began.Sub(run.Began)
		}
		for _, item := range itemsOf(run) {
			item.Time, item.Reader = item.Time.Add(shift), i
			p.items = append(p.items, item)
		}
		p.head.Title = cmp.Or(run.Title, run.Name) + ", target " + run.Target
		p.head.Where = "nats-server " + run.Server.Version
		p.summary = report.Summary(run.Verdict)
	}
	if len(set.Runs) > 1 {
		p.head.Title, p.summary = "runs of chaos run", ""
	}
	return p
}

// itemsOf is a run as a screen is told it.
func itemsOf(run result.Run) []tui.Item {
	var items []tui.Item
	say := func(at time.Time, source tui.Source, text string, step *tui.FaultStep) {
		items = append(items, tui.Item{Time: at, Source: source, Line: text, Fault: step})
	}
	for _, ph := range run.Phases {
		say(ph.From, tui.FromRun, "phase "+ph.Name, nil)
	}
	for _, n := range run.Notes {
		say(n.Time, tui.FromRun, oneLine(n.Text), nil)
	}
	for _, f := range run.Faults {
		s, err := chaos.ParseSpec(f.Text)
		if err != nil {
			s = chaos.Spec{Name: f.Text}
		}
		fired, ended := stepOf(s, tui.FaultFired, f.From), stepOf(s, tui.FaultEnded, f.To)
		fired.Until = f.To
		l := line{sentence: "fault " + f.Text + " fired"}
		if f.Target != "" {
			l.fields = append(l.fields, f.Target)
		}
		l.add("error", f.Error)
		say(f.From, tui.FromFault, l.String(), &fired)
		if !fired.Once && !f.To.IsZero() {
			say(f.To, tui.FromFault, "fault "+f.Text+" ended", &ended)
		}
	}
	for _, raw := range run.Events {
		var e reader.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			say(run.Ended, tui.FromLog, "an event cannot be read: "+err.Error(), nil)
			continue
		}
		items = append(items, eventItem(e, 0))
	}
	items = append(items, seriesOf(run)...)
	contract := contractOf(run.Verdict, true)
	items = append(items, tui.Item{Time: run.Ended, Contract: &contract})
	say(run.Ended, tui.FromRun, report.Summary(run.Verdict), nil)
	return items
}

// seriesOf are the figures of a run as snapshots, one a step.
func seriesOf(run result.Run) []tui.Item {
	var items []tui.Item
	step := run.Series.Step
	delivered := 0.0
	for i, rate := range run.Series.Read {
		at := run.Series.From.Add(time.Duration(i+1) * step)
		delivered += rate * step.Seconds()
		s := reader.Status{State: reader.StateReading, Since: run.Began, Delivered: uint64(delivered + 0.5), APIRequests: map[string]uint64{}}
		if i < len(run.Series.Lag) {
			s.Pending = run.Series.Lag[i]
		}
		for _, one := range run.Sessions {
			if !one.From.After(at) {
				s.Session = reader.SessionStatus{Number: one.Number, Consumer: one.Consumer, Created: one.From}
				s.Since = one.From
			}
		}
		if !at.Before(run.Ended.Add(-step)) {
			s.State, s.APIRequests = reader.StateClosed, run.APIRequests
		}
		items = append(items, tui.Item{Time: at, Snapshot: &tui.Snapshot{Status: s}})
	}
	return items
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
