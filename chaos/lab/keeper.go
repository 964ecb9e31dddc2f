package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

// tempPrefix begins the name of every temporary folder of the lab.
const tempPrefix = "nats-reader-lab-"

// lingering is how long the keeper waits for the end of a server's output
// after the server itself is gone: something it started may hold it open.
const lingering = 2 * time.Second

// keeper is the process between the lab and one server. Its main goroutine
// owns everything here.
type keeper struct {
	dir  string
	mark *owner.Mark // on the folder, so that a later clean-up spares it
	out  *lineWriter
	cmd  *exec.Cmd  // nil while no server runs
	gone chan error // what Wait of cmd said
}

// keep is the keeper's whole life: it makes the folder, obeys orders, and at
// the end of stdin leaves nothing. It returns the exit code.
func keep(stdin io.Reader, stdout, stderr io.Writer) int {
	// The server dies with the thread that started it (Pdeathsig on Linux):
	// this goroutine keeps its thread until the process ends.
	runtime.LockOSThread()
	stayUntilEOF()

	k := &keeper{out: newLineWriter(stdout), gone: make(chan error, 1)}
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		k.tell(news{Kind: newsHello, Error: err.Error()})
		return exitCannotServe
	}
	k.dir = dir
	if k.mark, err = owner.Take(filepath.Join(dir, keeperMark)); err != nil {
		k.tell(news{Kind: newsHello, Dir: dir, Error: err.Error()})
		return exitCannotServe
	}
	k.tell(news{Kind: newsHello, Dir: dir})

	orders := make(chan order)
	go readOrders(stdin, orders)
	for open := true; open; {
		var o order
		select {
		case o, open = <-orders:
			if open {
				k.obey(o)
			}
		case err := <-k.gone:
			k.buried(err)
		}
	}
	if err := k.leaveNothing(); err != nil {
		fmt.Fprintf(stderr, "%s\n", err)
		return exitCannotServe
	}
	return 0
}

// stayUntilEOF makes the keeper deaf to every signal that is meant for the
// process that started it (a service stop signals all of them), and lets it
// outlive a broken pipe: the end of stdin alone ends it. The signals are
// caught and not ignored, because a server would inherit "ignored".
func stayUntilEOF() {
	signal.Notify(make(chan os.Signal, 1), stopSignals()...)
}

func readOrders(stdin io.Reader, orders chan<- order) {
	defer close(orders)
	dec := json.NewDecoder(stdin)
	for {
		var o order
		if dec.Decode(&o) != nil {
			return
		}
		orders <- o
	}
}

// tell cannot report an error: with nobody there to read, stdin ends as well.
func (k *keeper) tell(n news) { _ = k.out.write(n) }

func (k *keeper) obey(o order) {
	reply := news{Kind: newsReply, ID: o.ID}
	var err error
	switch o.Do {
	case doStart:
		reply.PID, err = k.start(o)
	case doSignal:
		err = k.signal(o.Signal)
	default:
		err = fmt.Errorf("the keeper does not know the order %q", o.Do)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	k.tell(reply)
}

func (k *keeper) start(o order) (int, error) {
	if k.cmd != nil {
		return 0, errors.New("a server is running already")
	}
	cmd, err := serverCommand(o)
	if err != nil {
		return 0, err
	}
	log := relay{k.out}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = lingering
	cmd.SysProcAttr = serverAttributes()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	k.cmd = cmd
	go func() { k.gone <- cmd.Wait() }()
	return cmd.Process.Pid, nil
}

func serverCommand(o order) (*exec.Cmd, error) {
	if o.Path == "" {
		return childCommand(roleServer, o.Args...)
	}
	return exec.Command(o.Path, o.Args...), nil
}

func (k *keeper) signal(name string) error {
	if k.cmd == nil {
		return errors.New("no server is running")
	}
	return signalServer(k.cmd.Process, name)
}

// buried tells that the server is gone, after all that it wrote was told.
func (k *keeper) buried(err error) {
	how := k.cmd.ProcessState.String()
	if k.cmd.ProcessState == nil {
		how = err.Error()
	}
	k.cmd = nil
	k.tell(news{Kind: newsExit, Exit: how})
}

// leaveNothing kills the server and removes the folder. What a foreign binary
// started may die a little later and still write: removing is tried again.
func (k *keeper) leaveNothing() error {
	if k.cmd != nil {
		if err := signalServer(k.cmd.Process, "KILL"); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("kill the server (pid %d): %w", k.cmd.Process.Pid, err)
		}
		k.buried(<-k.gone)
	}
	return errors.Join(k.mark.Release(), removeFolder(k.dir))
}

func removeFolder(dir string) error {
	// Never anything but a folder the lab has made.
	if !strings.HasPrefix(filepath.Base(dir), tempPrefix) {
		return fmt.Errorf("%q is no folder of the lab: not removed", dir)
	}
	var err error
	removed := ask(20*time.Millisecond, time.Second, func() bool {
		err = os.RemoveAll(dir)
		return err == nil
	})
	if !removed {
		return fmt.Errorf("remove the temporary folder: %w", err)
	}
	return nil
}

// relay passes a server's output on as news.
type relay struct{ out *lineWriter }

func (r relay) Write(p []byte) (int, error) {
	// An error here would end the server's output pipe and with it the server.
	_ = r.out.write(news{Kind: newsLog, Log: p})
	return len(p), nil
}
