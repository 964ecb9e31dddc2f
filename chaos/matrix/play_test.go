package matrix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// told collects what Play tells.
type told struct {
	mu     sync.Mutex
	begun  []Cell
	ended  []Outcome
	onTell func(Progress)
}

func (l *told) tell(p Progress) {
	l.mu.Lock()
	if p.Outcome == nil {
		l.begun = append(l.begun, p.Cell)
	} else {
		l.ended = append(l.ended, *p.Outcome)
	}
	do := l.onTell
	l.mu.Unlock()
	if do != nil {
		do(p)
	}
}

func find(t *testing.T, all []Outcome, target, fault string) Outcome {
	t.Helper()
	i := slices.IndexFunc(all, func(o Outcome) bool { return o.Target == target && o.Fault == fault })
	if i < 0 {
		t.Fatalf("no cell %s %s in %v", target, fault, all)
	}
	return all[i]
}

// Ours heals; nats.go's Consume gives up where its consumer is deleted. An interrupted matrix goes on where it was.
func TestPlay(t *testing.T) {
	m := small(t)
	folder := filepath.Join(t.TempDir(), "cells")
	f := opened(t, folder, m)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	first := &told{onTell: func(p Progress) {
		if p.Outcome != nil {
			interrupt()
		}
	}}
	cells, err := m.Play(ctx, Options{Parallel: 1, Folder: f, Progress: first.tell})
	closed(t, f)
	if !errors.Is(err, context.Canceled) || len(cells) != 1 || len(first.ended) != 1 {
		t.Fatalf("%v: %v", err, cells)
	}
	if r := m.Result(Made{}, cells); r.Whole() || len(r.Cells) != 1 {
		t.Errorf("%+v", r)
	}

	f = opened(t, folder, m)
	second := &told{}
	cells, err = m.Play(t.Context(), Options{Parallel: 3, Folder: f, Progress: second.tell})
	closed(t, f)
	if err != nil || len(cells) != 4 || len(second.begun) != 3 || slices.Contains(second.begun, first.ended[0].Cell) {
		t.Fatalf("%v: %v, begun %v", err, cells, second.begun)
	}
	for _, o := range cells {
		if o.Target == "reader" && (o.Finding != oracle.Held || o.End != Reads || o.Lost+o.Duplicated+o.OutOfOrder > 0) {
			t.Errorf("ours: %+v", o)
		}
	}
	if o := find(t, cells, "consume", "quick-deleted"); o.Finding != oracle.Broken || o.End != GaveUp {
		t.Errorf("%+v", o)
	}
	if o := find(t, cells, "consume", "quick-cut"); o.Finding != oracle.Held || o.Delivered < o.Acknowledged {
		t.Errorf("%+v", o)
	}
	r := m.Result(Made{}, cells)
	if !r.Whole() || r.Of("reader").Held != 2 || r.finding() != oracle.Held || r.Of(r.Targets...).Finding() != oracle.Broken {
		t.Errorf("%+v", r)
	}

	f = opened(t, folder, m)
	defer closed(t, f)
	third := &told{}
	if cells, err = m.Play(t.Context(), Options{Parallel: 3, Folder: f, Progress: third.tell}); err != nil || len(cells) != 4 || len(third.begun) != 0 {
		t.Errorf("%v: %v, begun %v", err, cells, third.begun)
	}
}

// What could not be judged is played again.
func TestUnknownIsPlayedAgain(t *testing.T) {
	m := small(t)
	m.Targets, m.Faults = []string{"exec:exit 5", "reader"}, m.Faults[:1]
	cells, err := m.Play(t.Context(), Options{Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	if o := find(t, cells, "exec:exit 5", "quick-deleted"); o.Finding != oracle.Unknown || o.End != None || o.Error == "" {
		t.Errorf("%+v", o)
	}
	if missing := m.Missing(cells); len(missing) != 1 || missing[0].Target != "exec:exit 5" {
		t.Errorf("%v", missing)
	}
}

func TestTimeout(t *testing.T) {
	m := small(t)
	m.Settle = time.Hour
	cells, err := m.Play(t.Context(), Options{Parallel: 4, Timeout: 3 * time.Second})
	if !errors.Is(err, ErrTimeout) || slices.ContainsFunc(cells, func(o Outcome) bool { return o.End != GaveUp }) {
		t.Errorf("%v: %v", err, cells)
	}
}

// A cell that cannot be kept ends the matrix: what comes after it would be lost, too.
func TestNoPlaceToKeep(t *testing.T) {
	m := small(t)
	path := filepath.Join(t.TempDir(), "f")
	f := opened(t, path, m)
	defer closed(t, f)
	l := &told{onTell: func(Progress) { _ = os.RemoveAll(filepath.Join(path, cellsFolder)) }}
	cells, err := m.Play(t.Context(), Options{Parallel: 1, Folder: f, Progress: l.tell})
	if err == nil || len(cells) != 0 || len(l.begun) != 1 {
		t.Errorf("%v: %v, begun %v", err, cells, l.begun)
	}
}

// The environment can name another server than the one that the cell is said to be played on.
func TestAnotherServer(t *testing.T) {
	p := &play{}
	o := Outcome{Cell: Cell{Server: "2.10.22"}, Version: "2.14.0", Finding: oracle.Held}
	p.wrongServer(&o)
	if o.Finding != oracle.Unknown || len(o.Reasons) != 1 {
		t.Errorf("%+v", o)
	}
}
