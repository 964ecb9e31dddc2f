package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// AwaitReady returns when the nodes have elected a meta leader, have routes to each
// other, and JetStream of every running node is current: /healthz says ok and the first
// JetStream request on it is answered. Nodes that are stopped, frozen or partitioned are not waited for.
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

// Quorate says whether more than half of the nodes run, neither frozen nor partitioned:
// without them no cluster becomes ready.
func (c *Cluster) Quorate() bool { return 2*len(c.present()) > len(c.nodes) }

// present are the nodes that can have a place in the cluster.
func (c *Cluster) present() (nodes []*Node) {
	for _, n := range c.nodes {
		if n.Running() && !n.Frozen() && n.Partitioned() == CutNone {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// ready tells what is missing.
func (c *Cluster) ready(ctx context.Context) error {
	asked := c.present()
	if len(asked) == 0 {
		return errors.New("no node runs")
	}
	err := each(asked, func(n *Node) error {
		err := n.healthy(ctx)
		if err == nil {
			err = n.routed(ctx, asked)
		}
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
	leader, err := c.leader(ctx, "", "")
	if err != nil {
		return err
	}
	return leader.places(ctx, asked)
}

// places says whether the meta leader takes every other node for one it can place
// streams on: it learns of a node a moment after the node is current.
func (n *Node) places(ctx context.Context, others []*Node) error {
	all, err := n.jsz(ctx, "")
	if err != nil {
		return err
	}
	online := map[string]bool{n.name: true}
	for _, r := range all.Meta.Replicas {
		online[r.Name] = r.Current && !r.Offline
	}
	for _, other := range others {
		if !online[other.name] {
			return fmt.Errorf("node %s is not online for the meta leader %s", other.name, n.name)
		}
	}
	return nil
}

// routed says whether the node has a route to every other: JetStream may be current
// over fewer, and an election that misses one takes seconds.
func (n *Node) routed(ctx context.Context, others []*Node) error {
	body, err := n.monitor(ctx, "/routez")
	if err != nil {
		return err
	}
	var all struct {
		Routes []struct {
			RemoteName string `json:"remote_name"`
		} `json:"routes"`
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return fmt.Errorf("/routez: %w", err)
	}
	to := map[string]bool{n.name: true}
	for _, r := range all.Routes {
		to[r.RemoteName] = true
	}
	for _, other := range others {
		if !to[other.name] {
			return fmt.Errorf("there is no route to node %s", other.name)
		}
	}
	return nil
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
