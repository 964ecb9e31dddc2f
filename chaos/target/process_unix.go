//go:build unix

package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// execProblem is why no outside program can be a target; "": it can.
const execProblem = ""

// process is an outside program that was started.
type process struct {
	group  int // its process group, and the pid of its first process
	stdout *os.File
	exited chan struct{} // closed when the first process has ended
	state  *os.ProcessState
	err    error // of waiting for it

	watcher *exec.Cmd
	line    *os.File // what the watcher reads
	stderr  sync.WaitGroup
	errors  *os.File
}

// The program waits at a gate, its third descriptor, until somebody watches its
// process group: from then on a kill -9 of this process leaves nothing of it.
//
// The watcher is out of the group and the session: neither Ctrl-C nor a fault that
// freezes the group reaches it. Its line ends when this process does, however that
// happens; only a second word on it, after the group has gone, spares the group.
const (
	gateScript    = `read -r go <&3 || exit 1; exec 3<&-; exec sh -c "$1"`
	watcherScript = `trap '' HUP INT QUIT TERM; read -r group || exit 0; read -r over && exit 0; kill -KILL -"$group"`
)

// startProcess starts the command and its watcher. After an error nothing is left.
func startProcess(command string, env []string, stderr io.Writer) (*process, error) {
	p := &process{exited: make(chan struct{})}
	if err := p.watch(); err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", gateScript, "nats-reader-chaos-target", command)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var theirs []*os.File
	defer func() { closeAll(theirs) }()
	pipe := func() (*os.File, *os.File, error) {
		r, w, err := os.Pipe()
		if err == nil {
			theirs = append(theirs, w)
		}
		return r, w, err
	}
	var err error
	var complaints, gate, goOn *os.File
	if p.stdout, cmd.Stdout, err = asWriter(pipe()); err != nil {
		return nil, errors.Join(err, p.unwatch())
	}
	if complaints, cmd.Stderr, err = asWriter(pipe()); err != nil {
		return nil, errors.Join(err, p.stdout.Close(), p.unwatch())
	}
	if gate, goOn, err = os.Pipe(); err != nil {
		return nil, errors.Join(err, p.stdout.Close(), complaints.Close(), p.unwatch())
	}
	theirs = append(theirs, gate)
	cmd.ExtraFiles = []*os.File{gate}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, p.stdout.Close(), complaints.Close(), goOn.Close(), p.unwatch())
	}
	p.group = cmd.Process.Pid
	p.errors = complaints
	p.stderr.Go(func() { _, _ = io.Copy(stderr, complaints) }) // the writer gives no error, and the pipe has none but its end
	go func() {
		p.err = cmd.Wait()
		p.state = cmd.ProcessState
		close(p.exited)
	}()
	_, err = fmt.Fprintln(p.line, p.group)
	if err == nil {
		_, err = fmt.Fprintln(goOn, "go")
	}
	if err = errors.Join(err, goOn.Close()); err != nil {
		killGroup(p.group)
		<-p.exited
		p.bury()
		p.closeOutput()
		return nil, err
	}
	return p, nil
}

// asWriter gives the writing end as an exec.Cmd takes it.
func asWriter(r, w *os.File, err error) (*os.File, io.Writer, error) { return r, w, err }

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the other process has its own
	}
}

// watch starts the watcher.
func (p *process) watch() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.watcher = exec.Command("sh", "-c", watcherScript, "nats-reader-chaos-watcher")
	p.watcher.Stdin = r
	p.watcher.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.line = w
	if err := errors.Join(p.watcher.Start(), r.Close()); err != nil {
		return errors.Join(err, w.Close())
	}
	return nil
}

// unwatch ends the watcher, which has nothing to watch any more.
func (p *process) unwatch() error {
	_, err := fmt.Fprintln(p.line, "over")
	return errors.Join(err, p.line.Close(), p.watcher.Wait())
}

// bury ends what the first process has left of its group, then the watcher.
func (p *process) bury() {
	killGroup(p.group)
	// A watcher that somebody killed has nothing to say.
	_ = p.unwatch()
}

// closeOutput takes the pipes away from whatever still holds them.
func (p *process) closeOutput() {
	_ = p.stdout.Close() // only read from
	// What is written already is read before.
	_ = p.errors.SetReadDeadline(time.Now().Add(lingering / 10))
	p.stderr.Wait()
	_ = p.errors.Close()
}

// exitError says how the program ended.
func (p *process) exitError(stderr string) error {
	if p.state == nil {
		return fmt.Errorf("wait for the program: %w", p.err)
	}
	e := &ExitError{Code: p.state.ExitCode(), Stderr: stderr}
	if status, is := p.state.Sys().(syscall.WaitStatus); is && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}

// signalGroup signals the program and all that it started. One that has ended needs no
// signal.
func signalGroup(group int, signal syscall.Signal) error {
	if err := syscall.Kill(-group, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal the program (%s): %w", signal, err)
	}
	return nil
}

func stopGroup(group int) error { return signalGroup(group, syscall.SIGSTOP) }

func continueGroup(group int) error { return signalGroup(group, syscall.SIGCONT) }

// endGroup asks the program to end; a stopped one must go on to hear it.
func endGroup(group int) error {
	return errors.Join(signalGroup(group, syscall.SIGTERM), signalGroup(group, syscall.SIGCONT))
}

func killGroup(group int) { _ = signalGroup(group, syscall.SIGKILL) }
