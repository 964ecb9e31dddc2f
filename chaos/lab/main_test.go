package lab_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// actVariable makes this test binary act as another program.
const actVariable = "LAB_TEST_ACT"

const (
	actServer = "server" // a foreign nats-server binary
	actHang   = "hang"   // a server that never becomes ready
	actParent = "parent" // a program that uses the lab, see parent
	actForgot = "forgot" // a program that uses the lab without lab.Main
	// hangVariable names a file; while it exists actServer hangs like actHang.
	hangVariable = "LAB_TEST_HANG"
)

func TestMain(m *testing.M) {
	act := os.Getenv(actVariable)
	if act != actForgot {
		lab.Main()
	}
	switch act {
	case actServer:
		if _, err := os.Stat(os.Getenv(hangVariable)); err == nil {
			hang()
		}
		os.Exit(lab.Serve(os.Args[1:]))
	case actHang:
		hang()
	case actParent:
		os.Exit(parent())
	case actForgot:
		_, err := lab.Start(context.Background(), lab.Options{})
		fmt.Println(err)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func hang() {
	fmt.Println("hanging as told")
	<-make(chan os.Signal)
}

// parentReport is what a program that uses the lab tells its test.
type parentReport struct {
	PID, Keeper       int
	URL               string
	TempDir, StoreDir string
	Error             string
	Nodes             []parentReport // of a cluster
}

// parent starts a server, brings it into the state that its first argument
// names, reports, and then waits for its end. An interrupt it answers with one
// more report, after the server has answered too.
func parent() int {
	if os.Args[1] == "cluster" {
		return parentOfACluster()
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	ctx := context.Background()
	o := lab.Options{StoreDir: os.Getenv("LAB_TEST_STORE")}
	if os.Args[1] == "foreign" {
		o.ServerBin = os.Getenv("LAB_TEST_SERVER")
	}
	s, err := lab.Start(ctx, o)
	report := func() {
		r := parentReport{}
		if err != nil {
			r.Error = err.Error()
		} else {
			r = parentReport{PID: s.PID(), Keeper: s.KeeperPID(), URL: s.URL(), TempDir: s.TempDir(), StoreDir: s.StoreDir()}
		}
		_ = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err == nil {
		switch os.Args[1] {
		case "frozen":
			err = s.Freeze()
		case "stopped":
			err = s.Kill(ctx)
		}
	}
	report()
	for range interrupts {
		_, err = s.Version(ctx)
		report()
	}
	return 0
}

// parentOfACluster starts one, brings its nodes into different states, reports and
// waits for its end.
func parentOfACluster() int {
	var report parentReport
	c, err := lab.StartCluster(context.Background(), lab.ClusterOptions{})
	if err == nil {
		nodes := c.Nodes()
		nodes[0].Partition(lab.CutBoth)
		err = nodes[1].Freeze()
		for _, n := range nodes {
			report.Nodes = append(report.Nodes, parentReport{PID: n.PID(), Keeper: n.KeeperPID(), URL: n.URL(), TempDir: n.TempDir()})
		}
	}
	if err != nil {
		report = parentReport{Error: err.Error()}
	}
	_ = json.NewEncoder(os.Stdout).Encode(report)
	hang()
	return 1
}

// patience bounds every wait for an event; only a broken lab needs it.
const patience = 60 * time.Second

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// start runs a server that is closed, and seen to leave nothing, at the end.
func start(t *testing.T, o lab.Options) *lab.Server {
	t.Helper()
	s, err := lab.Start(patient(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pid := s.PID()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if pid != 0 && alive(pid) {
			t.Errorf("after Close the server process %d is still there", pid)
		}
		if _, err := os.Stat(s.TempDir()); !os.IsNotExist(err) {
			t.Errorf("after Close the temporary folder is still there: %v", err)
		}
	})
	return s
}

func connect(t *testing.T, s *lab.Server, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.URL(), append([]nats.Option{nats.Timeout(patience)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// fill makes a stream with three messages.
func fill(t *testing.T, s *lab.Server) {
	t.Helper()
	nc := connect(t, s)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(patient(t), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if _, err := js.Publish(patient(t), "orders.new", fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
	}
}

// stored is the number of messages in the stream that fill made; -1 when there
// is no such stream.
func stored(t *testing.T, s *lab.Server) int {
	t.Helper()
	nc := connect(t, s)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(patient(t), "ORDERS")
	if err == jetstream.ErrStreamNotFound {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	return int(stream.CachedInfo().State.Msgs)
}

// temporaryHome gives the lab an empty folder to make its own in, and returns
// what tells which are left there.
func temporaryHome(t *testing.T) (left func() []string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	return func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
}

// eventually asks again and again until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("still not so: %s", what)
		}
	}
}

// self is this test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// firstLine returns a log for Options.Log and a channel closed when anything
// was written to it.
func firstLine() (io.Writer, <-chan struct{}) {
	written := make(chan struct{})
	return &onceWriter{written: written}, written
}

type onceWriter struct {
	written chan struct{}
	done    bool
}

func (w *onceWriter) Write(p []byte) (int, error) {
	if !w.done {
		w.done = true
		close(w.written)
	}
	return len(p), nil
}
