package lab

import (
	"encoding/json"
	"io"
	"sync"
)

// An order goes to the keeper, one JSON line each on its stdin. Each is
// answered by a news of kind newsReply with the same ID.
type order struct {
	ID     int      `json:"id"`
	Do     verb     `json:"do"`
	Path   string   `json:"path,omitempty"`   // of the server binary; "" is the embedded server
	Args   []string `json:"args,omitempty"`   // command line of the server
	Signal string   `json:"signal,omitempty"` // TERM, KILL, STOP, CONT, HUP or USR2
}

type verb string

const (
	doStart  verb = "start"
	doSignal verb = "signal"
)

// A news comes from the keeper, one JSON line each on its stdout, in the order
// in which things happened: everything a server wrote comes before its exit.
type news struct {
	Kind  newsKind `json:"kind"`
	ID    int      `json:"id,omitempty"`
	Dir   string   `json:"dir,omitempty"`
	PID   int      `json:"pid,omitempty"`
	Error string   `json:"error,omitempty"`
	Log   []byte   `json:"log,omitempty"`
	Exit  string   `json:"exit,omitempty"` // how it ended, in the words of os.ProcessState
}

type newsKind string

const (
	newsHello newsKind = "hello" // the folder is made (Dir), or could not be (Error)
	newsReply newsKind = "reply" // to an order: PID of the started server, or Error
	newsLog   newsKind = "log"   // a piece of the server's stdout and stderr
	newsExit  newsKind = "exit"  // the server is gone and reaped
)

// lineWriter writes values as JSON lines; safe for concurrent use.
type lineWriter struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func newLineWriter(w io.Writer) *lineWriter { return &lineWriter{enc: json.NewEncoder(w)} }

func (l *lineWriter) write(v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enc.Encode(v)
}
