package chaos

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// processFaults are those on the processes of the lab's servers. What each of them
// does there is in process.go.
func processFaults() []Fault {
	const (
		server = "the process of the lab's server; in a cluster all nodes at once"
		node   = "the processes of some nodes of the lab's cluster"
	)
	fault := func(name, where string, length time.Duration, does, undo string, parameters ...proxy.Parameter) Fault {
		return Fault{
			Name: name, Layer: LayerProcess, Where: where, Default: length, Does: does, Undo: undo, Parameters: parameters,
			Reversible: true, Danger: "none: the servers are children of this process",
		}
	}
	onNode := func(f Fault) Fault {
		f.Clustered = true
		return f
	}
	killed := func(f Fault) Fault {
		f.SetsBack = true
		return f
	}
	oneNode := func(f Fault) Fault {
		f.OneNode, f.Where = true, "the process of the lab's server; in a cluster of one node"
		return f
	}
	which := proxy.Parameter{
		Name: "node", Type: proxy.Name, Default: roleStreamLeader,
		Words: "stream-leader, consumer-leader, meta-leader, reader (the one that the reader is connected to), or a name such as n1",
	}
	some := []proxy.Parameter{which, {Name: "count", Type: proxy.Count, Default: "1", Words: "so many nodes, beginning with that one: 2 of 3 take the quorum away"}}
	only := which
	only.Default, only.Words = "", "in a cluster only this node: "+which.Words
	needed := which
	needed.Default, needed.Words = "", "in a cluster the node, which is to be named, since one whose nodes all do so forgets its streams: "+which.Words
	lame := proxy.Parameter{Name: "lame-duck", Type: proxy.Bool, Default: "false", Words: "the node first asks its clients to move (lame-duck mode)"}
	loses := fault("lose-store", server, time.Second, "kills the server, empties its store, and starts it again on the same port",
		"the server runs again: its streams are gone, or in a cluster come back from the other replicas", only)
	loses.Reversible, loses.Destructive = false, true
	loses.Danger = "destroys every stream and consumer that has no replica elsewhere"

	return []Fault{
		fault("stop-server", server, time.Second, "ends the server with TERM and starts it again on the same port and store", "the server runs again"),
		killed(fault("kill-server", server, time.Second, "kills the server with KILL and starts it again on the same port and store", "the server runs again")),
		fault("freeze-server", server, 5*time.Second, "stops the server's process with STOP: connections stay open, nothing is answered", "the process goes on with CONT", only),
		onNode(fault("stop-node", node, 5*time.Second, "ends a node with TERM and starts it again on the same port and store", "the node runs again", append(some, lame)...)),
		killed(onNode(fault("kill-node", node, 5*time.Second, "kills a node with KILL and starts it again on the same port and store", "the node runs again", some...))),
		onNode(fault("partition", "the routes of some nodes of the lab's cluster; clients reach every node", 10*time.Second,
			"cuts a node off from the other nodes", "the routes carry again",
			append(some, proxy.Parameter{Name: "how", Type: proxy.Word, Default: string(lab.CutBoth), Allowed: lab.Cuts(),
				Words: "nothing arrives in both directions, in to the node or out of it; or routes are reset and refused"})...)),
		oneNode(fault("disable-jetstream", server, 5*time.Second, "switches JetStream off by a reload of the config",
			"JetStream is on again, with what is stored", needed)),
		fault("revoke-permission", server, 5*time.Second, "takes a permission away from the reader's user by a reload of the config", "the permission is given back",
			proxy.Parameter{Name: "subject", Type: proxy.Subject, Default: pullSubjects, Words: "what the user may not use"},
			proxy.Parameter{Name: "side", Type: proxy.Word, Default: sidePublish, Allowed: []string{sidePublish, sideSubscribe}, Words: "what it may not do with it"}),
		loses,
	}
}
