package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// Options say how a matrix is played.
type Options struct {
	Parallel int // cells at a time, each on a server of its own; at least 1
	// Folder keeps the cells, and has those that were finished before; nil: nobody does.
	Folder *Folder
	// Timeout ends everything, whatever it is doing; 0: nothing does.
	Timeout time.Duration
	// Progress is told of each cell that begins and ends, and must be quick. nil: nobody is.
	Progress func(Progress)
	// Stderr gives what takes the words of the outside program of a cell; nil: they are thrown away.
	Stderr func(Cell) io.Writer
}

// Progress is one cell that begins, or ends.
type Progress struct {
	Time    time.Time
	Cell    Cell
	Outcome *Outcome // nil: it begins
	Done    int      // cells that are finished
	All     int
}

// ErrTimeout is why Play ended that its hard limit cut short.
var ErrTimeout = errors.New("the time of the matrix is over")

// Play plays the cells that are missing, and gives all that are known, also with an error: ctx ended, the time
// was over, a cell could not be kept, or (at once) the matrix is none.
func (m Matrix) Play(ctx context.Context, o Options) ([]Outcome, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	p := &play{matrix: m, options: o, all: len(m.Cells())}
	if o.Folder != nil {
		p.done = slices.Clone(o.Folder.Done())
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.Timeout > 0 {
		t := time.AfterFunc(o.Timeout, func() { cancel(ErrTimeout) })
		defer t.Stop()
	}
	p.stop = cancel
	missing := m.Missing(p.done)
	p.finished = p.all - len(missing)
	var playing sync.WaitGroup
	free := make(chan struct{}, max(o.Parallel, 1))
	for _, c := range missing {
		select {
		case free <- struct{}{}:
		case <-inner.Done():
		}
		if inner.Err() != nil {
			break
		}
		playing.Go(func() {
			defer func() { <-free }()
			p.play(inner, c)
		})
	}
	playing.Wait()
	return p.done, context.Cause(inner)
}

// Missing are the cells that are still to be played: those without an outcome, and those that could not be
// judged.
func (m Matrix) Missing(done []Outcome) []Cell {
	return slices.DeleteFunc(m.Cells(), func(c Cell) bool {
		return slices.ContainsFunc(done, func(o Outcome) bool { return o.Cell == c && o.Finding != oracle.Unknown })
	})
}

// play is one Play.
type play struct {
	matrix  Matrix
	options Options
	stop    context.CancelCauseFunc
	all     int

	mu       sync.Mutex
	done     []Outcome
	finished int
}

// play plays one cell and keeps what came of it, unless it was cut short.
func (p *play) play(ctx context.Context, c Cell) {
	p.tell(c, nil)
	r, quiet, err := p.run(ctx, c)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.stop(fmt.Errorf("cell %s: %w", c, err))
		return
	}
	o := OutcomeOf(c, r, quiet)
	p.wrongServer(&o)
	if p.options.Folder != nil {
		if err := p.options.Folder.Keep(o, r); err != nil {
			p.stop(err)
			return
		}
	}
	p.mu.Lock()
	p.done = append(p.done, o)
	p.finished++
	p.mu.Unlock()
	p.tell(c, &o)
}

// run plays a cell, and says whether its plan has times in which nothing is published.
func (p *play) run(ctx context.Context, c Cell) (r result.Run, quiet bool, err error) {
	planned, err := p.matrix.Plan(c)
	if err != nil {
		return r, false, err
	}
	reads, err := target.Parse(c.Target) // one of its own: a target reads once at a time
	if err != nil {
		return r, false, err
	}
	o := run.Options{Plan: planned, Target: reads}
	if p.options.Stderr != nil {
		o.Stderr = p.options.Stderr(c)
	}
	if c.Server != Embedded {
		if o.ServerBin, err = lab.CachedServer(c.Server); err != nil {
			return r, false, err
		}
	}
	r, err = run.Run(ctx, o)
	return r, len(planned.Quiet) > 0, err
}

// wrongServer makes a cell unknown that was not played on its server: the environment can name another one.
func (p *play) wrongServer(o *Outcome) {
	want := o.Server
	if want == Embedded {
		want = lab.EmbeddedVersion
	}
	if o.Version == want || o.Finding == oracle.Unknown {
		return
	}
	o.Finding = oracle.Unknown
	o.Reasons = append([]string{fmt.Sprintf("the server was %s, not %s", o.Version, want)}, o.Reasons...)
}

func (p *play) tell(c Cell, o *Outcome) {
	if p.options.Progress == nil {
		return
	}
	p.mu.Lock()
	done := p.finished
	p.mu.Unlock()
	p.options.Progress(Progress{Time: time.Now(), Cell: c, Outcome: o, Done: done, All: p.all})
}
