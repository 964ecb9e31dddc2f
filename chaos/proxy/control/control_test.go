package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func TestMain(m *testing.M) {
	lab.Main()
	goleak.VerifyTestMain(m)
}

// bench is a proxy with a control that listens.
type bench struct {
	*testing.T
	proxy   *proxy.Proxy
	control *Control
	server  *Server
	client  *Client

	mu      sync.Mutex
	changes []Change
	changed chan struct{} // holds a value when something was told since the last look
}

func newBench(t *testing.T, upstream, token string) *bench {
	t.Helper()
	b := &bench{T: t, changed: make(chan struct{}, 1)}
	var err error
	if b.proxy, err = proxy.New(upstream, proxy.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.proxy.Close() }) //nolint:errcheck // it gives none
	b.control = New(b.proxy, Options{Version: "1.2.3", Token: token, OnChange: b.told})
	t.Cleanup(b.control.Close)
	if b.server, err = b.control.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if b.client, err = NewClient(b.server.URL(), token); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.client.Close)
	return b
}

func (b *bench) told(c Change) {
	b.mu.Lock()
	b.changes = append(b.changes, c)
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// awaitOver waits until a fault is told to be over.
func (b *bench) awaitOver(id uint64) {
	b.Helper()
	limit := time.After(20 * time.Second)
	for {
		b.mu.Lock()
		for _, c := range b.changes {
			if c.Fault.ID == id && c.Over {
				b.mu.Unlock()
				return
			}
		}
		b.mu.Unlock()
		select {
		case <-b.changed:
		case <-limit:
			b.Fatalf("fault %d is never over", id)
		}
	}
}

// raw sends a request as any program would and gives status and document.
func (b *bench) raw(method, path, body string, headers ...string) (int, map[string]any) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL()+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		b.Fatalf("%s %s: %v in %q", method, path, err, text)
	}
	if schema, _ := doc["schema"].(string); !strings.HasPrefix(schema, "nats-reader/") || bytes.Count(text, []byte("\n")) != 1 {
		b.Errorf("%s %s: no schema, or not one line: %s", method, path, text)
	}
	return answer.StatusCode, doc
}

func startServer(t *testing.T) *lab.Server {
	t.Helper()
	server, err := lab.Start(t.Context(), lab.Options{NoJetStream: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func TestFaultOnARealClient(t *testing.T) {
	b := newBench(t, startServer(t).URL(), "")
	if _, err := b.proxy.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{}, 1)
	nc, err := nats.Connect(b.proxy.URL(), nats.Name("mine"), nats.Timeout(20*time.Second), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { lost <- struct{}{} }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	proxies, err := b.client.Proxies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := proxies["proxy"]
	if len(p.Connections) != 1 || p.Connections[0] != "mine" || p.Upstream != b.proxy.Upstream() || p.Listen != b.proxy.URL() || !p.Enabled {
		t.Errorf("got %+v", p)
	}
	fault, err := b.client.Inject(t.Context(), "cut", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !fault.Once || fault.ID != 1 {
		t.Errorf("got %+v", fault)
	}
	select {
	case <-lost:
	case <-time.After(20 * time.Second):
		t.Fatal("the connection was not cut")
	}
	firings, total, err := b.client.Firings(t.Context(), fault.ID, 10)
	if err != nil || total != 1 || len(firings) != 1 || firings[0].Fault != "cut" {
		t.Errorf("%d firings: %+v, %v", total, firings, err)
	}
	if err := b.client.Undo(t.Context(), fault.ID); !errors.Is(err, ErrNoSuchFault) {
		t.Errorf("one that acted once: got %v", err)
	}
	if version, err := b.client.Version(t.Context()); err != nil || version != "1.2.3" {
		t.Errorf("version %q, %v", version, err)
	}
}

func TestFaultsEnd(t *testing.T) {
	b := newBench(t, "127.0.0.1:1", "")
	timed, err := b.client.Inject(t.Context(), "drop-message(nth=3)", 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if timed.For != "10ms" || timed.ForNS != int64(10*time.Millisecond) {
		t.Errorf("got %+v", timed)
	}
	b.awaitOver(timed.ID)
	if err := b.client.Undo(t.Context(), timed.ID); !errors.Is(err, ErrNoSuchFault) {
		t.Errorf("an ended fault: got %v", err)
	}
	one, err := b.client.Inject(t.Context(), "api-timeout(for=1h)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if inForce := b.proxy.Faults(); len(inForce) != 1 || inForce[0].ID != one.ID || one.ID != 2 {
		t.Errorf("in force %+v, told %+v", inForce, one)
	}
	if err := b.client.Undo(t.Context(), one.ID); err != nil {
		t.Error(err)
	}
	if inForce := b.proxy.Faults(); len(inForce) != 0 {
		t.Errorf("in force after the end: %+v", inForce)
	}
	for range 3 {
		if _, err := b.client.Inject(t.Context(), "black-hole", time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := b.client.Reset(t.Context()); err != nil || n != 3 || len(b.proxy.Faults()) != 0 {
		t.Errorf("reset ended %d, %v; left %+v", n, err, b.proxy.Faults())
	}
	last, err := b.control.Apply(proxy.Fault{Name: "black-hole", For: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	b.control.Close()
	b.awaitOver(last.ID)
	if len(b.proxy.Faults()) != 0 {
		t.Errorf("left after Close: %+v", b.proxy.Faults())
	}
	if _, err := b.client.Inject(t.Context(), "black-hole", 0); err == nil {
		t.Error("a closed control takes faults")
	}
}

func TestIDsAreThoseOfTheProxy(t *testing.T) {
	b := newBench(t, "127.0.0.1:1", "")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := b.client.Inject(b.Context(), "api-timeout", time.Hour); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	listed, inForce := b.control.Faults(), b.proxy.Faults()
	if len(listed) != 20 || len(inForce) != 20 {
		t.Fatalf("%d listed, %d in force", len(listed), len(inForce))
	}
	for i := range listed {
		if listed[i].ID != inForce[i].ID {
			t.Errorf("listed %d, in force %d", listed[i].ID, inForce[i].ID)
		}
	}
}

func TestBadRequests(t *testing.T) {
	b := newBench(t, "127.0.0.1:1", "")
	for _, c := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"POST", "/faults", `{"fault":"drop-mesage(nth=3)"}`, 400, "did you mean drop-message?"},
		{"POST", "/faults", `{"fault":"drop-message(nht=3)"}`, 400, "did you mean nth?"},
		{"POST", "/faults", `{"fault":"drop-message(nth=0)"}`, 400, "nth"},
		{"POST", "/faults", `{"fault":"drop-msg"}`, 400, "did you mean drop-message?"},
		{"POST", "/faults", `{"fault":"forge-status(status=409)"}`, 400, "did you mean code?"},
		{"POST", "/faults", `{"fault":"black-hole(weather=fine)"}`, 400, "known: conn, direction, new, for"},
		{"POST", "/faults", `{"fault":"delete-consumer"}`, 400, "chaos list"},
		{"POST", "/faults", `{"fault":"black-hole","for":"1001h"}`, 400, "at most 1000h"},
		{"POST", "/faults", `{"fault":"cut","for":5}`, 400, `"for" is a number: want a string`},
		{"POST", "/faults", `[]`, 400, "no JSON object but array"},
		{"POST", "/faults", `{"fault":"cut","for":"3s"}`, 400, "acts once"},
		{"POST", "/faults", `{"fault":"black-hole","for":"soon"}`, 400, `"for"`},
		{"POST", "/faults", `{"fault":"black-hole(for=2s)","for":"3s"}`, 400, "leave one out"},
		{"POST", "/faults", `{"fault":"black-hole@3s"}`, 400, "schedule"},
		{"POST", "/faults", `{"for":"3s"}`, 400, `"fault" is missing`},
		{"POST", "/faults", `{"fault":"cut","when":"now"}`, 400, "when"},
		{"POST", "/faults", `{"fault":"cut"} {}`, 400, "follows"},
		{"POST", "/faults", `drop-message`, 400, "no JSON"},
		{"POST", "/faults", ``, 400, "empty"},
		{"POST", "/faults", `"` + strings.Repeat("x", maxBody) + `"`, 413, "longer"},
		{"PUT", "/faults", ``, 405, "GET or POST"},
		{"GET", "/reset", ``, 405, "POST"},
		{"DELETE", "/faults/7", ``, 404, "fault 7"},
		{"DELETE", "/faults/seven", ``, 400, "seven"},
		{"GET", "/toxics", ``, 404, "/toxics"},
		{"GET", "/firings?limit=x", ``, 400, "limit"},
		{"GET", "/firings?since=x", ``, 400, "since"},
	} {
		status, doc := b.raw(c.method, c.path, c.body)
		text := fmt.Sprint(doc["error"], " ", doc["hint"])
		if status != c.status || doc["schema"] != ErrorSchema || !strings.Contains(text, c.words) {
			t.Errorf("%s %s %.60s: got %d %v, want %d with %q", c.method, c.path, c.body, status, doc, c.status, c.words)
		}
	}
	if n := len(b.proxy.Faults()); n != 0 {
		t.Errorf("%d faults are in force after bad requests", n)
	}
	for _, path := range []string{"/proxies", "/proxies/", "/faults", "/firings?limit=0", "/version"} {
		if status, doc := b.raw("GET", path, ""); status != 200 {
			t.Errorf("GET %s: %d %v", path, status, doc)
		}
	}
}

func TestToken(t *testing.T) {
	b := newBench(t, "127.0.0.1:1", "secret")
	for _, headers := range [][]string{nil, {"Authorization", "Bearer wrong"}, {"Authorization", "secret"}, {"Authorization", "Bearer "}} {
		status, doc := b.raw("POST", "/faults", `{"fault":"black-hole"}`, headers...)
		if hint, _ := doc["hint"].(string); status != 401 || !strings.Contains(hint, "--control-token or NATS_READER_CONTROL_TOKEN") {
			t.Errorf("%q: %d %v", headers, status, doc)
		}
	}
	if len(b.proxy.Faults()) != 0 {
		t.Error("a fault is in force without the token")
	}
	if _, err := b.client.Inject(t.Context(), "black-hole", time.Hour); err != nil {
		t.Error(err)
	}
	if _, err := b.control.Listen(t.Context(), "127.0.0.1:x"); err == nil || errors.Is(err, ErrTokenNeeded) {
		t.Errorf("with a token: got %v", err)
	}
}

func TestOnlyLoopbackWithoutAToken(t *testing.T) {
	b := newBench(t, "127.0.0.1:1", "")
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "example.org:0", "192.0.2.1:0"} {
		if _, err := b.control.Listen(t.Context(), addr); !errors.Is(err, ErrTokenNeeded) {
			t.Errorf("%s: got %v", addr, err)
		}
	}
	for _, headers := range [][]string{
		{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"}, {"Origin", "http://evil.example"}, {"Host", "rebound.example:8474"},
	} {
		if status, doc := b.raw("POST", "/faults", `{"fault":"black-hole"}`, headers...); status != 403 {
			t.Errorf("%q: %d %v", headers, status, doc)
		}
	}
	if len(b.proxy.Faults()) != 0 {
		t.Error("a web page put a fault into force")
	}
}

func TestClientTellsWhatIsNoControl(t *testing.T) {
	for _, base := range []string{"", "http://", "ftp://127.0.0.1:1", "http://a/b", "http://u:p@127.0.0.1:1"} {
		if _, err := NewClient(base, ""); err == nil {
			t.Errorf("%q is taken for an address", base)
		}
	}
	server := startServer(t)
	c, err := NewClient(server.MonitorURL(), "") // speaks HTTP and is no control
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Inject(t.Context(), "cut", 0); !errors.Is(err, ErrNoControl) {
		t.Errorf("got %v", err)
	}
	gone, err := NewClient("127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v", err)
	}
}
