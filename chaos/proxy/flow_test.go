package proxy

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ends are the outer ends of one connection through a proxy without a server: what the test writes and
// reads there is what a client and a server would.
type ends struct {
	t              *testing.T
	p              *Proxy
	client, server *pipeEnd

	mu      sync.Mutex
	notices []Notice // read when all goroutines wait
}

// through makes a connection of two pipes. It is used within synctest, where waits take no time.
func through(t *testing.T, o Options) *ends {
	t.Helper()
	e := &ends{t: t}
	o.OnNotice = func(n Notice) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.notices = append(e.notices, n)
	}
	p, err := New("127.0.0.1:4222", o)
	if err != nil {
		t.Fatal(err)
	}
	e.p = p
	var nearClient, nearServer *pipeEnd
	e.client, nearClient = newPipe(pipeAddr("client"), pipeAddr("proxy"))
	e.server, nearServer = newPipe(pipeAddr("server"), pipeAddr("proxy"))
	if err := p.register(nearClient, nearServer, false); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *ends) close() {
	if err := e.p.Close(); err != nil {
		e.t.Error(err)
	}
}

func (e *ends) apply(fault string) (undo func()) {
	e.t.Helper()
	f, err := ParseFault(fault)
	if err != nil {
		e.t.Fatal(err)
	}
	undo, err = e.p.Apply(f)
	if err != nil {
		e.t.Fatal(err)
	}
	return undo
}

// send writes on one end, and returns when all goroutines wait again.
func (e *ends) send(end *pipeEnd, s string) {
	e.t.Helper()
	if _, err := end.Write([]byte(s)); err != nil {
		e.t.Fatal(err)
	}
	synctest.Wait()
}

// got returns what has arrived at one end.
func (e *ends) got(end *pipeEnd) string {
	e.t.Helper()
	synctest.Wait()
	if err := end.SetReadDeadline(time.Now()); err != nil {
		e.t.Fatal(err)
	}
	defer end.SetReadDeadline(time.Time{})
	end.in.mu.Lock()
	size := end.in.size
	end.in.reading.passed = false
	end.in.mu.Unlock()
	if size == 0 {
		return ""
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(end, b); err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

func (e *ends) want(end *pipeEnd, want string) {
	e.t.Helper()
	if got := e.got(end); got != want {
		e.t.Fatalf("arrived:\n%q\nwant:\n%q", got, want)
	}
}

func delivery(n int, payload string) string {
	return fmt.Sprintf("MSG ORDERS.new 1 $JS.ACK.ORDERS.C.1.%d.%d.1700000000000000000.0 %d\r\n%s\r\n", n, n, len(payload), payload)
}

// Streams of every kind pass byte for byte, however they are cut.
func TestStreamsPassUnchanged(t *testing.T) {
	for name, stream := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				synctest.Test(t, func(t *testing.T) {
					e := through(t, Options{})
					defer e.close()
					from, to := e.client, e.server
					if directionOf(name) == Down {
						from, to = e.server, e.client
					}
					var got []byte
					read := make(chan error, 1)
					go func() {
						var err error
						got, err = io.ReadAll(to)
						read <- err
					}()
					for _, chunk := range chunked(stream, rand.New(rand.NewPCG(seed, 3)), 1+int(seed*seed*9)) {
						e.send(from, string(chunk))
					}
					from.CloseWrite()
					if err := <-read; err != nil {
						t.Fatal(err)
					}
					want := bytes.Replace(stream, []byte(`,"connect_urls":["10.0.0.1:4222"]`), nil, 1)
					if !bytes.Equal(got, want) {
						t.Fatalf("seed %d: arrived\n%q\nwant\n%q", seed, got, want)
					}
					traffic := e.p.Traffic()
					opaque := traffic.Up.Opaque + traffic.Down.Opaque
					malformed := strings.Contains(name, "unknown") || strings.Contains(name, "wrong") ||
						strings.Contains(name, "bad") || strings.Contains(name, "too-long") || strings.Contains(name, "unclosed")
					if malformed != (opaque > 0) || malformed != (len(e.notices) == 1) {
						t.Errorf("opaque bytes %d, notices %v", opaque, e.notices)
					}
				})
			}
		})
	}
}

// A fault takes out whole frames and nothing else, however the stream is cut.
func TestDroppedFramesLeaveNoTrace(t *testing.T) {
	var stream, want strings.Builder
	for n := 1; n <= 60; n++ {
		frame := delivery(n, strings.Repeat("x", n*n))
		stream.WriteString(frame)
		if n%7 != 0 {
			want.WriteString(frame)
		}
		for _, between := range []string{"PING\r\n", "HMSG _INBOX.a.1 1 16 16\r\nNATS/1.0 100\r\n\r\n\r\n"} {
			stream.WriteString(between)
			want.WriteString(between)
		}
	}
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{})
			defer e.close()
			e.apply("drop-message(every=7)")
			var got strings.Builder
			for _, chunk := range chunked([]byte(stream.String()), rand.New(rand.NewPCG(seed, 4)), 1+int(seed*seed*20)) {
				e.send(e.server, string(chunk))
				got.WriteString(e.got(e.client))
			}
			if got.String() != want.String() {
				t.Fatalf("seed %d: what arrived is not the stream without each seventh message", seed)
			}
			firings := e.p.Firings()
			if len(firings) != 8 || firings[0].Frame.StreamSequence != 7 || firings[7].Frame.ConsumerSequence != 56 {
				t.Errorf("seed %d: fired %+v", seed, firings)
			}
		})
	}
}

func TestInjectedFramesGoBetweenFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.send(e.client, "SUB a 7\r\nPUB b 10\r\n01234")
		e.want(e.server, "SUB a 7\r\nPUB b 10\r\n01234")
		e.apply("drop-subscription(sid=7)")
		e.want(e.server, "")
		if n := len(e.p.Firings()); n != 0 {
			t.Fatalf("%d firings before the frame was written", n)
		}
		e.send(e.client, "56789\r\nPUB c 1\r\nx")
		e.want(e.server, "56789\r\nUNSUB 7\r\nPUB c 1\r\nx")
		e.send(e.client, "\r\nPI")
		e.want(e.server, "\r\n")
		if f := e.p.Firings(); len(f) != 1 || f[0].Frame.SID != "7" || f[0].Frame.Subject != "a" || f[0].Fault != "drop-subscription(sid=7)" {
			t.Fatalf("firings %+v", f)
		}
		// A part of a control line is not on its way yet: the frame goes before it.
		e.send(e.client, "NG\r\nSUB d 8\r\nSU")
		e.want(e.server, "PING\r\nSUB d 8\r\n")
		e.apply("drop-subscription(subject=d)")
		e.want(e.server, "UNSUB 8\r\n")
		e.apply("drop-subscription(subject=d)") // it is forgotten already
		e.send(e.client, "B e 9\r\n")
		e.want(e.server, "SUB e 9\r\n")
	})
}

func TestVerboseConnectionStaysInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.send(e.client, "CONNECT {\"verbose\":true}\r\nSUB x 1\r\n")
		e.got(e.server)
		undo := e.apply("api-timeout")
		e.send(e.client, "PUB $JS.API.INFO x 0\r\n\r\n")
		e.want(e.server, "")
		e.want(e.client, "+OK\r\n")
		undo()
		e.apply("drop-subscription(sid=1)")
		e.want(e.server, "UNSUB 1\r\n")
		e.send(e.server, "+OK\r\n+OK\r\n+OK\r\n")
		e.want(e.client, "+OK\r\n+OK\r\n")
	})
}

func TestLastMessageBeforeQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.apply("drop-message(last=1s)")
		heartbeat := "HMSG _INBOX.a.1 1 16 16\r\nNATS/1.0 100\r\n\r\n\r\n"
		e.send(e.server, delivery(1, "a"))
		e.want(e.client, "")
		time.Sleep(900 * time.Millisecond)
		e.send(e.server, "PONG\r\n"+delivery(2, "b"))
		e.want(e.client, "PONG\r\n"+delivery(1, "a"))
		time.Sleep(900 * time.Millisecond)
		e.send(e.server, heartbeat+"MSG other 2 1\r\nx\r\n")
		e.want(e.client, "MSG other 2 1\r\nx\r\n")
		time.Sleep(200 * time.Millisecond)
		e.want(e.client, heartbeat)
		if f := e.p.Firings(); len(f) != 1 || f[0].Frame.StreamSequence != 2 || f[0].Frame.Fate != Dropped {
			t.Fatalf("firings %+v", f)
		}
		e.send(e.server, delivery(3, "c"))
		e.want(e.client, delivery(3, "c")) // once, unless limit says otherwise
	})
}

func TestHeldMessageIsPassedOnAtTheEnd(t *testing.T) {
	large := strings.Repeat("y", 300<<10)
	for _, end := range []string{"undo", "reset", "duration", "server closes"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := through(t, Options{})
				defer e.close()
				undo := e.apply("drop-message(last=1m,for=10s)")
				for part := delivery(1, large); part != ""; {
					n := min(len(part), 50<<10)
					e.send(e.server, part[:n])
					part = part[n:]
				}
				e.want(e.client, "")
				got := make([]byte, len(delivery(1, large)))
				done := make(chan error, 1)
				go func() {
					_, err := io.ReadFull(e.client, got)
					done <- err
				}()
				switch end {
				case "undo":
					undo()
				case "reset":
					e.p.Reset()
				case "duration":
					time.Sleep(11 * time.Second)
				case "server closes":
					e.server.CloseWrite()
				}
				start := time.Now()
				if err := <-done; err != nil || time.Since(start) != 0 {
					t.Fatalf("the message came after %v, %v", time.Since(start), err)
				}
				if string(got) != delivery(1, large) {
					t.Fatal("what arrived is not the message")
				}
				if f := e.p.Firings(); len(f) != 0 {
					t.Errorf("fired %+v on a message that arrived", f)
				}
			})
		})
	}
}

// What waits behind a held message is bounded: beyond the bound all of it is passed on, in order, at once.
func TestTooMuchBehindAHeldMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.apply("drop-message(last=1h)")
		want := delivery(1, "held")
		for n := 0; len(want) <= maxWaiting+1<<10; n++ {
			want += fmt.Sprintf("MSG status.%d 1 60000\r\n%s\r\n", n, strings.Repeat("s", 60000))
		}
		got := make([]byte, len(want))
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(e.client, got)
			read <- err
		}()
		start := time.Now()
		e.send(e.server, want)
		if err := <-read; err != nil || time.Since(start) != 0 {
			t.Fatalf("it came after %v, %v", time.Since(start), err)
		}
		if string(got) != want {
			t.Error("what arrived is not what was sent")
		}
	})
}
