package chaos

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Layer says by which way a fault reaches the reader.
type Layer string

// The layers.
const (
	LayerWire    Layer = "wire"    // on the connection, through the proxy
	LayerServer  Layer = "server"  // through the server's own API
	LayerProcess Layer = "process" // on the server's process, in the lab
)

// Fault describes one fault of the catalogue.
type Fault struct {
	Name        string
	Layer       Layer
	Where       string            // where it acts
	Does        string            // what it does
	Undo        string            // what its end leaves
	Parameters  []proxy.Parameter // those in the parentheses
	Once        bool              // it acts when it fires and takes no duration
	Default     time.Duration     // how long it lasts where none is given; 0: until the end
	Reversible  bool              // its end leaves no trace on the server's data
	Destructive bool              // it destroys messages
}

// Faults is the one catalogue of all faults, in the order they are shown.
func Faults() []Fault {
	var all []Fault
	for _, e := range proxy.Catalogue() {
		all = append(all, Fault{
			Name: e.Name, Layer: LayerWire, Where: e.Where, Does: e.Words, Undo: e.Undo,
			Parameters: e.Parameters, Once: e.Once, Reversible: true,
		})
	}
	return append(all, serverFaults()...)
}

func serverFaults() []Fault {
	const api = "the JetStream API of the server, on a connection of its own"
	return []Fault{
		{
			Name: "delete-consumer", Layer: LayerServer, Where: api, Once: true, Reversible: true,
			Does: "deletes the consumer that the reader uses at the moment",
			Undo: "nothing to undo: the reader makes another",
		},
		{
			Name: "pause-consumer", Layer: LayerServer, Where: api, Default: 5 * time.Second, Reversible: true,
			Does: "pauses the consumer that the reader uses at the moment (nats-server 2.11 and later)",
			Undo: "the consumer is resumed",
		},
		{
			Name: "purge-stream", Layer: LayerServer, Where: api, Once: true, Destructive: true,
			Does: "removes the messages of the stream",
			Undo: "none: the messages are gone",
			Parameters: []proxy.Parameter{
				{Name: "keep", Type: proxy.Count, Words: "so many of the newest messages stay"},
				{Name: "subject", Type: proxy.Subject, Words: "only messages of this subject"},
			},
		},
		{
			Name: "recreate-stream", Layer: LayerServer, Where: api, Default: time.Second, Destructive: true,
			Does: "deletes the stream and, at its end, makes it again with the same configuration",
			Undo: "the stream is there again, empty",
			Parameters: []proxy.Parameter{
				{Name: "first", Type: proxy.Count, Words: "the first sequence of the new stream (nats-server 2.10 and later)"},
			},
		},
		processFault("stop-server", time.Second, "ends the server with TERM and starts it again on the same port and store", "the server runs again"),
		processFault("kill-server", time.Second, "kills the server with KILL and starts it again on the same port and store", "the server runs again"),
		processFault("freeze-server", 5*time.Second, "stops the server's process with STOP: connections stay open, nothing is answered", "the process goes on with CONT"),
	}
}

func processFault(name string, length time.Duration, does, undo string) Fault {
	return Fault{
		Name: name, Layer: LayerProcess, Where: "the process of the lab's server", Default: length,
		Does: does, Undo: undo, Reversible: true,
	}
}

// FaultNames lists the names of all faults in the order of the catalogue.
func FaultNames() []string {
	var names []string
	for _, f := range Faults() {
		names = append(names, f.Name)
	}
	return names
}

// FindFault gives the catalogue's entry of a name.
func FindFault(name string) (Fault, bool) {
	all := Faults()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i], true
}
