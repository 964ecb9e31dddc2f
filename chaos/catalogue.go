package chaos

import (
	"slices"
	"sync"
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
	LayerReader  Layer = "reader"  // on the reader's own side: its code or its process
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
	SetsBack    bool              // a server that it kills may come back without what it acknowledged last
	Pauses      bool              // it pauses the consumer, as an operator does
	OnStream    bool              // it acts on a whole stream, whoever reads it
	Clustered   bool              // it acts in a cluster alone
	OneNode     bool              // in a cluster it acts on one node: on all at once it would destroy the streams
	Danger      string            // what it may do to others
}

// Faults is the one catalogue of all faults, in the order they are shown.
func Faults() []Fault {
	var all []Fault
	for _, e := range proxy.Catalogue() {
		all = append(all, Fault{
			Name: e.Name, Layer: LayerWire, Where: e.Where, Does: e.Words, Undo: e.Undo,
			Parameters: e.Parameters, Once: e.Once, Reversible: true,
			Danger: "none to what is stored: only connections through the proxy feel it",
		})
	}
	return slices.Concat(all, serverFaults(), processFaults(), readerFaults())
}

// FaultNames lists the names of all faults in the order of the catalogue.
func FaultNames() []string {
	var names []string
	for _, f := range Faults() {
		names = append(names, f.Name)
	}
	return names
}

// found has every fault by its name. The catalogue does not change while a process lives.
var found = sync.OnceValue(func() map[string]Fault {
	all := map[string]Fault{}
	for _, f := range Faults() {
		all[f.Name] = f
	}
	return all
})

// FindFault gives the catalogue's entry of a name. Its parameters are shared: they must
// not be changed.
func FindFault(name string) (Fault, bool) {
	f, known := found()[name]
	return f, known
}
