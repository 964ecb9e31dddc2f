//go:build unix

package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestAFrozenServerStandsStillAndGoesOn(t *testing.T) {
	s := start(t, lab.Options{})
	fill(t, s)
	nc := connect(t, s, nats.NoReconnect())
	pid := s.PID()
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	if !s.Frozen() || !s.Running() || !alive(pid) {
		t.Errorf("frozen %v, running %v, process there %v", s.Frozen(), s.Running(), alive(pid))
	}
	// Frozen, it answers nothing, however long one waits.
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := nc.FlushWithContext(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a PING to the frozen server: %v, want no answer", err)
	}
	for name, err := range map[string]error{
		"Freeze": s.Freeze(), "Term": s.Term(patient(t)), "Restart": s.Restart(patient(t)), "Reload": s.Reload(patient(t), ""),
	} {
		if !errors.Is(err, lab.ErrFrozen) {
			t.Errorf("%s of a frozen server: %v, want ErrFrozen", name, err)
		}
	}
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
	if s.Frozen() || s.PID() != pid {
		t.Errorf("after Thaw: frozen %v, pid %d, want %d", s.Frozen(), s.PID(), pid)
	}
	if err := nc.FlushWithContext(patient(t)); err != nil || !nc.IsConnected() {
		t.Errorf("the same connection after Thaw: %v, connected %v", err, nc.IsConnected())
	}
	if err := s.Thaw(); err != nil {
		t.Errorf("Thaw of one that is not frozen: %v", err)
	}
}

func TestAFrozenServerIsKilledAndStartsUnfrozen(t *testing.T) {
	s := start(t, lab.Options{})
	fill(t, s)
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(patient(t)); err != nil {
		t.Fatal(err)
	}
	if s.Frozen() {
		t.Error("a killed server is frozen")
	}
	for name, err := range map[string]error{"Freeze": s.Freeze(), "Thaw": s.Thaw()} {
		if !errors.Is(err, lab.ErrNotRunning) {
			t.Errorf("%s of a stopped server: %v, want ErrNotRunning", name, err)
		}
	}
	if err := s.Start(patient(t)); err != nil {
		t.Fatal(err)
	}
	if s.Frozen() || stored(t, s) != 3 {
		t.Errorf("after Start: frozen %v, %d messages, want 3", s.Frozen(), stored(t, s))
	}
}

func TestCloseOfAFrozenServer(t *testing.T) {
	s := start(t, lab.Options{})
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	pid := s.PID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("the frozen server %d is still there after Close", pid)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// A wrapper script does not pass signals on: the lab signals what it started too.
func TestAServerBehindAScript(t *testing.T) {
	t.Setenv(actVariable, actServer)
	script := filepath.Join(t.TempDir(), "wrapped-server")
	text := fmt.Sprintf("#!/bin/sh\n'%s' \"$@\"\nexit $?\n", self(t))
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(*lab.Server, context.Context) error{
		"Term": (*lab.Server).Term, "Kill": (*lab.Server).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, lab.Options{ServerBin: script})
			if err := end(s, patient(t)); err != nil {
				t.Fatal(err)
			}
			if nc, err := nats.Connect(s.URL()); err == nil {
				nc.Close()
				t.Error("the server behind the script still answers")
			}
			if err := s.Start(patient(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
