package commands_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// observed is a run of the program with --metrics.
type observed struct {
	testing.TB
	ctx    context.Context
	cmd    *exec.Cmd
	stderr *awaited
	stdout *awaited
	url    string
	seen   strings.Builder // all that was answered
	ended  chan struct{}
}

// observe runs a command, with metrics at a port of its own, until the test ends it.
func observe(t testing.TB, args ...string) *observed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	o := &observed{TB: t, ctx: ctx, ended: make(chan struct{}), stdout: &awaited{seen: make(chan struct{})}, stderr: &awaited{text: "/livez\n", seen: make(chan struct{})}}
	o.cmd = exec.CommandContext(ctx, "nats-reader", append(args, "--metrics", "127.0.0.1:0")...)
	o.cmd.Stdout, o.cmd.Stderr = o.stdout, o.stderr
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(o.ended)
		o.cmd.Wait() //nolint:errcheck // the exit code is looked at
	}()
	t.Cleanup(func() { cancel(); <-o.ended })
	select {
	case <-o.stderr.seen:
	case <-o.ended:
		t.Fatalf("ended before it served metrics\n%s%s", o.stdout, o.stderr)
	}
	address := regexp.MustCompile(`(?m)^nats-reader: metrics at (http://127\.0\.0\.1:\d+)/metrics, with /readyz and /livez$`).FindStringSubmatch(o.stderr.String())
	if address == nil {
		t.Fatalf("no address is told: %s", o.stderr)
	}
	o.url = address[1]
	return o
}

func (o *observed) get(path string) (code int, body string) {
	o.Helper()
	req, err := http.NewRequestWithContext(o.ctx, http.MethodGet, o.url+path, nil)
	if err != nil {
		o.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	o.seen.Write(b)
	return resp.StatusCode, string(b)
}

// until asks until the answer is as wanted.
func (o *observed) until(path string, code int, pattern string) string {
	o.Helper()
	wanted := regexp.MustCompile(pattern)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(90 * time.Second)
	defer limit.Stop()
	for {
		got, body := o.get(path)
		if got == code && wanted.MatchString(body) {
			return body
		}
		select {
		case <-look.C:
		case <-limit.C:
			o.Fatalf("never: %d %s from %s; at last %d %s\n%s%s", code, pattern, path, got, body, o.stdout, o.stderr)
		case <-o.ended:
			o.Fatalf("ended, and never: %d %s from %s; at last %d %s\n%s%s", code, pattern, path, got, body, o.stdout, o.stderr)
		}
	}
}

// interrupt ends the run, behind which nothing is served.
func (o *observed) interrupt() {
	o.Helper()
	if err := o.cmd.Process.Signal(os.Interrupt); err != nil {
		o.Fatal(err)
	}
	<-o.ended
	if code := o.cmd.ProcessState.ExitCode(); code != 130 {
		o.Errorf("exit code %d, want 130\n%s%s", code, o.stdout, o.stderr)
	}
	if code, body := o.get("/livez"); code != 0 {
		o.Errorf("served behind its end: %d %q", code, body)
	}
}

// The probes follow the data: a link that moves nothing, under a connection that is open, is not ready.
func TestMetricsOfWatch(t *testing.T) {
	t.Parallel()
	o := observe(t, "watch", "--demo", "--plain", "--heartbeat", "250ms", "--inject", "black-hole@1s+3s", "--inject", "delete-consumer")
	o.until("/readyz", http.StatusOK, `^ready: DEMO: reading\n$`)
	o.until("/readyz", http.StatusServiceUnavailable, `^not ready: DEMO: (recovering|disconnected), silent since 20\S+Z \(\S+\).*: .+\n$`)
	if code, body := o.get("/livez"); code != http.StatusOK || !strings.HasPrefix(body, "alive: DEMO: ") {
		t.Errorf("livez of a deaf reader: %d %q", code, body)
	}
	o.until("/readyz", http.StatusOK, `^ready: DEMO: `)
	body := o.until("/metrics", http.StatusOK, `(?m)^nats_reader_deaf_duration_seconds_count\{reader="DEMO",stream="DEMO"\} [2-9]`)
	for _, want := range []string{
		`nats_reader_ready{reader="DEMO",stream="DEMO"} 1`,
		`nats_reader_sessions_replaced_total{cause="consumer_deleted",reader="DEMO",stream="DEMO"} 1`,
		`nats_reader_build_info{go="go`, `version="0.0.0-test"} 1`, "go_goroutines ", "process_start_time_seconds ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if strings.Contains(body, "demo.events") {
		t.Error("a subject is in the metrics")
	}
	if code, body := o.get("/"); code != http.StatusOK || body != "/metrics\n/readyz\n/livez\n" {
		t.Errorf("the index: %d %q", code, body)
	}
	if code, _ := o.get("/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
	o.interrupt()
}

// A server that goes, and a stream that goes, are told; what logs in is not.
func TestMetricsOfRead(t *testing.T) {
	t.Parallel()
	const secret = "s3cretword"
	server, err := lab.Start(t.Context(), lab.Options{
		Config:       fmt.Sprintf("accounts { A { jetstream: enabled, users: [{user: ann, password: %s}] } }\n", secret),
		ReadyOptions: []nats.Option{nats.UserInfo("ann", secret)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() }) //nolint:errcheck // its test is elsewhere
	nc, err := nats.Connect(server.URL(), nats.UserInfo("ann", secret), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	create := func() {
		t.Helper()
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
			t.Fatal(err)
		}
	}
	create()
	login := strings.Replace(server.URL(), "nats://", "nats://ann:"+secret+"@", 1)
	o := observe(t, "read", "ORDERS", "--no-context", "--server", login, "--heartbeat", "250ms", "--wait-for-stream")
	o.until("/readyz", http.StatusOK, `^ready: ORDERS: (reading|idle)\n$`)
	if err := js.DeleteStream(t.Context(), "ORDERS"); err != nil {
		t.Fatal(err)
	}
	o.until("/readyz", http.StatusServiceUnavailable, `^not ready: ORDERS: recovering, .*: the stream is missing: .*\(404/10059\)\n$`)
	create()
	o.until("/readyz", http.StatusOK, `^ready: ORDERS: `)
	if err := server.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.until("/readyz", http.StatusServiceUnavailable, `^not ready: ORDERS: disconnected, silent since `)
	o.until("/livez", http.StatusOK, `^alive: ORDERS: disconnected`)
	o.until("/metrics", http.StatusOK, `(?m)^nats_reader_state\{reader="ORDERS",state="disconnected",stream="ORDERS"\} 1$`)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.until("/readyz", http.StatusOK, `^ready: ORDERS: `)
	o.interrupt()
	if strings.Contains(o.seen.String(), secret) || strings.Contains(o.stderr.String(), secret) {
		t.Errorf("the password was shown: %s\n%s", o.seen.String(), o.stderr)
	}
}

// A plan with two targets: phases and faults while it runs, and then what was found.
func TestMetricsOfChaosRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "quick.yaml")
	if err := os.WriteFile(file, []byte(`schema: nats-reader/plan/v1
name: quick
title: Two faults
why: Metrics tell them.
phases: {steady: 500ms}
target: {heartbeat: 250ms}
steps:
  - {when: {at: 0s}, fault: delete-consumer}
  - {when: {at: 0s}, fault: black-hole, for: 2s}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := observe(t, "chaos", "run", file, "--target", "reader", "--target", "exec:nats-reader read CHAOS --json")
	o.until("/metrics", http.StatusOK, `(?m)^nats_reader_ready\{reader="quick",stream="CHAOS"\} 1$`)
	o.until("/metrics", http.StatusOK, `(?m)^nats_reader_chaos_faults_in_force\{plan="quick",target="reader"\} 1$`)
	body := o.until("/metrics", http.StatusOK, `(?m)^nats_reader_ready\{reader="quick",stream="CHAOS"\} 0$`)
	for _, want := range []string{
		`nats_reader_chaos_faults_total{fault="delete-consumer",plan="quick",step="fired",target="reader"} 1`,
		`nats_reader_chaos_faults_total{fault="black-hole",plan="quick",step="ended",target="reader"} 0`,
		`nats_reader_chaos_runs{phase="inject",plan="quick",target="reader"} 1`,
		`nats_reader_chaos_runs{phase="steady",plan="quick",target="reader"} 0`,
		`nats_reader_chaos_verdicts_total{finding="held",plan="quick",target="reader"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if code, body := o.get("/readyz"); code == http.StatusOK && !strings.HasPrefix(body, "ready: quick: ") {
		t.Errorf("readyz during a run: %d %q", code, body)
	}
	// The second target is not ours: there is no reader to be ready.
	body = o.until("/metrics", http.StatusOK, `(?m)^nats_reader_chaos_verdicts_total\{finding="held",plan="quick",target="reader"\} 1$`)
	for _, want := range []string{`nats_reader_chaos_faults_in_force{plan="quick",target="reader"} 0`, `nats_reader_chaos_lost_messages_total{plan="quick",target="reader"} 0`} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, `reader="quick"`) {
		t.Errorf("the reader of a run that is over is shown:\n%s", body)
	}
	if sessions := regexp.MustCompile(`(?m)^nats_reader_chaos_sessions_total\{plan="quick",target="reader"\} (\d+)$`).FindStringSubmatch(body); sessions == nil || sessions[1] < "2" {
		t.Errorf("sessions: %q", sessions)
	}
	o.until("/readyz", http.StatusServiceUnavailable, `^not ready: no reader is open\n$`)
	o.until("/livez", http.StatusOK, `^alive: no reader is open yet\n$`)
	o.interrupt()
}
