package lab_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestStartReturnsAReadyServer(t *testing.T) {
	s := start(t, lab.Options{})
	nc := connect(t, s, nats.NoReconnect())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	// The very first requests are answered: nothing is tried again here.
	if _, err := js.CreateStream(patient(t), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	version, err := s.Version(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if version != nc.ConnectedServerVersion() {
		t.Errorf("Version says %s, the server itself %s", version, nc.ConnectedServerVersion())
	}
	if !s.Running() || !alive(s.PID()) || s.PID() == os.Getpid() {
		t.Errorf("running %v with pid %d: want a process of its own", s.Running(), s.PID())
	}
	if !strings.HasPrefix(s.StoreDir(), s.TempDir()) || !strings.HasPrefix(filepath.Base(s.TempDir()), "nats-reader-lab-") {
		t.Errorf("store in %s: want it in a temporary folder with the lab's name", s.StoreDir())
	}
	for _, address := range []string{s.URL(), s.MonitorURL()} {
		if u, err := url.Parse(address); err != nil || u.Hostname() != "127.0.0.1" {
			t.Errorf("%s: want it on 127.0.0.1", address)
		}
	}
	if !strings.Contains(s.Log(), "Server is ready") {
		t.Errorf("the log does not say that the server is ready:\n%s", s.Log())
	}
}

func TestPortAndStoreSurvive(t *testing.T) {
	ends := map[string]func(*lab.Server, context.Context) error{
		"Term":    (*lab.Server).Term,
		"Kill":    (*lab.Server).Kill,
		"Restart": nil,
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := start(t, lab.Options{})
			fill(t, s)
			before, pid := s.URL()+s.MonitorURL(), s.PID()
			if end != nil {
				if err := end(s, patient(t)); err != nil {
					t.Fatal(err)
				}
				if s.Running() || alive(pid) || s.LastExit() == "" {
					t.Fatalf("after %s: running %v, process there %v, last exit %q", name, s.Running(), alive(pid), s.LastExit())
				}
				if err := end(s, patient(t)); !errors.Is(err, lab.ErrNotRunning) {
					t.Errorf("%s of a stopped server: %v, want ErrNotRunning", name, err)
				}
				if err := s.Start(patient(t)); err != nil {
					t.Fatal(err)
				}
				if err := s.Start(patient(t)); !errors.Is(err, lab.ErrRunning) {
					t.Errorf("Start of a running server: %v, want ErrRunning", err)
				}
			} else if err := s.Restart(patient(t)); err != nil {
				t.Fatal(err)
			}
			if s.PID() == pid || alive(pid) {
				t.Errorf("pid %d before and %d after: want another process, and the first gone", pid, s.PID())
			}
			if now := s.URL() + s.MonitorURL(); now != before {
				t.Errorf("addresses before %s, after %s", before, now)
			}
			if got := stored(t, s); got != 3 {
				t.Errorf("%d messages in the store, want 3", got)
			}
		})
	}
}

func TestTermTellsAWaitingPull(t *testing.T) {
	s := start(t, lab.Options{})
	fill(t, s)
	nc := connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateConsumer(patient(t), "ORDERS", jetstream.ConsumerConfig{
		Name: "c", DeliverPolicy: jetstream.DeliverNewPolicy}); err != nil {
		t.Fatal(err)
	}
	inbox, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	pull := []byte(`{"batch":1,"expires":60000000000}`)
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.ORDERS.c", inbox.Subject, pull); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pull waits on the server", func() bool {
		c, err := js.Consumer(patient(t), "ORDERS", "c")
		return err == nil && c.CachedInfo().NumWaiting == 1
	})
	if err := s.Term(patient(t)); err != nil {
		t.Fatal(err)
	}
	msg, err := inbox.NextMsgWithContext(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if status, text := msg.Header.Get("Status"), msg.Header.Get("Description"); status != "409" || text != "Server Shutdown" {
		t.Errorf("the pull was answered %s %q, want 409 Server Shutdown", status, text)
	}
}

func TestLoseStore(t *testing.T) {
	for name, dir := range map[string]string{
		"temporary": "",
		"named":     filepath.Join(t.TempDir(), "store"),
		"jetstream": filepath.Join(t.TempDir(), "jetstream"),
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, lab.Options{StoreDir: dir})
			fill(t, s)
			foreign := filepath.Join(s.StoreDir(), "notes.txt")
			if name == "named" {
				if err := os.WriteFile(foreign, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.LoseStore(); !errors.Is(err, lab.ErrRunning) {
				t.Fatalf("LoseStore of a running server: %v, want ErrRunning", err)
			}
			if err := s.Kill(patient(t)); err != nil {
				t.Fatal(err)
			}
			if err := s.LoseStore(); err != nil {
				t.Fatal(err)
			}
			if err := s.Start(patient(t)); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, s); got != -1 {
				t.Errorf("%d messages after the store was lost, want no stream", got)
			}
			if name == "named" {
				if _, err := os.Stat(foreign); err != nil {
					t.Errorf("a file that is not the server's was removed from the folder: %v", err)
				}
			}
		})
	}
}

func TestNamedStoreIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	s := start(t, lab.Options{StoreDir: dir})
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, start(t, lab.Options{StoreDir: dir})); got != 3 {
		t.Errorf("%d messages in the kept store, want 3", got)
	}
}

func TestACrashIsNoticed(t *testing.T) {
	s := start(t, lab.Options{})
	fill(t, s)
	gone := s.Gone()
	p, err := os.FindProcess(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-patient(t).Done():
		t.Fatal("Gone was not closed")
	}
	if s.Running() || s.PID() != 0 || s.LastExit() != "signal: killed" {
		t.Errorf("running %v, pid %d, last exit %q", s.Running(), s.PID(), s.LastExit())
	}
	if _, err := s.Version(patient(t)); !errors.Is(err, lab.ErrNotRunning) {
		t.Errorf("Version of a crashed server: %v, want ErrNotRunning", err)
	}
	if err := s.Start(patient(t)); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s); got != 3 {
		t.Errorf("%d messages in the store, want 3", got)
	}
}

func TestAPortTakenMeanwhileIsWaitedFor(t *testing.T) {
	s := start(t, lab.Options{MaxStart: patience})
	if err := s.Kill(patient(t)); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp4", strings.TrimPrefix(s.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	failed := len(s.Log())
	started := make(chan error, 1)
	go func() { started <- s.Start(patient(t)) }()
	eventually(t, "the server complains of the port", func() bool {
		return strings.Contains(s.Log()[failed:], "address already in use")
	})
	taken.Close()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if v, err := s.Version(patient(t)); err != nil || v == "" {
		t.Errorf("version %q, %v", v, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	const many = 6
	var wg sync.WaitGroup
	servers := make([]*lab.Server, many)
	errs := make([]error, many)
	for i := range many {
		wg.Go(func() { servers[i], errs[i] = lab.Start(patient(t), lab.Options{}) })
	}
	wg.Wait()
	used := map[string]bool{}
	for i, s := range servers {
		if errs[i] != nil {
			t.Error(errs[i])
			continue
		}
		used[s.URL()], used[s.MonitorURL()] = true, true
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(used) != 2*many {
		t.Errorf("%d different addresses for %d servers, want %d", len(used), many, 2*many)
	}
}

func TestCloseEndsAStartUnderWay(t *testing.T) {
	t.Setenv(actVariable, actServer)
	hangFile := filepath.Join(t.TempDir(), "hang")
	t.Setenv(hangVariable, hangFile)
	s := start(t, lab.Options{ServerBin: self(t), MaxStart: patience})
	if err := s.Kill(patient(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hangFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() { started <- s.Start(context.Background()) }()
	eventually(t, "the second run hangs", func() bool { return strings.Contains(s.Log(), "hanging as told") })
	pid := s.PID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-started; !errors.Is(err, lab.ErrClosed) {
		t.Errorf("Start, closed under way: %v, want ErrClosed", err)
	}
	if alive(pid) {
		t.Errorf("after Close the hanging server %d is still there", pid)
	}
	for name, err := range map[string]error{
		"Start": s.Start(patient(t)), "Term": s.Term(patient(t)), "Kill": s.Kill(patient(t)), "Freeze": s.Freeze(),
		"Thaw": s.Thaw(), "LoseStore": s.LoseStore(), "Reload": s.Reload(patient(t), ""), "Restart": s.Restart(patient(t)),
	} {
		if !errors.Is(err, lab.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
}

func TestWithoutJetStream(t *testing.T) {
	s := start(t, lab.Options{NoJetStream: true})
	nc := connect(t, s)
	if _, err := nc.Request("$JS.API.INFO", nil, patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a JetStream request: %v, want no responders", err)
	}
}
