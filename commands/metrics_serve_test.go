package commands

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// The end waits for nobody who asks nothing or keeps a connection, and leaves no goroutine.
func TestMetricsEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	end := newMetrics("1.2.3").serve(t.Context(), listener)
	defer end()
	dial := func() net.Conn {
		t.Helper()
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	silent, kept := dial(), dial()
	defer silent.Close() //nolint:errcheck // it is closed at the other end
	defer kept.Close()   //nolint:errcheck // it is closed at the other end
	said := bufio.NewReader(kept)
	for _, c := range []struct {
		request string
		code    int
	}{
		{"GET /metrics", http.StatusOK}, {"HEAD /readyz", http.StatusServiceUnavailable}, {"GET /livez", http.StatusOK}, {"GET /", http.StatusOK},
		{"GET /secrets", http.StatusNotFound}, {"POST /metrics", http.StatusMethodNotAllowed}, {"DELETE /livez", http.StatusMethodNotAllowed},
	} {
		fmt.Fprintf(kept, "%s HTTP/1.1\r\nHost: x\r\n\r\n", c.request)
		method, _, _ := strings.Cut(c.request, " ")
		answer, err := http.ReadResponse(said, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s: %v", c.request, err)
		}
		if answer.StatusCode != c.code {
			t.Errorf("%s: %d, want %d", c.request, answer.StatusCode, c.code)
		}
		if err := answer.Write(new(strings.Builder)); err != nil { // reads its body to the end
			t.Errorf("%s: %v", c.request, err)
		}
	}
	end()
	end()
	if _, err := said.ReadByte(); err == nil {
		t.Error("the connection was kept")
	}
}

// A command that fails behind the begin of its metrics leaves nothing of them.
func TestMetricsOfAFailureLeaveNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var stdout, stderr strings.Builder
	args := []string{"read", "S", "--no-context", "--server", "nats://127.0.0.1:1", "--metrics", ":0"}
	code := Main(t.Context(), args, nil, &stdout, &stderr, "")
	if code != exitCannotJudge || !strings.HasPrefix(stderr.String(), "nats-reader: metrics at http://127.0.0.1:") || !strings.Contains(stderr.String(), "nats-reader: error: no server at ") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}
