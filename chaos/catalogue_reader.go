package chaos

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// readerFaults are those on the side of the reader: the code that works on its
// messages, or its process. What each of them does there is in readerside.go.
func readerFaults() []Fault {
	const (
		code    = "the code that is handed the messages, in this process"
		program = "the process group of an outside program that reads (target exec:CMD)"
	)
	fault := func(name, where string, length time.Duration, does, undo string, parameters ...proxy.Parameter) Fault {
		return Fault{
			Name: name, Layer: LayerReader, Where: where, Default: length, Does: does, Undo: undo, Parameters: parameters,
			Reversible: true, Danger: "none: only the reader itself feels it; what others use of its connection waits with it",
		}
	}
	return []Fault{
		fault(slowReader, code, 10*time.Second, "makes the code pause after each message, so that messages wait in front of the reader",
			"the code works at full speed again",
			proxy.Parameter{Name: "pause", Type: proxy.Duration, Default: "20ms", Words: "how long each message takes"}),
		fault(stalledReader, code, 10*time.Second, "makes the code stand still with a message in its hand, as one behind a lock or a full disk",
			"the code goes on"),
		fault(freezeReader, program, 5*time.Second, "stops the program with STOP: its connection stays open, and it answers nothing",
			"the program goes on with CONT"),
	}
}

// The faults of the reader's side.
const (
	slowReader    = "slow-reader"
	stalledReader = "stalled-reader"
	freezeReader  = "freeze-reader"
)
