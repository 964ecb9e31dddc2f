package chaos

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// machine is one server that a fault of the process acts on. In a cluster it is a node.
type machine struct {
	*lab.Server
	node *lab.Node // nil: a server by itself
}

// onMachine is what a fault does to one server, and what undoes it.
type onMachine struct {
	do, undo func(context.Context, machine) error
}

var kill = onMachine{
	do:   func(ctx context.Context, m machine) error { return m.Kill(ctx) },
	undo: startAgain,
}

func startAgain(ctx context.Context, m machine) error { return m.Start(ctx) }

// ofProcess says what a fault does to each server that it acts on.
func (e *Environment) ofProcess(s Spec) (onMachine, error) {
	switch s.Name {
	case "kill-server", "kill-node":
		return kill, nil
	case "stop-server", "stop-node":
		return onMachine{do: func(ctx context.Context, m machine) error {
			if lame, _ := strconv.ParseBool(s.param("lame-duck")); lame { // checked when it was parsed
				return m.LameDuck(ctx)
			}
			return m.Term(ctx)
		}, undo: startAgain}, nil
	case "freeze-server":
		return onMachine{
			do:   func(_ context.Context, m machine) error { return m.Freeze() },
			undo: func(_ context.Context, m machine) error { return m.Thaw() },
		}, nil
	case "partition":
		return onMachine{
			do: func(_ context.Context, m machine) error {
				if m.node.Partitioned() != lab.CutNone {
					return errors.New("it is cut off already")
				}
				m.node.Partition(lab.Cut(s.param("how")))
				return nil
			},
			undo: func(_ context.Context, m machine) error { m.node.Heal(); return nil },
		}, nil
	case "lose-store":
		return onMachine{do: func(ctx context.Context, m machine) error {
			if err := m.Kill(ctx); err != nil {
				return err
			}
			if err := m.LoseStore(); err != nil {
				return errors.Join(err, m.Start(ctx)) // nobody undoes what did not act
			}
			return nil
		}, undo: startAgain}, nil
	case "disable-jetstream":
		return amending(func() string { return "jetstream: disabled\n" }), nil
	case "revoke-permission":
		return e.revoke(s), nil
	default:
		return onMachine{}, fmt.Errorf("fault %s acts on no process", s.Name)
	}
}

// amending acts by a text in the config.
func amending(text func() string) onMachine {
	var mu sync.Mutex
	undos := map[*lab.Server]undo{}
	return onMachine{
		do: func(ctx context.Context, m machine) error {
			end, err := m.Amend(ctx, text)
			mu.Lock()
			undos[m.Server] = end
			mu.Unlock()
			return err
		},
		undo: func(ctx context.Context, m machine) error {
			mu.Lock()
			end := undos[m.Server]
			mu.Unlock()
			return end(ctx)
		},
	}
}

// applyProcess acts on the lab's servers. An interrupt does not stop it half-way: a
// signal that was sent is waited for, so that its end finds what it must undo.
func (e *Environment) applyProcess(ctx context.Context, s Spec) (target, undo, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	machines, err := e.choose(ctx, s)
	if err != nil {
		return target{}, nil, err
	}
	on := targetOf(machines)
	act, err := e.ofProcess(s)
	if err != nil {
		return on, nil, err
	}
	acted, err := together(machines, func(m machine) error { return act.do(ctx, m) })
	if len(acted) == 0 {
		return on, nil, err // nothing of ours to undo; it may be another fault's turn
	}
	return on, func(ctx context.Context) error {
		_, err := together(acted, func(m machine) error { return act.undo(ctx, m) })
		return errors.Join(err, e.settle(ctx))
	}, err
}

// together does one thing with some servers at a time, and says with which it was done.
func together(machines []machine, do func(machine) error) (done []machine, err error) {
	failures := make([]error, len(machines))
	var doing sync.WaitGroup
	for i, m := range machines {
		doing.Go(func() { failures[i] = do(m) })
	}
	doing.Wait()
	for i, m := range machines {
		switch {
		case failures[i] == nil:
			done = append(done, m)
		case m.node != nil:
			failures[i] = fmt.Errorf("node %s: %w", m.node.Name(), failures[i])
		}
	}
	return done, errors.Join(failures...)
}

// settle waits until the nodes have their places in the cluster again, as far as
// other faults let them: a cluster without a quorum is not waited for. A server by
// itself has them when it runs.
func (e *Environment) settle(ctx context.Context) error {
	const look = time.Second // how soon another fault is noticed
	if e.Cluster == nil || !e.Cluster.Quorate() {
		return nil
	}
	// The wait itself has no limit but the caller's: one look at every node may take
	// seconds on a busy machine.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- e.Cluster.AwaitReady(ctx) }()
	again := time.NewTicker(look)
	defer again.Stop()
	for {
		select {
		case err := <-ready:
			return err
		case <-again.C:
		}
		if !e.Cluster.Quorate() {
			cancel()
			<-ready
			return nil
		}
	}
}

func targetOf(machines []machine) target {
	if machines[0].node == nil {
		return target{"server", machines[0].URL()}
	}
	var names []string
	for _, m := range machines {
		names = append(names, m.node.Name())
	}
	return target{"node", strings.Join(names, ",")}
}
