package commands

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// socksServer is a SOCKS5 proxy (RFC 1928, 1929) that connects whoever asks, whatever for,
// to one server, and keeps what was asked for.
type socksServer struct {
	listener       net.Listener
	leads          string // host:port
	user, password string // empty: nobody has to log in

	mu    sync.Mutex
	asked []string
}

func startSocks(t *testing.T, leads, user, password string) *socksServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &socksServer{listener: listener, leads: leads, user: user, password: password}
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			owned.Go(func() {
				defer conn.Close() //nolint:errcheck // it is over
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close() //nolint:errcheck // it gives none
		owned.Wait()
	})
	return s
}

func (s *socksServer) url() string { return "socks5://" + s.listener.Addr().String() }

// serve talks to one client until either side ends.
func (s *socksServer) serve(conn net.Conn) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			return make([]byte, n) // zeroes are refused by whoever reads them
		}
		return b
	}
	methods := read(int(read(2)[1]))
	method := byte(0)
	if s.user != "" {
		method = 2
	}
	if !slices.Contains(methods, method) {
		conn.Write([]byte{5, 0xff}) //nolint:errcheck // it is refused
		return
	}
	conn.Write([]byte{5, method}) //nolint:errcheck // the next read fails
	if method == 2 {
		user := read(int(read(2)[1]))
		password := read(int(read(1)[0]))
		if string(user) != s.user || string(password) != s.password {
			conn.Write([]byte{1, 1}) //nolint:errcheck // it is refused
			return
		}
		conn.Write([]byte{1, 0}) //nolint:errcheck // the next read fails
	}
	head := read(4)
	var host string
	switch {
	case !bytes.Equal(head[:2], []byte{5, 1}):
		return
	case head[3] == 1:
		host = net.IP(read(4)).String()
	case head[3] == 3:
		host = string(read(int(read(1)[0])))
	default:
		return
	}
	read(2) // the port
	s.mu.Lock()
	s.asked = append(s.asked, host)
	s.mu.Unlock()
	server, err := net.Dial("tcp", s.leads)
	if err != nil {
		conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) //nolint:errcheck // it is refused
		return
	}
	defer server.Close()                             //nolint:errcheck // it is over
	conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}) //nolint:errcheck // the copy fails
	up := make(chan struct{})
	go func() {
		defer close(up)
		io.Copy(server, conn)              //nolint:errcheck // either end ends it
		server.(*net.TCPConn).CloseWrite() //nolint:errcheck // it is over
	}()
	io.Copy(conn, server) //nolint:errcheck // either end ends it
	conn.Close()          //nolint:errcheck // it ends the other direction
	<-up
}

// behindSocks is an address for documents, where nobody is: only the proxy leads to the server.
const behindSocks = "nats://192.0.2.1:4222"

func TestWorldOfSocks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // behind those of the servers
	server := withOrders(t, "")
	free, locked := startSocks(t, hostOf(server.URL()), "", ""), startSocks(t, hostOf(server.URL()), "ann", "s3cret")
	login := strings.Replace(locked.url(), "://", "://ann:s3cret@", 1)
	nobody := "socks5://127.0.0.1:1"
	demand{"", behindSocks, map[string]string{"socks-proxy": free.url()}, map[string]string{"socks-proxy": nobody}, `error: no (server at|connection to) `}.prove(t)
	inContexts(t, "", map[string]string{"here": contextFor(t, server.URL(), map[string]string{"socks-proxy": nobody})})
	d := demand{}
	d.reads(t, []string{"-s", behindSocks, "--socks-proxy", login}, nil)
	d.reads(t, []string{"--context", "here", "--socks-proxy", "none"}, nil)
	free.mu.Lock()
	if len(free.asked) == 0 || free.asked[0] != "192.0.2.1" {
		t.Errorf("the proxy was asked for %q", free.asked)
	}
	free.mu.Unlock()
	t.Run("faults of the wire", func(t *testing.T) {
		var out, errs strings.Builder
		line := "watch ORDERS --plain --duration 1s --inject duplicate-message@0s -s " + behindSocks + " --socks-proxy " + free.url()
		if code := Main(t.Context(), strings.Fields(line), nil, &out, &errs, ""); code != exitGood || !strings.Contains(out.String(), "contract held  delivered=1 ") {
			t.Errorf("code %d\n%s%s", code, out.String(), errs.String())
		}
	})
	t.Run("proxy", func(t *testing.T) {
		listen, end := runProxy(t, "--upstream", behindSocks, "--socks-proxy", free.url())
		roundTrip(t, listen)
		if code, text := end(); code != exitInterrupted {
			t.Errorf("code %d\n%s", code, text)
		}
	})
	t.Run("refused", func(t *testing.T) {
		for _, proxy := range []string{nobody, locked.url(), strings.Replace(login, "s3cret", "wrong", 1)} {
			code, _, stderr := d.run(t, []string{"-s", behindSocks, "--timeout", "30s"}, []string{"--socks-proxy", proxy})
			if code != exitCannotJudge || !strings.Contains(stderr, "error: no connection to "+behindSocks+": SOCKS proxy 127.0.0.1:") ||
				!strings.Contains(stderr, "hint: the proxy is that of flag --socks-proxy") || strings.Contains(stderr, "wrong@") {
				t.Errorf("%s: code %d\n%s", proxy, code, stderr)
			}
		}
	})
}
