package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ClusterOptions say which cluster StartCluster runs. The zero value is three
// nodes of the embedded nats-server.
type ClusterOptions struct {
	// Nodes is how many; 0 is 3. They are named n1, n2, n3.
	Nodes int

	// Name is the name of the cluster; empty: lab.
	Name string

	// Server is what every node is. Its Config must name no cluster and no
	// server_name, its Port must be 0, and below its StoreDir every node has a folder
	// of its name. MaxStart bounds the time from start to a cluster that is ready; 0 is 60s.
	Server Options

	// Each changes the options of one node, counted from 0: another ServerBin for
	// a cluster of several versions, another Config.
	Each func(node int, o *Options)
}

const (
	defaultNodes        = 3
	defaultClusterName  = "lab"
	defaultClusterStart = 60 * time.Second
)

// MostNodes is how many nodes a cluster of the lab can have.
const MostNodes = 9

// Cluster is some nats-servers with routes between them, each in a process of its
// own. The routes run over cables of this process, so that they can be cut. Its
// methods are safe for concurrent use.
type Cluster struct {
	nodes    []*Node
	nowhere  *cable
	routes   []route
	maxStart time.Duration

	mu   sync.Mutex
	cuts []Cut // of each node

	closeOnce sync.Once
	closeErr  error
}

// route is the cable from one node to another.
type route struct {
	*cable
	from, to int
}

// Node is a server of a cluster. Its Start and Restart return when it lets clients
// in; Cluster.AwaitReady waits until it has its place in the cluster.
type Node struct {
	*Server
	cluster *Cluster
	index   int
	name    string
}

// Name is the node's server_name, n1 for the first.
func (n *Node) Name() string { return n.name }

// StartCluster runs a cluster and returns when it is ready: see AwaitReady. The
// error of a node that does not come up holds the node's own words. After an error
// nothing is left.
func StartCluster(ctx context.Context, o ClusterOptions) (*Cluster, error) {
	if err := o.settle(); err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Server.MaxStart, fmt.Errorf("not ready after %s", o.Server.MaxStart))
	defer cancel()
	c := &Cluster{cuts: make([]Cut, o.Nodes), maxStart: o.Server.MaxStart}
	err := c.start(ctx, o)
	if err == nil {
		err = c.AwaitReady(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a cluster: %w", err), c.Close())
	}
	return c, nil
}

// settle fills the defaults in and tells what cannot be.
func (o *ClusterOptions) settle() error {
	if o.Nodes == 0 {
		o.Nodes = defaultNodes
	}
	if o.Nodes < 2 || o.Nodes > MostNodes {
		return fmt.Errorf("ClusterOptions.Nodes is %d: use 2 to %d, or 0 for %d", o.Nodes, MostNodes, defaultNodes)
	}
	if o.Server.Port != 0 {
		return fmt.Errorf("ClusterOptions.Server.Port is %d: nodes have free ports, leave it 0", o.Server.Port)
	}
	if err := o.Server.validate(); err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = defaultClusterName
	}
	if o.Server.MaxStart == 0 {
		o.Server.MaxStart = defaultClusterStart
	}
	if o.Server.Log != nil {
		o.Server.Log = &sharedLog{to: o.Server.Log}
	}
	return nil
}

// start lays the cables and starts the nodes together: none is ready alone.
func (c *Cluster) start(ctx context.Context, o ClusterOptions) error {
	members, err := c.lay(o)
	if err != nil {
		return err
	}
	c.nodes = make([]*Node, o.Nodes)
	failures := make([]error, o.Nodes)
	var starting sync.WaitGroup
	for i, m := range members {
		options := o.Server
		options.member = m
		if options.StoreDir != "" {
			options.StoreDir = filepath.Join(options.StoreDir, m.name)
		}
		if o.Each != nil {
			o.Each(i, &options)
		}
		starting.Go(func() {
			s, err := Start(ctx, options)
			if err != nil {
				m.route.release()
				failures[i] = fmt.Errorf("node %s: %w", m.name, err)
				return
			}
			c.nodes[i] = &Node{Server: s, cluster: c, index: i, name: m.name}
		})
	}
	starting.Wait()
	return errors.Join(failures...)
}

// lay holds the ports of the routes and lays a cable from every node to every other.
func (c *Cluster) lay(o ClusterOptions) ([]*membership, error) {
	members := make([]*membership, o.Nodes)
	release := func(err error) ([]*membership, error) {
		for _, m := range members {
			if m != nil {
				m.route.release()
			}
		}
		return nil, err
	}
	var err error
	if c.nowhere, err = layCable(""); err != nil {
		return nil, err
	}
	for i := range members {
		port, err := holdPort(0)
		if err != nil {
			return release(fmt.Errorf("no free port on %s: %w", loopback, err))
		}
		members[i] = &membership{name: "n" + strconv.Itoa(i+1), cluster: o.Name, route: port, nowhere: c.nowhere.addr()}
	}
	for from, m := range members {
		for to, other := range members {
			if from == to {
				continue
			}
			laid, err := layCable(net.JoinHostPort(loopback, strconv.Itoa(other.route.port)))
			if err != nil {
				return release(err)
			}
			c.routes = append(c.routes, route{laid, from, to})
			m.seeds = append(m.seeds, laid.addr())
		}
	}
	return members, nil
}

// Nodes are all nodes, running or not, n1 first.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// Node gives the node of a name; nil: there is none.
func (c *Cluster) Node(name string) *Node {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// URL lists the client URLs of all nodes, separated by commas; the same for the whole life.
func (c *Cluster) URL() string {
	urls := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		urls[i] = n.URL()
	}
	return strings.Join(urls, ",")
}

// Log is the end of what every node has written, at most so many lines of each
// that ran: for the message of a test that failed.
func (c *Cluster) Log(lines int) string {
	var text strings.Builder
	for _, n := range c.nodes {
		all := strings.Split(strings.TrimSpace(n.Server.Log()), "\n")
		for _, line := range all[max(0, len(all)-lines):] {
			fmt.Fprintf(&text, "%s: %s\n", n.name, line)
		}
	}
	return text.String()
}

// each does one thing with some nodes, all at a time.
func each(nodes []*Node, do func(*Node) error) error {
	failures := make([]error, len(nodes))
	var doing sync.WaitGroup
	for i, n := range nodes {
		doing.Go(func() {
			if err := do(n); err != nil {
				failures[i] = fmt.Errorf("node %s: %w", n.name, err)
			}
		})
	}
	doing.Wait()
	return errors.Join(failures...)
}

// Close kills every node, removes what is temporary and frees the ports, as
// Server.Close does. Calling it again returns the same.
func (c *Cluster) Close() error {
	c.closeOnce.Do(func() {
		var there []*Node // after a failed start some may be missing
		for _, n := range c.nodes {
			if n != nil {
				there = append(there, n)
			}
		}
		c.closeErr = each(there, func(n *Node) error {
			err := n.Close()
			n.opts.member.route.release()
			return err
		})
		for _, r := range c.routes {
			r.close()
		}
		if c.nowhere != nil {
			c.nowhere.close()
		}
	})
	return c.closeErr
}

// sharedLog lets several servers write to one log.
type sharedLog struct {
	mu sync.Mutex
	to io.Writer
}

func (l *sharedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}
