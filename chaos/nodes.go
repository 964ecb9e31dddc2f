package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// What a node may be called by what it does; the other way is its name.
const (
	roleStreamLeader   = "stream-leader"
	roleConsumerLeader = "consumer-leader"
	roleMetaLeader     = "meta-leader"
	roleReader         = "reader"
)

var roles = []string{roleStreamLeader, roleConsumerLeader, roleMetaLeader, roleReader}

// NodeRoles lists what a node of a cluster may be called by what it does.
func NodeRoles() []string { return slices.Clone(roles) }

// checkNodes says what is wrong with the nodes that a fault names, before it fires.
func (e *Environment) checkNodes(s Spec) error {
	f, _ := FindFault(s.Name)
	if f.Layer != LayerProcess {
		return nil
	}
	name, named := s.Params["node"]
	if e.Cluster == nil {
		if named || f.Clustered {
			return fmt.Errorf("fault %s: %w: it acts on a node, and there is no cluster (watch --demo --demo-nodes 3 has one)", s.Name, ErrRefused)
		}
		return nil
	}
	if f.OneNode && !named {
		return fmt.Errorf("fault %s: %w: a cluster whose nodes all do so forgets its streams: name one, as in %s(node=stream-leader)", s.Name, ErrRefused, s.Name)
	}
	if named && !slices.Contains(roles, name) && e.Cluster.Node(name) == nil {
		return s.wrong("node", name, "no such node", append(slices.Clone(roles), e.nodeNames()...)...)
	}
	if n := s.count("count"); n > uint64(len(e.Cluster.Nodes())) {
		return s.wrong("count", s.Params["count"], fmt.Sprintf("the cluster has %d nodes", len(e.Cluster.Nodes())))
	}
	return nil
}

func (e *Environment) nodeNames() (names []string) {
	for _, n := range e.Cluster.Nodes() {
		names = append(names, n.Name())
	}
	return names
}

// choose gives the servers that a fault of the process acts on.
func (e *Environment) choose(ctx context.Context, s Spec) ([]machine, error) {
	if e.Cluster == nil {
		return []machine{{Server: e.Lab}}, nil
	}
	var all []machine
	for _, n := range e.Cluster.Nodes() {
		all = append(all, machine{n.Server, n})
	}
	which := s.param("node")
	if which == "" {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	first, err := e.node(ctx, which)
	if err != nil {
		return nil, err
	}
	chosen := []machine{{first.Server, first}}
	for _, m := range all {
		if uint64(len(chosen)) >= s.count("count") {
			break
		}
		if m.node != first {
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}

// node finds the node of a role or a name.
func (e *Environment) node(ctx context.Context, which string) (*lab.Node, error) {
	switch which {
	case roleStreamLeader:
		return e.Cluster.StreamLeader(ctx, e.Stream)
	case roleMetaLeader:
		return e.Cluster.MetaLeader(ctx)
	case roleConsumerLeader:
		name := e.consumerName()
		if name == "" {
			return nil, errNoConsumer
		}
		return e.Cluster.ConsumerLeader(ctx, e.Stream, name)
	case roleReader:
		if e.Connected == nil {
			return nil, errors.New("nobody tells which node the reader is connected to")
		}
		which = e.Connected()
		if which == "" {
			return nil, errors.New("the reader is connected to no node at the moment")
		}
	}
	n := e.Cluster.Node(which)
	if n == nil {
		return nil, fmt.Errorf("there is no node %q: the cluster has %s", which, strings.Join(e.nodeNames(), ", "))
	}
	return n, nil
}
