package readertest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
)

// forgotVariable makes this binary one whose TestMain forgets lab.Main.
const forgotVariable = "READERTEST_FORGOT"

func TestMain(m *testing.M) {
	if os.Getenv(forgotVariable) == "" {
		lab.Main()
	}
	goleak.VerifyTestMain(m)
}

func TestWithoutMain(t *testing.T) {
	if os.Getenv(forgotVariable) != "" {
		readertest.New(t, readertest.Options{})
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutMain$")
	cmd.Env = append(os.Environ(), forgotVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "lab.Main was not called in this process: call it first in TestMain") {
		t.Errorf("got %v\n%s", err, out)
	}
}

// Our own reader behind it: everything that a Bed can do, and nothing lost.
func TestReaderOnABed(t *testing.T) {
	bed := readertest.New(t, readertest.Options{})
	bed.Stream("ORDERS", "orders.>")
	js, err := jetstream.New(bed.Connect())
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.Open(t.Context(), js, reader.Config{Stream: "ORDERS", Pull: reader.Pull{Heartbeat: 500 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.Background()) //nolint:errcheck // the test is over
	var ids []string
	read := func(published []string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range published {
			m, err := r.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, string(m.Data))
		}
	}
	read(bed.Publish(10))

	undo := bed.Inject("drop-message(nth=2)")
	read(bed.Publish(5))
	if n := bed.Fired("drop-message(nth=2)"); n != 1 {
		t.Errorf("drop-message acted %d times", n)
	}
	undo()
	bed.Inject("drop-subscription")
	read(bed.Publish(5))

	bed.Kill()
	bed.Restart()
	read(bed.Publish(5))

	bed.Freeze()
	if !bed.Server().Frozen() {
		t.Error("not frozen")
	}
	bed.Thaw()
	read(bed.Publish(5))

	bed.Stop()
	bed.Restart()
	read(bed.Publish(5))
	if v := bed.Judge(ids); v.Finding != oracle.Held || v.Delivered != 35 {
		t.Errorf("got %+v", v)
	}
}

// A cluster under the test of a client: its nodes go, and the proxy leads to those that are left.
func TestBedOfAClusterOfNodes(t *testing.T) {
	bed := readertest.New(t, readertest.Options{Nodes: 3})
	bed.StreamWith(jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}, Replicas: 3})
	js, err := jetstream.New(bed.Connect())
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.Open(t.Context(), js, reader.Config{Stream: "ORDERS", Pull: reader.Pull{Heartbeat: 500 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	bed.Publish(5)
	undo := bed.Inject("kill-node(node=n2)")
	if bed.Cluster().Node("n2").Running() {
		t.Error("n2 runs")
	}
	undo()
	undo() // once is enough
	if !bed.Cluster().Node("n2").Running() {
		t.Error("n2 does not run")
	}
	heal := bed.Inject("partition(node=n3)")
	var ids []string
	for m, err := range r.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, string(m.Data)); len(ids) == 5 {
			break
		}
	}
	heal() // a node that is cut off may lead the consumer, which Close deletes
	if v := bed.Judge(ids); v.Finding != oracle.Held {
		t.Errorf("got %+v", v)
	}
}

// recorder is a test that remembers how it was failed.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// fails calls what must fail the test, and says how it did.
func (r *recorder) fails(do func()) (said string) {
	r.said = nil
	defer func() {
		if v := recover(); v != nil && v != any(r) {
			panic(v)
		}
		said = strings.Join(r.said, "\n")
	}()
	do()
	return
}

func TestJudgeFailsTheTest(t *testing.T) {
	r := &recorder{TB: t}
	bed := readertest.New(r, readertest.Options{})
	if said := r.fails(func() { bed.Publish(1) }); !strings.Contains(said, "call Stream first") {
		t.Errorf("without a stream: %q", said)
	}
	bed.Stream("S")
	ids := bed.Publish(4)
	if !slices.Equal(ids, []string{"bed-1", "bed-2", "bed-3", "bed-4"}) {
		t.Errorf("published %q", ids)
	}
	for name, c := range map[string]struct {
		read []string
		want string
	}{
		"all":         {ids, ""},
		"lost":        {[]string{"bed-1", "bed-3", "bed-4"}, "1 message lost"},
		"last lost":   {ids[:3], "1 message lost"},
		"twice":       {append(slices.Clone(ids), "bed-4"), "1 message delivered twice"},
		"disordered":  {[]string{"bed-2", "bed-1", "bed-3", "bed-4"}, "1 message out of order"},
		"unpublished": {append(slices.Clone(ids), "bed-9"), "1 message read but never published"},
	} {
		if said := r.fails(func() { bed.Judge(c.read) }); !strings.Contains(said, c.want) || (said == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}

func TestInjectTellsWhatItCannot(t *testing.T) {
	r := &recorder{TB: t}
	bed := readertest.New(r, readertest.Options{})
	for fault, want := range map[string]string{
		"drop-mesage":          "no such fault",
		"drop-message(nth=x)":  "nth",
		"kill-server@0s+1s":    "leave its duration out",
		"kill-node":            "there is no cluster",
		"revoke-permission":    "no user of its own",
		"purge-stream(keep=1)": "use JetStream()",
	} {
		if said := r.fails(func() { bed.Inject(fault) }); !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", fault, said, want)
		}
	}
	if said := r.fails(bed.Thaw); said != "" {
		t.Errorf("thaw of a server that runs: %q", said)
	}
	bed.Kill()
	if said := r.fails(bed.Freeze); !strings.Contains(said, "not running") {
		t.Errorf("freeze of a killed server: %q", said)
	}
}

func TestFaultsEndWithTheTest(t *testing.T) {
	var bed *readertest.Bed
	t.Run("a test", func(t *testing.T) {
		bed = readertest.New(t, readertest.Options{})
		bed.Inject("black-hole")
		if len(bed.Proxy().Faults()) != 1 {
			t.Errorf("in force: %+v", bed.Proxy().Faults())
		}
	})
	if left := bed.Proxy().Faults(); len(left) != 0 {
		t.Errorf("in force after the test: %+v", left)
	}
	if _, err := nats.Connect(bed.URL(), nats.NoReconnect()); err == nil {
		t.Error("the proxy still answers")
	}
	if bed.Server().Running() {
		t.Error("the server still runs")
	}
}

func TestRunGivesWhatFails(t *testing.T) {
	var server *lab.Server
	err := readertest.Run(t.Context(), readertest.Options{}, func(bed *readertest.Bed) {
		server = bed.Server()
		bed.Inject("nonsense")
		t.Error("goes on after a failure")
	})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v", err)
	}
	if server.Running() {
		t.Error("the server still runs")
	}
	func() {
		defer func() {
			if v := recover(); v != "mine" {
				t.Errorf("recovered %v", v)
			}
		}()
		_ = readertest.Run(t.Context(), readertest.Options{}, func(bed *readertest.Bed) {
			server = bed.Server()
			panic("mine")
		})
	}()
	if server.Running() {
		t.Error("the server still runs after a panic")
	}
}
