package control

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// shelf is a buffer for several goroutines.
type shelf struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shelf) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *shelf) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A nats-server greets at once; net/http's log of that would stand between the lines of a program.
func TestClientOfWhatSpeaksFirstLogsNothing(t *testing.T) {
	var logged shelf
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	server := startServer(t)
	for range 50 {
		c, err := NewClient(server.URL()[len("nats://"):], "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Version(t.Context()); err == nil {
			t.Fatal("a nats-server is taken for a control")
		}
		c.Close()
	}
	if text := logged.String(); text != "" {
		t.Errorf("logged %q", text)
	}
}

// What the other side says waits for the first word of ours.
func TestSpeakFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := &speakFirst{Conn: ours, spoken: make(chan struct{})}
		var heard, closed atomic.Bool
		go func() {
			var b [1]byte
			_, err := c.Read(b[:])
			heard.Store(err == nil)
			_, err = c.Read(b[:])
			closed.Store(errors.Is(err, io.ErrClosedPipe))
		}()
		go theirs.Write([]byte("I")) //nolint:errcheck // heard tells
		synctest.Wait()
		if heard.Load() {
			t.Error("it was read before anything was written")
		}
		go theirs.Read(make([]byte, 1)) //nolint:errcheck // a Write that returns tells
		if _, err := c.Write([]byte("G")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !heard.Load() {
			t.Error("it was not read after something was written")
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !closed.Load() {
			t.Error("a read outlives the connection")
		}
	})
}

// A connection that ends before a word was said keeps no reader.
func TestSpeakFirstEndsUnspoken(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close() //nolint:errcheck // a pipe
	c := &speakFirst{Conn: ours, spoken: make(chan struct{})}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
