package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/tui"
)

// past is a run that is over, as its file tells it.
type past struct {
	head    recordHead
	items   []tui.Item
	summary string // the last line; "": the run was cut short
	cut     bool   // the last line is not whole
}

// maxLine is how long a line of a record may be.
const maxLine = 8 << 20

// readPast reads a record, what --format json has printed, or the result of chaos run.
func readPast(path string) (past, error) {
	f, err := os.Open(path)
	if err != nil {
		return past{}, usage{problem: fmt.Sprintf("flag --%s: %v", flagReplay, err), hint: "name a file that watch --" + flagRecord + " has written", cause: err}
	}
	defer f.Close() //nolint:errcheck // it was only read
	wrong := func(err error) error {
		return usage{problem: fmt.Sprintf("flag --%s: %s: %v", flagReplay, path, err), hint: "it takes what watch --" + flagRecord + ", watch --json and chaos run --json write", cause: err}
	}
	in := bufio.NewReaderSize(f, 64<<10)
	first, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return past{}, wrong(err)
	}
	if len(bytes.TrimSpace(first)) == 1 { // an indented document
		set, err := result.DecodeSet(in)
		if err != nil {
			return past{}, wrong(err)
		}
		return pastOfRuns(set), nil
	}
	p, err := readLines(in)
	if err == nil && len(p.items) == 0 {
		err = errors.New("it tells nothing that can be shown")
	}
	if err != nil {
		return past{}, wrong(err)
	}
	return p, nil
}

// readLines reads JSON lines.
func readLines(in io.Reader) (past, error) {
	var p past
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if !json.Valid(lines.Bytes()) {
			if n > 1 && !lines.Scan() {
				p.cut = true // by a kill
				break
			}
			return p, fmt.Errorf("line %d is no JSON", n)
		}
		if err := p.line(lines.Bytes()); err != nil {
			return p, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return p, lines.Err()
}

// line takes in a line of a record.
func (p *past) line(b []byte) error {
	var kind struct {
		Schema string `json:"schema"`
		Reader string `json:"reader"`
	}
	if err := json.Unmarshal(b, &kind); err != nil {
		return err
	}
	number := p.number(kind.Reader)
	add := func(i tui.Item) { i.Reader = number; p.items = append(p.items, i) }
	switch kind.Schema {
	case recordSchema:
		return json.Unmarshal(b, &p.head)
	case session.EventSchema:
		var e reader.Event
		if err := json.Unmarshal(b, &e); err != nil {
			return err
		}
		add(eventItem(e, number))
	case noteSchema:
		item, err := noteItem(b)
		if err != nil {
			return err
		}
		add(item)
	case faultSchema:
		item, err := faultItem(b)
		if err != nil {
			return err
		}
		add(item)
	case snapshotSchema, progressSchema:
		var s snapshotJSON
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		add(tui.Item{Time: s.Time, Snapshot: &tui.Snapshot{Status: s.Status, Stored: s.Stored, Read: s.Read}})
	case contractSchema:
		var c contractJSON
		if err := json.Unmarshal(b, &c); err != nil {
			return err
		}
		add(tui.Item{Time: c.Time, Contract: &c.Contract})
	case summarySchema:
		return p.sum(b, add)
	default:
		return fmt.Errorf("unknown schema %q", kind.Schema)
	}
	return nil
}

// number is which reader a line tells of; -1: of none. One that the head does not name is a new one.
func (p *past) number(name string) int {
	if name == "" && len(p.head.Readers) > 0 {
		return -1
	}
	if i := slices.Index(p.head.Readers, name); i >= 0 || name == "" {
		return max(i, 0)
	}
	p.head.Readers = append(p.head.Readers, name)
	return len(p.head.Readers) - 1
}

// sum takes in the last line.
func (p *past) sum(b []byte, add func(tui.Item)) error {
	var s summaryJSON
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, s.Time)
	if err != nil {
		return err
	}
	v := oracle.Verdict{
		Finding: oracle.Finding(s.Contract), Delivered: s.Delivered, Lost: s.Lost, Duplicated: s.Duplicated, OutOfOrder: s.OutOfOrder,
		Sessions: s.Sessions, LongestDeaf: time.Duration(s.LongestDeafNS), APIRequests: s.APIRequests, Orphans: oracle.NotCounted,
	}
	if s.Orphans != nil {
		v.Orphans = *s.Orphans
	}
	p.summary = report.Summary(v)
	add(tui.Item{Time: at, Source: tui.FromRun, Line: p.summary})
	return nil
}

// noteItem reads a remark.
func noteItem(b []byte) (tui.Item, error) {
	var facts map[string]string
	if err := json.Unmarshal(b, &facts); err != nil {
		return tui.Item{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, facts["time"])
	if err != nil {
		return tui.Item{}, err
	}
	l := line{sentence: facts["text"]}
	for _, key := range sortedKeys(facts) {
		if key != "schema" && key != "type" && key != "time" && key != "text" && key != "reader" {
			l.add(key, facts[key])
		}
	}
	return tui.Item{Time: at, Source: tui.FromRun, Line: l.String()}, nil
}

// faultItem reads a step of a fault.
func faultItem(b []byte) (tui.Item, error) {
	var f struct {
		faultJSON
		Frame json.RawMessage `json:"frame"` // in place of one that may have no verb
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return tui.Item{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, f.Time)
	if err != nil {
		return tui.Item{}, err
	}
	s, err := chaos.ParseSpec(f.Fault)
	if err != nil {
		s = chaos.Spec{Name: f.Fault} // of another version
	}
	step := stepOf(s, f.Phase, at)
	if err != nil {
		step.Once = true // its end may not be told
	}
	var text string
	if f.Phase == tui.FaultActed {
		var frame proxy.Frame
		_ = json.Unmarshal(f.Frame, &frame) // what cannot be read is left out of the line
		text = actedLine(proxy.Firing{Time: at, ID: f.ID, Fault: f.Fault, Frame: frame}, nil).String()
	} else {
		firing := chaos.Firing{Time: at, Spec: s, Phase: chaos.Phase(f.Phase), Target: f.Target, Took: time.Duration(f.TookNS)}
		if f.Error != "" {
			firing.Err = errors.New(f.Error)
		}
		acted := -1
		if f.Acted != nil {
			acted = *f.Acted
		}
		step.Acted = acted
		text = firingLine(firing, acted).String()
	}
	return tui.Item{Time: at, Source: tui.FromFault, Line: text, Fault: &step}, nil
}

// replay shows a past run on the screen, or as lines where there is none.
func (p *program) replay(c *cli.Context, plan watchPlan) error {
	run, err := readPast(plan.replay)
	if err != nil {
		return err
	}
	if run.cut {
		p.note("warning: the last line of %s is not whole: the run was cut short", plan.replay)
	}
	if !plan.screen {
		for _, i := range run.items {
			if i.Line != "" && i.Line != run.summary {
				text := i.Line
				if i.Reader >= 0 && i.Reader < len(run.head.Readers) {
					text = run.head.Readers[i.Reader] + ": " + text
				}
				if _, err := fmt.Fprintf(p.stdout, "%s %s\n", i.Time.Local().Format(plainTime), visible(text)); err != nil {
					return err
				}
			}
		}
		return p.lastLine(run)
	}
	for i := range run.items {
		run.items[i].Time = run.items[i].Time.Local()
	}
	interrupted := c.Context.Err
	var screen *tui.Screen
	model, err := tui.NewModel(tui.NewFeed(), tui.Options{
		Title: strings.TrimSpace("replay of " + run.head.Title), Where: run.head.Where, Readers: run.head.Readers,
		Theme: plan.look.theme, Colors: plan.look.colors, ASCII: plan.look.ascii,
		Hands: tui.Hands{
			Interrupt: func() { interrupted = func() error { return context.Canceled } },
			Copy:      func(text string) error { return screen.Copy(text) },
		},
	})
	if err != nil {
		return err
	}
	model.Replay(run.items, plan.speed)
	screen = tui.NewScreen(model, p.stdin, mustFile(p.stdout))
	if err := show(c.Context, screen, plan.crashes); err != nil {
		return err
	}
	if interrupted() != nil {
		return outcome{exitInterrupted}
	}
	return p.lastLine(run)
}

// visible keeps a text of a file on its line.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// show draws a screen that nothing but its keys and a signal ends.
func show(ctx context.Context, screen *tui.Screen, crash *crashes) error {
	stop := context.AfterFunc(ctx, screen.Kill)
	defer stop()
	err := screen.Run()
	var crashed *tui.CrashError
	if errors.As(err, &crashed) {
		crash.caught(crashed.Value, crashed.Stack)
		return crash.err()
	}
	return err
}

// lastLine prints what became of a past run.
func (p *program) lastLine(run past) error {
	if run.summary == "" {
		run.summary = "the record ends before the run does: there is no verdict"
	}
	_, err := fmt.Fprintln(p.stdout, visible(run.summary))
	return err
}
