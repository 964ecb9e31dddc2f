package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
)

var (
	// ErrNotRunning is returned by what needs a running server.
	ErrNotRunning = errors.New("the server is not running: call Start")
	// ErrRunning is returned by what needs a stopped server.
	ErrRunning = errors.New("the server is running: call Term or Kill first")
	// ErrFrozen is returned by what a frozen server cannot do.
	ErrFrozen = errors.New("the server is frozen: call Thaw first, or Kill")
	// ErrClosed is returned by every method that acts after Close.
	ErrClosed = errors.New("the lab's server is closed")
	// ErrMainNotCalled is returned by Start when children of this executable
	// would not know that they are children.
	ErrMainNotCalled = errors.New("lab.Main was not called in this process: call it first in TestMain (tests) or in main, so that the server can run as a child of this executable")
)

// Server is one nats-server in a process of its own. Its methods are safe for
// concurrent use; those that act on the process take turns.
type Server struct {
	opts     Options
	binary   string // "" is the embedded server
	hold     *hold
	log      *tail
	ports    ports
	storeDir string

	turn chan struct{} // held by the one method that acts on the process

	config     string           // by whoever has the turn, as the next
	amendments []*func() string // what Amend added, in the order of the calls

	life      context.Context // ends with Close
	close     context.CancelFunc
	closeOnce sync.Once
	closeErr  error

	mu     sync.Mutex
	frozen bool
}

// Names in the temporary folder.
const (
	mainConfig = "nats-server.conf" // includes the other
	userConfig = "config.conf"      // Options.Config as it is, so that line numbers in errors are right
	tempStore  = "store"
	keeperMark = "keeper" // held by the keeper as long as it lives
	labMark    = "lab"    // held by the process that started the keeper, until it lets the keeper go
)

// URL is the client URL, nats://127.0.0.1:PORT; the same for the whole life.
func (s *Server) URL() string { return fmt.Sprintf("nats://%s:%d", loopback, s.Port()) }

// MonitorURL is the base URL of the monitoring endpoints, http://127.0.0.1:PORT.
func (s *Server) MonitorURL() string {
	return fmt.Sprintf("http://%s:%d", loopback, s.ports.monitor.port)
}

// Port is the client port.
func (s *Server) Port() int { return s.ports.client.port }

// StoreDir is the folder given to the server as its JetStream store_dir.
func (s *Server) StoreDir() string { return s.storeDir }

// TempDir is the folder that Close removes: config files and, unless
// Options.StoreDir named another, the store.
func (s *Server) TempDir() string { return s.hold.dir }

// Binary is the path of the nats-server binary that runs; "" is the embedded one.
func (s *Server) Binary() string { return s.binary }

// PID is the process id of the running server; 0 when it is not running.
func (s *Server) PID() int {
	if r := s.hold.current(); r != nil && !r.over() {
		return r.pid
	}
	return 0
}

// Log is the end, up to 256 KiB, of what the server has written in all its runs.
func (s *Server) Log() string { return s.log.since(0) }

// Running says whether there is a server process, frozen or not.
func (s *Server) Running() bool { return s.PID() != 0 }

// Frozen says whether the server process is stopped by Freeze.
func (s *Server) Frozen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen && s.Running()
}

// Gone is closed when the present run of the server has ended, by whatever
// cause; of a stopped server it is closed already. A later Start has a new one.
func (s *Server) Gone() <-chan struct{} { return s.hold.current().gone }

// LastExit says how the last run of the server ended, such as "exit status 0"
// or "signal: killed"; "" while it runs.
func (s *Server) LastExit() string {
	if r := s.hold.current(); r.over() {
		return r.exit
	}
	return ""
}

func (s *Server) setFrozen(frozen bool) {
	s.mu.Lock()
	s.frozen = frozen
	s.mu.Unlock()
}

// words makes a piece of the server's log fit for an error: why it failed, on
// one line, without the folder that is gone when somebody reads it.
func (s *Server) words(mark int) string {
	text := complaint(s.log.since(mark))
	return strings.ReplaceAll(text, s.hold.dir+string(filepath.Separator), "")
}
