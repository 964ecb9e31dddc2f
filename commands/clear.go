package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/owner"
)

const clearSchema = "nats-reader/clear/v1"

// undoLimit bounds the undoing of one fault, beside the connection's own limit.
const undoLimit = 30 * time.Second

// leftThing is one thing that a process has left, and what became of it.
type leftThing struct {
	Kind  string `json:"kind"` // fault, folder
	What  string `json:"what"` // in words: what is done about it
	Owner int    `json:"owner_pid,omitempty"`
	Since string `json:"since,omitempty"`
	State string `json:"state"` // cleared, found (dry run), spared, left
	Why   string `json:"why,omitempty"`
}

// The states of a leftThing.
const (
	stateCleared = "cleared"
	stateFound   = "found"
	stateSpared  = "spared"
	stateLeft    = "left"
)

// clear undoes what dead processes have left.
func (p *program) clear(c *cli.Context, asJSON bool) error {
	dryRun := c.Bool(flagDryRun)
	things, err := p.clearJournals(c, dryRun)
	if err != nil {
		return err
	}
	folders, err := clearFolders(dryRun)
	if err != nil {
		return err
	}
	things = append(things, folders...)
	if err := printCleared(p.stdout, things, dryRun, asJSON); err != nil {
		return err
	}
	switch {
	case c.Context.Err() != nil:
		return outcome{exitInterrupted}
	case slices.ContainsFunc(things, func(t leftThing) bool { return t.State == stateLeft }):
		return outcome{exitWarning}
	default:
		return nil
	}
}

// clearJournals undoes the faults of every journal whose process is dead.
func (p *program) clearJournals(c *cli.Context, dryRun bool) ([]leftThing, error) {
	dir, err := chaos.JournalDir()
	if err != nil {
		return nil, usage{problem: err.Error(), hint: "set XDG_CACHE_HOME or HOME as it was for the process that was killed", cause: err}
	}
	journals, err := chaos.Journals(dir)
	if err != nil {
		return nil, err
	}
	var things []leftThing
	for i := range journals {
		j := &journals[i]
		if j.Err != nil {
			things = append(things, leftThing{Kind: "fault", What: "read " + j.Path, Owner: j.PID, State: stateLeft, Why: redact(j.Err.Error())})
			continue
		}
		// The newest first: a stream that is to be made again is one that is to be removed then.
		for _, e := range slices.Backward(slices.Clone(j.Entries)) {
			things = append(things, p.clearEntry(c, j, e, dryRun))
		}
		if len(j.Entries) == 0 && j.Owner == owner.Dead && !dryRun {
			if err := j.Remove(); err != nil {
				return things, err
			}
		}
	}
	return things, nil
}

func (p *program) clearEntry(c *cli.Context, j *chaos.LeftJournal, e chaos.Entry, dryRun bool) leftThing {
	t := leftThing{Kind: "fault", What: e.String() + " on " + redact(e.Place.Servers) + " (" + e.Fault + ")", Owner: j.PID, Since: stamp(e.Time)}
	switch {
	case j.Owner == owner.Alive:
		t.State, t.Why = stateSpared, "its process is alive and undoes it"
	case j.Owner == owner.Unknown:
		t.State, t.Why = stateLeft, "nobody can tell whether its process is alive: "+j.Path
	case dryRun:
		t.State = stateFound
	default:
		t.State = stateCleared
		err := p.undoEntry(c, e)
		if err == nil {
			err = j.Done(e.ID)
		}
		if err != nil {
			t.State, t.Why = stateLeft, redact(oneLine(explainError(err).problem))
		}
	}
	return t
}

// undoEntry undoes one fault on the server it was made on.
func (p *program) undoEntry(c *cli.Context, e chaos.Entry) error {
	s, err := p.settingsAt(c, e.Place)
	if err != nil {
		return err
	}
	nc, err := p.connect(c.Context, s)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := s.jetStream(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, undoLimit)
	defer cancel()
	return e.Undo(ctx, js)
}

// clearFolders removes what labs of dead owners have left.
func clearFolders(dryRun bool) ([]leftThing, error) {
	folders, err := lab.Leftovers()
	if err != nil {
		return nil, err
	}
	var things []leftThing
	for _, f := range folders {
		if f.Settle() {
			continue // its keeper was about to remove it
		}
		t := leftThing{Kind: "folder", What: "remove " + f.Dir, Owner: f.KeeperPID}
		if len(f.Processes) > 0 {
			t.What += fmt.Sprintf(" and end its servers %v", f.Processes)
		}
		switch {
		case f.Leaving():
			t.State, t.Why = stateLeft, "its keeper was left alone and does not end: end that process, and clear again"
		case f.Keeper == owner.Alive:
			t.State, t.Why = stateSpared, "a lab uses it"
		case f.Keeper == owner.Unknown:
			t.State, t.Why = stateLeft, "nobody can tell whether its owner is alive: remove it by hand"
		case dryRun:
			t.State = stateFound
		default:
			t.State = stateCleared
			if err := f.Remove(); err != nil {
				t.State, t.Why = stateLeft, err.Error()
			}
		}
		things = append(things, t)
	}
	return things, nil
}

func printCleared(w io.Writer, things []leftThing, dryRun, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(struct {
			Schema string      `json:"schema"`
			DryRun bool        `json:"dry_run"`
			Things []leftThing `json:"things"`
		}{clearSchema, dryRun, append([]leftThing{}, things...)})
	}
	var text strings.Builder
	if dryRun {
		text.WriteString("dry run: nothing is changed\n")
	}
	did := 0
	for _, t := range things {
		l := line{sentence: t.State + ": " + t.What}
		l.number("owner", uint64(max(t.Owner, 0)))
		l.add("since", t.Since)
		l.add("because", t.Why)
		text.WriteString(l.String() + "\n")
		if t.State != stateSpared {
			did++
		}
	}
	if did == 0 {
		text.WriteString("nothing to clear\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
