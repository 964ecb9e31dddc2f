package lab

import (
	"context"
	"errors"
	"fmt"
)

// AwaitReady returns when the nodes have elected a meta leader and JetStream of
// every running node is current: /healthz says ok and the first JetStream request on
// it is answered. Nodes that are stopped, frozen or partitioned are not waited for.
// When ctx ends first, the error tells what was missing at which node.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	missing := errors.New("it was not asked yet")
	err := poll(ctx, &run{}, func() (bool, error) {
		missing = c.ready(ctx)
		return missing == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", err, missing)
	}
	return nil
}

// ready tells what is missing.
func (c *Cluster) ready(ctx context.Context) error {
	var asked []*Node
	for _, n := range c.nodes {
		if n.Running() && !n.Frozen() && n.Partitioned() == CutNone {
			asked = append(asked, n)
		}
	}
	if len(asked) == 0 {
		return errors.New("no node runs")
	}
	err := each(asked, func(n *Node) error {
		err := n.healthy(ctx)
		if err == nil {
			err = n.answers(ctx, true)
		}
		if err != nil {
			err = fmt.Errorf("%w; its log: %s", err, n.words(n.hold.current().mark))
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range asked {
		if n.opts.NoJetStream {
			return nil
		}
	}
	_, err = c.leader(ctx, "", "")
	return err
}

// RollingRestart restarts the nodes one by one with TERM; each has its place in the
// cluster again before the next one goes.
func (c *Cluster) RollingRestart(ctx context.Context) error {
	for _, n := range c.nodes {
		err := n.Restart(ctx)
		if err == nil {
			err = c.AwaitReady(ctx)
		}
		if err != nil {
			return fmt.Errorf("rolling restart at node %s: %w", n.name, err)
		}
	}
	return nil
}
