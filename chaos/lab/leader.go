package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// ErrNoLeader says that no running node leads what was asked for, or that there is
// no such thing.
var ErrNoLeader = errors.New("no node says that it leads")

// MetaLeader gives the node that leads the cluster's JetStream: it places streams
// and consumers. During an election it waits, until ctx ends (ErrNoLeader).
func (c *Cluster) MetaLeader(ctx context.Context) (*Node, error) {
	return c.awaitLeader(ctx, "", "")
}

// StreamLeader gives the node that leads a stream, in the first account that has
// one of this name; that of a stream with one replica is the node it lives on.
func (c *Cluster) StreamLeader(ctx context.Context, stream string) (*Node, error) {
	return c.awaitLeader(ctx, stream, "")
}

// ConsumerLeader gives the node that leads a consumer, as StreamLeader does.
func (c *Cluster) ConsumerLeader(ctx context.Context, stream, consumer string) (*Node, error) {
	return c.awaitLeader(ctx, stream, consumer)
}

func (c *Cluster) awaitLeader(ctx context.Context, stream, consumer string) (*Node, error) {
	var found *Node
	var missing error
	err := poll(ctx, &run{}, func() (bool, error) {
		found, missing = c.leader(ctx, stream, consumer)
		return missing == nil, nil
	})
	if err != nil {
		return nil, errors.Join(missing, err)
	}
	return found, nil
}

// leader asks the nodes which of them leads. One that is cut off may believe it of
// itself for a while: another one wins.
func (c *Cluster) leader(ctx context.Context, stream, consumer string) (*Node, error) {
	claims := make([]bool, len(c.nodes))
	var asking sync.WaitGroup
	for i, n := range c.nodes {
		if n.Running() && !n.Frozen() {
			asking.Go(func() { claims[i] = n.leads(ctx, stream, consumer) })
		}
	}
	asking.Wait()
	var found *Node
	for i, n := range c.nodes {
		if claims[i] && (found == nil || found.Partitioned() != CutNone) {
			found = n
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w %s", ErrNoLeader, ledThing(stream, consumer))
	}
	return found, nil
}

func ledThing(stream, consumer string) string {
	switch {
	case stream == "":
		return "the cluster"
	case consumer == "":
		return "stream " + stream
	default:
		return fmt.Sprintf("consumer %s of stream %s", consumer, stream)
	}
}

// jsz is what is read of the endpoint of that name.
type jsz struct {
	Meta     group `json:"meta_cluster"`
	Accounts []struct {
		Streams []struct {
			Name      string `json:"name"`
			Cluster   group  `json:"cluster"`
			Consumers []struct {
				Name    string `json:"name"`
				Cluster group  `json:"cluster"`
			} `json:"consumer_detail"`
		} `json:"stream_detail"`
	} `json:"account_details"`
}

type group struct {
	Leader   string `json:"leader"`
	Replicas []struct {
		Name    string `json:"name"`
		Current bool   `json:"current"`
		Offline bool   `json:"offline"`
	} `json:"replicas"`
}

func (n *Node) jsz(ctx context.Context, query string) (all jsz, err error) {
	body, err := n.monitor(ctx, "/jsz"+query)
	if err != nil {
		return all, err
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return all, fmt.Errorf("/jsz: %w", err)
	}
	return all, nil
}

// leads says whether the node believes that it leads. One that does not answer is
// taken for one that does not.
func (n *Node) leads(ctx context.Context, stream, consumer string) bool {
	query := ""
	if stream != "" {
		query = "?accounts=true&streams=true&consumers=true"
	}
	all, err := n.jsz(ctx, query)
	if err != nil {
		return false
	}
	if stream == "" {
		return all.Meta.Leader == n.name
	}
	for _, a := range all.Accounts {
		for _, s := range a.Streams {
			if s.Name != stream {
				continue
			}
			if consumer == "" {
				return s.Cluster.Leader == n.name
			}
			for _, c := range s.Consumers {
				if c.Name == consumer {
					return c.Cluster.Leader == n.name
				}
			}
		}
	}
	return false
}
