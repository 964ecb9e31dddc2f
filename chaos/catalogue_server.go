package chaos

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// serverFaults are those through the server's API. What each of them asks the
// server for is in actions.go.
func serverFaults() []Fault {
	const api = "the JetStream API of the server, on a connection of its own"
	consumer := func(name, does, undo, danger string) Fault {
		return Fault{Name: name, Layer: LayerServer, Where: api, Once: true, Reversible: true, Does: does, Undo: undo, Danger: danger}
	}
	stream := func(name, does, undo, danger string) Fault {
		f := consumer(name, does, undo, danger)
		f.OnStream = true
		return f
	}
	destructive := func(f Fault, parameters ...proxy.Parameter) Fault {
		f.Reversible, f.Destructive, f.Parameters = false, true, parameters
		return f
	}
	lasting := func(f Fault, length time.Duration) Fault {
		f.Once, f.Default = false, length
		return f
	}
	pausing := func(f Fault, length time.Duration) Fault {
		f.Pauses = true
		return lasting(f, length)
	}
	clustered := func(f Fault) Fault {
		f.Clustered = true
		return f
	}
	return []Fault{
		consumer("delete-consumer", "deletes the consumer that the reader uses at the moment", "nothing to undo: the reader makes another",
			"a durable loses its place for good; a client that makes no new consumer stops"),
		pausing(consumer("pause-consumer", "pauses the consumer that the reader uses at the moment (nats-server 2.11 and later)",
			"the consumer is resumed, or paused again until when it was paused before", "its reader gets nothing meanwhile; the server ends the pause by itself when its time is over"), 5*time.Second),
		clustered(consumer("step-down-consumer", "has the leader of the consumer step down, so that another node leads it (a cluster, 3 replicas)",
			"nothing to undo: another node leads", "its reader waits for an election")),
		clustered(stream("step-down-stream", "has the leader of the stream step down, so that another node leads it (a cluster, 3 replicas)",
			"nothing to undo: another node leads", "publishers and readers of the stream wait for an election")),
		lasting(stream("fill-consumers", "makes consumers until the stream has as many as max_consumers allows, so that the next one is refused (10026)",
			"the consumers it made are deleted; left alone they expire", "nobody can make a consumer on the stream meanwhile"), 5*time.Second),
		destructive(stream("purge-stream", "removes the messages of the stream", "none: the messages are gone", "destroys messages"),
			proxy.Parameter{Name: "keep", Type: proxy.Count, Words: "so many of the newest messages stay"},
			proxy.Parameter{Name: "subject", Type: proxy.Subject, Words: "only messages of this subject"}),
		destructive(stream("delete-stream", "deletes the stream with its messages and consumers, for good", "none: the stream is gone",
			"destroys the stream, its messages and every consumer of it, durables too")),
		destructive(lasting(stream("recreate-stream", "deletes the stream and, at its end, makes it again with the same configuration",
			"the stream is there again, empty", "destroys the messages and every consumer of the stream, durables too"), time.Second),
			proxy.Parameter{Name: "first", Type: proxy.Count, Words: "the first sequence of the new stream (nats-server 2.10 and later)"}),
	}
}
