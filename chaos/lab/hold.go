package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

// errKeeperGone says that somebody ended the keeper from outside; its server
// is dead or cannot be ruled any more.
var errKeeperGone = errors.New("the keeper process of the server is gone")

// keeperLimit is how long a keeper may take to clean up; one that was stopped
// from outside never would.
const keeperLimit = 30 * time.Second

// run is one life of the server process.
type run struct {
	pid  int
	mark int           // where its log begins
	gone chan struct{} // closed when the process is gone and reaped
	exit string        // how it ended; valid once gone is closed
}

func (r *run) over() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}

// hold is this process's end of the pipes to a keeper.
type hold struct {
	cmd    *exec.Cmd
	dir    string // the temporary folder, made and removed by the keeper
	life   *owner.Mark
	stdin  io.WriteCloser
	orders *lineWriter
	log    *tail
	stderr *tail         // what the keeper itself had to complain about
	ended  chan struct{} // closed when there will be no more news

	mu      sync.Mutex
	lastID  int
	replies map[int]chan news
	mark    int  // where the log of the next run begins
	run     *run // the latest
}

// startKeeper returns when the temporary folder is there, or leaves nothing.
func startKeeper(ctx context.Context, log *tail) (*hold, error) {
	cmd, err := childCommand(roleKeeper, "lab-keeper")
	if err != nil {
		return nil, err
	}
	h := &hold{cmd: cmd, log: log, stderr: &tail{}, ended: make(chan struct{}), replies: map[int]chan news{}}
	cmd.Stderr = h.stderr
	cmd.SysProcAttr = keeperAttributes()
	cmd.WaitDelay = lingering
	if h.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the keeper: %w", err)
	}
	h.orders = newLineWriter(h.stdin)
	hello := make(chan news, 1)
	go h.listen(stdout, hello)
	select {
	case n := <-hello:
		if n.Error != "" {
			err = fmt.Errorf("make a temporary folder: %s", n.Error)
		}
		h.dir = n.Dir
	case <-h.ended:
		err = errKeeperGone
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.end())
	}
	// Only a clean-up looks at it, and without it spares the folder.
	h.life, _ = owner.Take(filepath.Join(h.dir, labMark))
	return h, nil
}

// listen takes the keeper's news until there are no more.
func (h *hold) listen(stdout io.Reader, hello chan<- news) {
	defer close(h.ended)
	dec := json.NewDecoder(stdout)
	for {
		var n news
		if dec.Decode(&n) != nil {
			h.lost()
			return
		}
		switch n.Kind {
		case newsHello:
			hello <- n
		case newsLog:
			_, _ = h.log.Write(n.Log)
		case newsReply:
			h.replied(n)
		case newsExit:
			h.exited(n.Exit)
		}
	}
}

func (h *hold) replied(n news) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n.PID != 0 {
		// Here and not where the reply is awaited: the exit may be the next news.
		h.run = &run{pid: n.PID, mark: h.mark, gone: make(chan struct{})}
	}
	if reply := h.replies[n.ID]; reply != nil {
		reply <- n // has room for it
		delete(h.replies, n.ID)
	}
}

func (h *hold) exited(how string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil && !h.run.over() {
		h.run.exit = how
		close(h.run.gone)
	}
}

// lost ends the run when the keeper is gone.
func (h *hold) lost() {
	h.mu.Lock()
	r := h.run
	h.mu.Unlock()
	if r != nil && !r.over() && !serverDiesWithKeeper {
		killGroup(r.pid)
	}
	h.exited("killed with its keeper")
}

// current is the latest run; nil before the first.
func (h *hold) current() *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run
}

// do gives the keeper an order and waits for its answer.
func (h *hold) do(ctx context.Context, o order) (news, error) {
	reply := make(chan news, 1)
	h.mu.Lock()
	h.lastID++
	o.ID = h.lastID
	h.replies[o.ID] = reply
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.replies, o.ID)
		h.mu.Unlock()
	}()
	if err := h.orders.write(o); err != nil {
		return news{}, h.whyGone()
	}
	select {
	case n := <-reply:
		if n.Error != "" {
			return n, errors.New(n.Error)
		}
		return n, nil
	case <-h.ended:
		return news{}, h.whyGone()
	case <-ctx.Done():
		return news{}, context.Cause(ctx)
	}
}

func (h *hold) whyGone() error {
	if words := strings.TrimSpace(h.stderr.since(0)); words != "" {
		return fmt.Errorf("%w: %s", errKeeperGone, complaint(words))
	}
	return errKeeperGone
}

// startServer starts a run, which may be over already when it returns. It is
// not given up half-way, or nobody would know whether there is a process.
func (h *hold) startServer(path string, args []string) (*run, error) {
	h.mu.Lock()
	h.mark = h.log.mark()
	h.mu.Unlock()
	if _, err := h.do(context.Background(), order{Do: doStart, Path: path, Args: args}); err != nil {
		return nil, err
	}
	return h.current(), nil
}

func (h *hold) signal(ctx context.Context, name string) error {
	_, err := h.do(ctx, order{Do: doSignal, Signal: name})
	return err
}

// end lets the keeper kill the server and remove the folder, and waits for it.
// Where the keeper did not live to do so, it is done here.
func (h *hold) end() error {
	if h.life != nil {
		_ = h.life.Abandon() // the keeper removes it with the folder
	}
	h.stdin.Close()
	stuck := time.AfterFunc(keeperLimit, func() { _ = h.cmd.Process.Kill() })
	defer stuck.Stop()
	<-h.ended
	err := h.cmd.Wait()
	if h.dir == "" {
		return nil
	}
	if removed := removeFolder(h.dir); removed != nil {
		return removed
	}
	if words := strings.TrimSpace(h.stderr.since(0)); err != nil && words != "" {
		return fmt.Errorf("end the keeper: %w: %s", err, complaint(words))
	}
	return nil
}
