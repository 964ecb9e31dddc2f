package lab

import (
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
)

const defaultMaxStart = 20 * time.Second

// Options say which server Start runs. The zero value is the embedded
// nats-server with JetStream on a free port and a temporary store.
type Options struct {
	// ServerBin is the path, or the name in PATH, of a nats-server binary. Empty:
	// what NATS_READER_SERVER_BIN or NATS_READER_SERVER_VERSION name, or else the
	// embedded nats-server in a child of this executable.
	ServerBin string

	// Config is the text of a nats-server config file: accounts, permissions,
	// TLS, limits. Ports, address and monitoring are the lab's and win over the
	// text, which must not name a store_dir: use StoreDir. Relative paths of certificates are taken from the working
	// directory of this process.
	Config string

	// NoJetStream runs the server without JetStream, unless Config turns it on.
	NoJetStream bool

	// StoreDir is the folder of the JetStream store; it is made when missing and
	// kept at Close. Empty: a temporary folder, removed at Close.
	StoreDir string

	// Port is the client port on 127.0.0.1; 0 is a free one.
	Port int

	// ReadyOptions let the lab's own connection, which asks whether the server is
	// ready, log in where Config demands it: user, credentials, root CAs, inbox
	// prefix. That user needs to publish $JS.API.INFO and receive the answer.
	ReadyOptions []nats.Option

	// MaxStart bounds the time from start to ready, on top of ctx; 0 is 20s.
	MaxStart time.Duration

	// Log receives all that the server writes, by one goroutine. A Write that
	// waits stops the server once the pipes are full.
	Log io.Writer

	member *membership // of a cluster; nil: a server by itself
}

func (o Options) validate() error {
	if o.Port < 0 || o.Port > 65535 {
		return fmt.Errorf("Options.Port is %d: use 1 to 65535, or 0 for a free port", o.Port)
	}
	if o.MaxStart < 0 {
		return fmt.Errorf("Options.MaxStart is %s: use a positive duration, or 0 for %s", o.MaxStart, defaultMaxStart)
	}
	return nil
}
