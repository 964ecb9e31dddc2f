//go:build unix

package target

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

// newDesk is a bed without a server, for programs that need none.
func newDesk(t *testing.T) *bed {
	b := &bed{T: t, ended: make(chan struct{}), ready: make(chan struct{}), changed: make(chan struct{})}
	b.in = Input{
		URL: "nats://u:p@127.0.0.1:4", Stream: stream, Seed: 7, Stderr: locked{b},
		Read:   func(d oracle.Delivery) { b.told(func() { b.read = append(b.read, d) }) },
		Report: func(r Report) { b.told(func() { b.reports = append(b.reports, r) }) },
		Ready:  func() { close(b.ready) },
	}
	return b
}

// wantGone fails when a process of the group is there after the end.
func (b *bed) wantGone(group int) {
	b.Helper()
	if pids := members(b.T, group); len(pids) > 0 {
		b.Errorf("processes %v are left", pids)
	}
}

// Each bad program does what it says: what the target tells of it, and what comes out.
func TestBadPrograms(t *testing.T) {
	const all = 100
	upTo := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("w-%d", i+1))
		}
		return ids
	}
	with := func(at int, ids ...string) []string {
		return append(append(upTo(at), ids...), upTo(all)[at:]...)
	}
	without := func(at int) []string { return append(upTo(at-1), upTo(all)[at:]...) }
	swapped := upTo(all)
	swapped[bad.At-1], swapped[bad.At] = swapped[bad.At], swapped[bad.At-1]
	for kind, want := range map[bad.Kind][]string{
		bad.Good: upTo(all), bad.Skip: without(bad.At), bad.Twice: with(bad.At, fmt.Sprintf("w-%d", bad.At)), bad.Swap: swapped,
		bad.Invent: with(bad.At, "nobody-1"), bad.Stop: upTo(bad.At - 1), bad.Garbage: with(bad.At, "\x00?\x1b[31m"), bad.Stubborn: upTo(all),
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, all)
			p := b.start("exec:" + bad.Command(kind)).(*program)
			b.awaitRead(len(want))
			group := p.PID()
			b.stop()
			b.wantGone(group)
			if got := b.ids(); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("read %v, want %v", got, want)
			}
			if kind == bad.Stubborn {
				b.wantSaid("was killed")
			}
		})
	}
	for kind, want := range map[bad.Kind]ExitError{
		bad.Exit: {Code: bad.ExitCode, Stderr: "bad: that is enough"}, bad.Die: {Code: -1, Signal: "killed"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, all)
			b.start("exec:" + bad.Command(kind))
			var got *ExitError
			if err := b.awaitEnd(); !errors.As(err, &got) || *got != want {
				t.Errorf("it ended with %v, want %v", err, &want)
			}
			b.wantRead(1, bad.At-1)
		})
	}
	t.Run(string(bad.Nothing), func(t *testing.T) {
		t.Parallel()
		b := newBed(t)
		b.publish(1, all)
		b.start("exec:" + bad.Command(bad.Nothing))
		<-b.ready
		b.stop()
		b.wantSaid("it printed nothing on stdout")
	})
}

// A flood is held back by whoever counts it, and takes no memory.
func TestFloodsAreBounded(t *testing.T) {
	for kind, enough := range map[bad.Kind]int{bad.Flood: 100_000, bad.Unending: bad.At} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBed(t)
			b.publish(1, 100)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			count := 0
			b.in.Read = func(oracle.Delivery) {
				if count++; count == enough {
					b.told(func() { b.read = make([]oracle.Delivery, enough) })
				}
			}
			p := b.start("exec:" + bad.Command(kind)).(*program)
			b.awaitRead(enough)
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
				t.Errorf("%d bytes more", grown)
			}
			group := p.PID()
			b.stop()
			b.wantGone(group)
			if kind == bad.Unending {
				b.wantSaid("a line of more than 64 KiB")
			}
		})
	}
}

// What a command prints, what becomes of it, and how it ends.
func TestOutputOfPrograms(t *testing.T) {
	long := "head -c 70000 /dev/zero | tr '\\0' x"
	for command, want := range map[string]struct{ read, said, end string }{
		"printf 'a-1\\r\\n\\n  a-2 filled\\n\\n'; exit 0": {read: "a-1 a-2", end: "the program ended with exit code 0"},
		"printf 'a-1\\na-2'":                              {read: "a-1 a-2", said: `ends in the middle of a line: "a-2"`, end: "exit code 0"},
		"echo a-1; " + long + "; echo; echo a-2":          {read: "a-1 " + strings.Repeat("x", MaxID-3) + "... a-2", said: "a line of more than 64 KiB", end: "exit code 0"},
		long + "; echo; " + long + "; echo; exit 4":       {said: "it printed 2 lines of more than 64 KiB", end: "exit code 4"},
		"true":                               {said: "it printed nothing on stdout", end: "exit code 0"},
		"echo; echo; exit 1":                 {said: "2 blank lines and no other", end: "exit code 1"},
		"echo one >&2; echo two >&2; exit 7": {end: "exit code 7: two"},
		"no-such-program-at-all":             {end: "exit code 127"},
		"kill -TERM $$":                      {end: "ended by a signal (terminated)"},
		"echo a-1; sleep 1000 & exit 0":      {read: "a-1", end: "exit code 0"}, // what it leaves behind ends too
		`echo "$NATS_URL" "$NATS_READER_STREAM"; echo "$NATS_READER_SEED"; echo "$NATS_READER_SUBJECT" | tr ' ' ,; echo "d=$NATS_READER_DURABLE"; echo "c=$NATS_CONTEXT$NATS_CREDS"; echo "e=$EXTRA"`: {
			read: "nats://u:p@127.0.0.1:4 7 s.a,s.b d=dur c= e=given"},
	} {
		t.Run(shortened(command, 30), func(t *testing.T) {
			t.Setenv("NATS_CONTEXT", "production")
			t.Setenv("NATS_CREDS", "/nowhere")
			b := newDesk(t)
			b.in.Subjects, b.in.Durable, b.in.Env = []string{"s.a", "s.b"}, "dur", []string{"EXTRA=given"}
			p := b.start("exec:" + command).(*program)
			err := b.awaitEnd()
			if err == nil || !strings.Contains(err.Error(), want.end) {
				t.Errorf("it ended with %v, want %q", err, want.end)
			}
			if got := strings.Join(b.ids(), " "); want.read != "" && got != want.read {
				t.Errorf("read %q, want %q", got, want.read)
			}
			if want.said != "" {
				b.wantSaid(want.said)
			}
			if p.PID() != 0 {
				t.Error("it has a pid after its end")
			}
			if err := p.Freeze(); !errors.Is(err, errNotRunning) {
				t.Errorf("freeze after its end: %v", err)
			}
			if err := p.Thaw(); err != nil {
				t.Errorf("thaw after its end: %v", err)
			}
		})
	}
}

// Stderr is shown up to its bound.
func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	b := newDesk(t)
	b.start("exec:head -c 5000000 /dev/zero | tr '\\0' e >&2; echo a-1; echo last >&2")
	err := b.awaitEnd()
	var exit *ExitError
	if !errors.As(err, &exit) || !strings.HasSuffix(exit.Stderr, "last") && !strings.Contains(exit.Stderr, "bytes more") {
		t.Errorf("it ended with %v", err)
	}
	if text := b.stderr.String(); len(text) > MaxStderr+100 || !strings.HasSuffix(text, "the rest is not shown)\n") {
		t.Errorf("%d bytes are shown, the end is %q", len(text), text[max(len(text)-50, 0):])
	}
}

// A program that is frozen does nothing, and can be ended.
func TestFreezeAndThaw(t *testing.T) {
	t.Parallel()
	b := newDesk(t)
	p := b.start("exec:while :; do echo a-1; sleep 0.01; done").(*program)
	b.awaitRead(3)
	for range 2 {
		if err := p.Freeze(); err != nil {
			t.Fatal(err)
		}
	}
	group := p.PID()
	stopped := func() bool { return allStopped(t, group) }
	eventually(t, "all processes are stopped", stopped)
	if err := p.Thaw(); err != nil || !stopped() {
		t.Errorf("one of two freezes is over, and it runs: %v", err)
	}
	if err := p.Thaw(); err != nil {
		t.Fatal(err)
	}
	b.awaitRead(len(b.ids()) + 3)
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	b.stop()
	b.wantGone(group)
}

// What leaves the process group keeps the output, and not the target.
func TestProgramThatLeavesItsGroup(t *testing.T) {
	t.Parallel()
	b := newDesk(t)
	b.in.Env = []string{"AWAY=" + filepath.Join(t.TempDir(), "away")}
	b.start(`exec:mkfifo "$AWAY"; echo a-1; setsid sh -c 'echo $$; echo yes >"$AWAY"; exec sleep 1000' & read -r yes <"$AWAY"; exit 5`)
	b.awaitRead(2)
	var escaped int
	for _, id := range b.ids() {
		if n, err := strconv.Atoi(id); err == nil {
			escaped = n
		}
	}
	err := b.awaitEnd()
	if err == nil || !strings.Contains(err.Error(), "exit code 5") {
		t.Errorf("it ended with %v", err)
	}
	b.wantSaid("has left its process group")
	if escaped == 0 || !alive(escaped) {
		t.Fatalf("nothing has left: %v", b.ids())
	}
	killProcess(t, escaped)
}

// The watcher is out of the way of signals meant for the program, and gone with it.
func TestWatcherEnds(t *testing.T) {
	t.Parallel()
	run, err := startProcess("sleep 1000", nil, &complaints{})
	if err != nil {
		t.Fatal(err)
	}
	watcher := run.watcher.Process.Pid
	if !alive(watcher) || len(members(t, run.group)) == 0 {
		t.Error("nobody watches")
	}
	killGroup(run.group)
	select {
	case <-run.exited:
	case <-time.After(patience):
		t.Fatal("a killed program does not end")
	}
	run.bury()
	run.closeOutput()
	if alive(watcher) {
		t.Error("the watcher is left")
	}
	var exit *ExitError
	if err := run.exitError(""); !errors.As(err, &exit) || exit.Signal != "killed" {
		t.Errorf("%v", err)
	}
}

// A shell that is missing is said, and nothing is left.
func TestNoShell(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	err := mustParse(t, "exec:true").Read(context.Background(), Input{Read: func(oracle.Delivery) {}})
	if err == nil || !strings.Contains(err.Error(), `"sh"`) {
		t.Errorf("%v", err)
	}
}
