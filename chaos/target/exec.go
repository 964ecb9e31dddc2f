package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// ExitGrace is how long an outside program may take to end after TERM, before KILL.
const ExitGrace = 3 * time.Second

// lingering is how long the output of a program that has ended is read on: what left
// its process group may hold it open.
const lingering = 5 * time.Second

// ExitError says that an outside program ended by itself.
type ExitError struct {
	Code   int    // -1: by a signal
	Signal string // its name, such as "killed"; "": none
	Stderr string // the last line that the program wrote there; may be empty
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("the program ended with exit code %d", e.Code)
	if e.Signal != "" {
		text = fmt.Sprintf("the program was ended by a signal (%s)", e.Signal)
	}
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}

// errNotRunning is what a fault on a program that has ended gets.
var errNotRunning = errors.New("the program is not running")

// program is an outside program that reads.
type program struct {
	command string

	mu     sync.Mutex
	group  int // of the process that runs; 0: none
	frozen int // how many Freezes have no Thaw yet
}

func (p *program) Name() string { return execPrefix + p.command }

func (p *program) Traits() Traits { return Traits{Process: true} }

// PID is that of the program's first process, which is its process group's as well;
// 0: it does not run.
func (p *program) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.group
}

// Freeze stops the whole process group with STOP, until as many Thaws.
func (p *program) Freeze() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == 0 {
		return errNotRunning
	}
	if err := stopGroup(p.group); err != nil {
		return err
	}
	p.frozen++
	return nil
}

// Thaw lets the process group go on with CONT.
func (p *program) Thaw() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group == 0 || p.frozen == 0 {
		return nil
	}
	if p.frozen--; p.frozen > 0 {
		return nil
	}
	return continueGroup(p.group)
}

func (p *program) runs(group int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.group, p.frozen = group, 0
}

// Read runs the program until ctx ends or it does.
func (p *program) Read(ctx context.Context, in Input) error {
	if ctx.Err() != nil {
		return nil
	}
	g := newGate()
	defer g.close()
	told := newReports(in.Report, g)
	stderr := &complaints{to: in.Stderr}
	run, err := startProcess(p.command, environment(os.Environ(), in), stderr)
	if err != nil {
		return fmt.Errorf("start the program: %w", err)
	}
	p.runs(run.group)
	in.ready()
	out := &output{say: told.say, read: func(d oracle.Delivery) {
		if g.enter() {
			defer g.leave()
			in.Read(d)
		}
	}}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		out.follow(run.stdout)
	}()

	select {
	case <-run.exited:
	case <-ctx.Done():
		p.end(run, told)
	}
	p.runs(0)
	run.bury()
	select {
	case <-printed:
	case <-time.After(lingering):
		told.say("something that it started has left its process group, and holds its output open: it is not read any more")
	}
	run.closeOutput()
	<-printed
	out.summary()
	told.end()
	if ctx.Err() != nil {
		return nil
	}
	return run.exitError(stderr.lastLine())
}

// end ends the program with TERM, or with KILL when it does not obey.
func (p *program) end(run *process, told *reports) {
	if err := endGroup(run.group); err != nil {
		told.say("%v", err)
	}
	grace := time.NewTimer(ExitGrace)
	defer grace.Stop()
	select {
	case <-run.exited:
	case <-grace.C:
		told.say("it did not end within %s of TERM, and was killed", ExitGrace)
		killGroup(run.group)
		<-run.exited
	}
}

// environment is that of an outside program: ours without what would lead it to
// another server, and what the documentation of this package promises.
func environment(ours []string, in Input) []string {
	var env []string
	for _, v := range ours {
		if !strings.HasPrefix(v, "NATS_") {
			env = append(env, v)
		}
	}
	return append(append(env,
		"NATS_URL="+in.URL,
		"NATS_READER_STREAM="+in.Stream,
		"NATS_READER_SUBJECT="+strings.Join(in.Subjects, " "),
		"NATS_READER_DURABLE="+in.Durable,
		"NATS_READER_API_PREFIX="+in.APIPrefix,
		"NATS_READER_DOMAIN="+in.Domain,
		"NATS_READER_SEED="+strconv.FormatUint(in.Seed, 10),
	), in.Env...)
}
