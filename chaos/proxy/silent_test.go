package proxy_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// soon is a time that a server which answers at all keeps even on a busy machine, and that is worth waiting out.
const soon = 3 * time.Second

func (b *bed) freeze(s *lab.Server) {
	b.t.Helper()
	if err := s.Freeze(); err != nil {
		b.t.Skipf("this system cannot freeze a process: %v", err)
	}
	b.t.Cleanup(func() { s.Thaw() }) //nolint:errcheck // it may be thawed already
}

// waitNotice returns the first notice with all the parts, which is one line.
func (w *wire) waitNotice(t testing.TB, parts ...string) (found proxy.Notice) {
	t.Helper()
	w.wait(t, fmt.Sprintf("a notice with %q", parts), func() bool {
		for _, n := range w.notices {
			missing := strings.Contains(n.Text, "\n")
			for _, part := range parts {
				missing = missing || !strings.Contains(n.Text, part)
			}
			if !missing {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

// An upstream that is frozen accepts and says nothing: it is passed over for the next one, which is told once,
// also when many clients come at once.
func TestFrozenUpstreamIsPassedOver(t *testing.T) {
	b := newBed(t)
	second, err := lab.Start(b.ctx, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	o := b.log.options()
	o.InfoTimeout = soon
	b.proxy = newProxy(t, b.server.URL()+","+second.URL(), o)
	b.usable(b.dial(false))
	b.freeze(b.server)
	const n = 50
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			options := []nats.Option{nats.Timeout(limit)}
			if i%2 == 0 {
				options = append(options, nats.SetCustomDialer(b.proxy.Dialer()))
			}
			nc, err := nats.Connect(b.proxy.URL(), options...)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			if at := "nats://" + nc.ConnectedAddr(); i%2 != 0 && at != b.proxy.URL() {
				t.Errorf("the client is at %s", at)
			}
			if err := nc.FlushTimeout(limit); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	frozen, other := strings.TrimPrefix(b.server.URL(), "nats://"), strings.TrimPrefix(second.URL(), "nats://")
	if b.proxy.Upstream() != other {
		t.Errorf("the upstream is %s, want %s", b.proxy.Upstream(), other)
	}
	if n := b.log.waitNotice(t, "clients go to the upstream "+other, "upstream "+frozen+" accepts and is silent", soon.String()); n.Conn != 0 {
		t.Errorf("%+v", n)
	}
	b.log.wait(t, "one notice", func() bool { return len(b.log.notices) == 1 })
	if traffic := b.proxy.Traffic(); traffic.Refused != 0 {
		t.Errorf("%+v", traffic)
	}
	// Who comes now does not wait for the frozen one, and when that is back and the other is gone it is taken again.
	b.usable(b.dial(false))
	if err := b.server.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := second.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	b.usable(b.dial(false))
	if b.proxy.Upstream() != frozen {
		t.Errorf("the upstream is %s, want %s", b.proxy.Upstream(), frozen)
	}
}

// Where a frozen upstream is the only one the client is not left waiting.
func TestFrozenUpstreamAlone(t *testing.T) {
	b := newBed(t)
	b.freeze(b.server)
	client, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetReadDeadline(time.Now().Add(limit))
	if got, err := io.ReadAll(client); len(got) != 0 || os.IsTimeout(err) {
		t.Errorf("the client reads %q, %v; want the end", got, err)
	}
	b.log.waitNotice(t, "connect to the upstream", "accepts and is silent: no INFO within 2s", "Options.UpstreamTLSFirst")
	_, err = b.proxy.Dialer().Dial("", "")
	mustFail(t, err, "connect to the upstream", "accepts and is silent")
	if traffic := b.proxy.Traffic(); traffic.Refused != 2 || traffic.Accepted != 0 {
		t.Errorf("%+v", traffic)
	}
	// The same is told once however many are turned away, and then that it is over.
	for range 3 {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.Copy(io.Discard, c) //nolint:errcheck // it is closed
	}
	if err := b.server.Thaw(); err != nil {
		t.Fatal(err)
	}
	b.usable(b.dial(false))
	b.log.waitNotice(t, "the upstream "+b.proxy.Upstream()+" answers again")
	b.log.wait(t, "two notices", func() bool { return len(b.log.notices) == 2 })
	b.freeze(b.server)
	// A frozen server and clients that wait for it do not hold up Close.
	for range 20 {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if err := b.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := proxy.New("127.0.0.1", proxy.Options{InfoTimeout: -1}); err == nil || !strings.Contains(err.Error(), "InfoTimeout") {
		t.Errorf("InfoTimeout -1: %v", err)
	}
}

// oneServer is a listener that says the same to everyone who comes, and then goes or stays.
func oneServer(t *testing.T, network, addr, says string, stays bool) (address string) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", addr, err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer c.Close()
				io.WriteString(c, says) //nolint:errcheck // the proxy may be gone
				if stays {
					io.Copy(io.Discard, c) //nolint:errcheck // until the proxy goes
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return l.Addr().String()
}

// What is no whole INFO is no server: told, and the next upstream is taken.
func TestUpstreamThatIsNone(t *testing.T) {
	b := newBed(t)
	for name, c := range map[string]struct {
		says  string
		stays bool
		want  []string
	}{
		"ends at once":           {"", false, []string{"ends the connection before its INFO is whole"}},
		"ends within its INFO":   {`INFO {"server_id":"A`, false, []string{"ends the connection before its INFO is whole"}},
		"stands within its INFO": {`INFO {"server_id":"A`, true, []string{"silent: no INFO within"}},
		"mail":                   {"220 mail.example.org ESMTP\r\n", true, []string{"it is no NATS server: it begins with", "220 mail"}},
		"part of a word":         {"INFERIOR", true, []string{"it is no NATS server"}},
		"endless":                {"INFO " + strings.Repeat("x", 2<<20), true, []string{"its INFO is longer than 1048576 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			log := newWire()
			o := log.options()
			o.InfoTimeout = soon
			if name == "stands within its INFO" {
				o.InfoTimeout = 100 * time.Millisecond
			}
			address := oneServer(t, "tcp", "127.0.0.1:0", c.says, c.stays)
			p := newProxy(t, address, o)
			_, err := p.Dialer().Dial("", "")
			mustFail(t, err, append(c.want, address)...)
			o.InfoTimeout = 0
			p = newProxy(t, address+","+b.server.URL(), o)
			nc, err := nats.Connect(p.URL(), nats.Timeout(limit))
			if err != nil {
				t.Fatal(err)
			}
			nc.Close()
			log.waitNotice(t, append(c.want, address, "clients go to the upstream")...)
		})
	}
}

// An INFO of almost the longest size, in small pieces or at once, reaches the client whole, also by IPv6.
func TestLongINFO(t *testing.T) {
	long := `INFO {"server_id":"` + strings.Repeat("A", 1<<20-60) + `","version":"2.15.3"}` + "\r\n"
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			log := newWire()
			p := newProxy(t, oneServer(t, "tcp", addr, long, true), log.options())
			conn, err := p.Dialer().Dial("", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(limit))
			got := make([]byte, len(long))
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != long {
				t.Errorf("%d bytes of the INFO came changed, %v", len(got), err)
			}
			log.waitFrame(t, "the INFO", func(f proxy.Frame) bool { return f.Verb == proxy.INFO && f.Bytes == len(long) })
		})
	}
}
