package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

// journals lists a folder's journals, none of which is broken.
func journals(t *testing.T, dir string) []LeftJournal {
	t.Helper()
	all, err := Journals(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		if j.Err != nil {
			t.Error(j.Err)
		}
	}
	return all
}

func TestJournalLivesAsLongAsTheFault(t *testing.T) {
	s := newStage(t)
	dir := filepath.Join(t.TempDir(), "deep", "journal")
	s.env.Lab, s.env.Journal = nil, NewJournal(dir, Place{Servers: "nats://here", Context: "work"})
	s.run(t.Context(), func(f Firing) {
		if f.Phase != PhaseFired {
			return
		}
		all := journals(t, dir)
		if len(all) != 1 || len(all[0].Entries) != 1 || all[0].Owner != owner.Alive || all[0].PID != os.Getpid() {
			t.Fatalf("while the fault acts: %+v", all)
		}
		e := all[0].Entries[0]
		if e.Name != "pause-consumer" || e.Stream != stageStream || e.Consumer != s.consumer || e.Place.Servers != "nats://here" || e.Place.Context != "work" {
			t.Errorf("got %+v", e)
		}
	}, "pause-consumer@1ms+20ms")
	if left, err := s.env.Journal.Close(); err != nil || left != 0 {
		t.Errorf("left %d, %v", left, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("after the end: %v, %v", files, err)
	}
}

func TestJournalThatCannotBeWrittenStopsTheFault(t *testing.T) {
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.env.Lab, s.env.Journal = nil, NewJournal(filepath.Join(file, "journal"), Place{})
	r, _ := s.run(t.Context(), nil, "pause-consumer@1ms+1s")
	if len(r.Failed()) != 1 || !strings.Contains(r.Failed()[0].Error(), "journal") {
		t.Errorf("failed %v", r.Failed())
	}
	if paused, _ := s.paused(s.consumer); paused {
		t.Error("paused without a journal")
	}
}

// What could not be undone stays in the journal of a process that is done.
func TestJournalKeepsWhatCouldNotBeUndone(t *testing.T) {
	s := newStage(t)
	dir := t.TempDir()
	server := s.env.Lab
	s.env.Lab, s.env.Journal = nil, NewJournal(dir, Place{})
	s.env.AllowServerFaults, s.env.TargetName = true, stageStream
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	end := func() {
		_, end, err := s.env.apply(ctx, s.spec("recreate-stream"))
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Kill(ctx); err != nil {
			t.Fatal(err)
		}
		late, stop := context.WithTimeout(ctx, 100*time.Millisecond)
		defer stop()
		if err := end(late); err == nil {
			t.Error("undone on a dead server")
		}
	}
	end()
	if left, err := s.env.Journal.Close(); err != nil || left != 1 {
		t.Errorf("left %d, %v", left, err)
	}
	all := journals(t, dir)
	if len(all) != 1 || all[0].Owner != owner.Dead || len(all[0].Entries) != 1 {
		t.Fatalf("got %+v", all)
	}
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	s.undoAll(all)
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files after all is undone: %v, %v", files, err)
	}
	if _, err := s.env.JS.Stream(ctx, stageStream); err != nil {
		t.Errorf("the stream: %v", err)
	}
}

// undoAll undoes what dead processes have left, twice: it must be harmless.
func (s *stage) undoAll(all []LeftJournal) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for _, j := range all {
		for _, e := range slices.Clone(j.Entries) {
			for range 2 {
				for err := errors.New("not asked yet"); err != nil; {
					once, stop := context.WithTimeout(ctx, 5*time.Second)
					err = e.Undo(once, s.env.JS)
					stop()
					if ctx.Err() != nil {
						s.Fatalf("%s: %v", e.String(), err)
					}
				}
			}
			if err := j.Done(e.ID); err != nil {
				s.Error(err)
			}
		}
	}
}

const (
	victimURL   = "CHAOS_TEST_URL"
	victimDir   = "CHAOS_TEST_JOURNAL"
	victimFault = "CHAOS_TEST_FAULT"
)

// victim is another process: it makes a fault on a foreign server and is killed.
func victim() {
	nc, err := nats.Connect(os.Getenv(victimURL), nats.Timeout(30*time.Second))
	if err == nil {
		var js jetstream.JetStream
		if js, err = jetstream.New(nc); err == nil {
			env := &Environment{
				Stream: stageStream, Consumer: "ours", JS: js, AllowServerFaults: true, TargetName: stageStream,
				Journal: NewJournal(os.Getenv(victimDir), Place{}),
			}
			var spec Spec
			if spec, err = ParseSpec(os.Getenv(victimFault)); err == nil {
				_, _, err = env.apply(context.Background(), spec)
			}
		}
	}
	fmt.Println("fired", err)
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed, or its test is gone
	os.Exit(0)
}

func TestJournalOfAKilledProcess(t *testing.T) {
	for fault, undone := range map[string]func(*stage) error{
		"pause-consumer@0s+1h": func(s *stage) error {
			if paused, _ := s.paused("ours"); paused {
				return errors.New("still paused")
			}
			return nil
		},
		"fill-consumers@0s+1h": func(s *stage) error {
			if left := s.consumers(); !slices.Equal(left, []string{"ours"}) {
				return fmt.Errorf("consumers %q", left)
			}
			return nil
		},
		"recreate-stream(first=1000)@0s+1h": func(s *stage) error {
			stream, err := s.env.JS.Stream(s.Context(), stageStream)
			if err == nil && stream.CachedInfo().State.FirstSeq != 1000 {
				err = fmt.Errorf("got %+v", stream.CachedInfo().State)
			}
			return err
		},
	} {
		t.Run(fault, func(t *testing.T) {
			s := newStage(t)
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), victimURL+"="+s.env.Lab.URL(), victimDir+"="+dir, victimFault+"="+fault)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close() //nolint:errcheck // the process is gone by then
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "fired <nil>\n" {
				t.Errorf("the other process says %q, %v", line, err)
			}
			if all := journals(t, dir); len(all) != 1 || all[0].Owner != owner.Alive {
				t.Errorf("while it lives: %+v", all)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed: the error is known
			all := journals(t, dir)
			if len(all) != 1 || all[0].Owner != owner.Dead || all[0].PID != cmd.Process.Pid || len(all[0].Entries) != 1 {
				t.Fatalf("after kill -9 of %d: %+v", cmd.Process.Pid, all)
			}
			s.undoAll(all)
			if err := undone(s); err != nil {
				t.Error(err)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
				t.Errorf("files after all is undone: %v, %v", files, err)
			}
		})
	}
}

func TestBrokenJournalIsTold(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1-1": "{", "2-1": `{"schema":"other/v1"}`} {
		for suffix, text := range map[string]string{journalSuffix: text, markSuffix: ""} {
			if err := os.WriteFile(filepath.Join(dir, name+suffix), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := Journals(dir)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	for i, j := range all {
		if j.Err == nil || j.Owner != owner.Dead || j.PID != i+1 {
			t.Errorf("got %+v", j)
		}
	}
}
