package lab

import (
	"fmt"
	"strings"
)

// membership is what makes a server a node of a cluster.
type membership struct {
	name    string // of the node
	cluster string
	route   *heldPort // where it takes routes
	seeds   []string  // where it reaches the other nodes: cables that begin at this node
	nowhere string    // an address that refuses every connection
}

// config is the cluster's part of the node's config file. Nodes tell each other
// the address that is advertised, and connect to it: it leads nowhere, so that
// every route is one of the seeds and a partition has no hole.
func (m *membership) config() string {
	var seeds []string
	for _, s := range m.seeds {
		seeds = append(seeds, fmt.Sprintf("%q", "nats-route://"+s))
	}
	return fmt.Sprintf("server_name: %q\ncluster: { name: %q, listen: \"%s:%d\", advertise: %q, routes: [%s] }\n",
		m.name, m.cluster, loopback, m.route.port, m.nowhere, strings.Join(seeds, ", "))
}
