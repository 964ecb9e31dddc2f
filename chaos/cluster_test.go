package chaos

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// newCluster is a stage of three nodes, with a stream and a consumer on all of them.
func newCluster(t *testing.T) *stage {
	t.Helper()
	const nodes = 3
	c, err := lab.StartCluster(t.Context(), lab.ClusterOptions{Nodes: nodes, Server: lab.Options{
		Config: UserConfig() + "lame_duck_grace_period: 100ms\nlame_duck_duration: 30s\n"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Log(20))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	nc, err := nats.Connect(c.URL(), nats.Timeout(10*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t}
	s.env = &Environment{Stream: stageStream, JS: js, Cluster: c, ReaderUser: true, Status: func() reader.Status { return s.status() }}
	// The first election of a stream may take longer than nats.go waits by default.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		// A node of a young cluster may count as away for a moment, and without a leader it answers nothing.
		once, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err = js.CreateStream(once, jetstream.StreamConfig{Name: stageStream, Subjects: []string{"s.>"}, Replicas: nodes})
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	s.makeConsumer(jetstream.ConsumerConfig{Name: "ours", Replicas: nodes, Metadata: map[string]string{OwnerKey: "me"}, InactiveThreshold: time.Minute})
	return s
}

// where tells the nodes of which something is so.
func (s *stage) where(so func(*lab.Node) bool) (names []string) {
	for _, n := range s.env.Cluster.Nodes() {
		if so(n) {
			names = append(names, n.Name())
		}
	}
	return names
}

func stopped(n *lab.Node) bool { return !n.Running() }

func (s *stage) streamLeader() string {
	s.Helper()
	n, err := s.env.Cluster.StreamLeader(s.Context(), stageStream)
	if err != nil {
		s.Fatal(err)
	}
	return n.Name()
}

// Every fault acts on the node it names while it lasts; behind its end the cluster is
// as before.
func TestFaultsOnNodes(t *testing.T) {
	s := newCluster(t)
	if err := s.env.Allow(s.spec("disable-jetstream@0s")); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "forgets its streams") {
		t.Errorf("JetStream off on all nodes at once: %v", err)
	}
	s.env.Connected = func() string { return "n2" }
	c := s.env.Cluster
	for text, field := range map[string]string{
		"kill-node(node=n4)@1s": "node", "partition(count=4)@1s": "count", "freeze-server(node=leader)@1s": "node",
	} {
		var wrong *proxy.FaultError
		if err := s.env.Allow(s.spec(text)); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if info, err := s.env.JS.Stream(t.Context(), stageStream); err != nil || info.CachedInfo().Cluster.Leader != s.streamLeader() {
		t.Fatalf("%v, %v", info, err)
	}
	for _, f := range []struct {
		fault string
		node  func() []string // that it acts on
		acts  func(*lab.Node) bool
	}{
		{"kill-node(node=reader)@0s+10ms", func() []string { return []string{"n2"} }, stopped},
		{"stop-node(lame-duck=true,node=n3)@0s+10ms", func() []string { return []string{"n3"} }, stopped},
		{"freeze-server(node=stream-leader)@0s+10ms", func() []string { return []string{s.streamLeader()} }, (*lab.Node).Frozen},
		{"partition@0s+10ms", func() []string { return []string{s.streamLeader()} }, func(n *lab.Node) bool { return n.Partitioned() == lab.CutBoth }},
		{"partition(count=2,how=reset,node=n1)@0s+10ms", func() []string { return []string{"n1", "n2"} }, func(n *lab.Node) bool { return n.Partitioned() == lab.CutReset }},
		{"lose-store(node=n3)@0s+10ms", func() []string { return []string{"n3"} }, stopped},
	} {
		t.Run(f.fault, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			want := f.node()
			fired := false
			r, told := s.run(ctx, func(firing Firing) {
				if firing.Phase != PhaseFired {
					return
				}
				fired = true
				if got := s.where(f.acts); !slices.Equal(got, want) || firing.Target != "node="+strings.Join(want, ",") {
					t.Errorf("it acts on %v and is told as %s, want %v", got, firing.Target, want)
				}
			}, f.fault)
			if len(told) != 2 || !fired || len(r.Failed()) > 0 {
				t.Errorf("told %q, failed %v", told, r.Failed())
			}
			if left := s.where(f.acts); len(left) > 0 {
				t.Errorf("after the end it acts on %v", left)
			}
			if err := c.AwaitReady(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An interrupt ends every fault on nodes at once, and undoes it.
func TestInterruptedFaultsOnNodes(t *testing.T) {
	s := newCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// What cannot tell its node fails, and undoes nothing.
	if r, _ := s.run(t.Context(), nil, "kill-node(node=reader)@0s"); len(r.Failed()) != 1 {
		t.Errorf("failed %v", r.Failed())
	}
	begun := make(chan struct{}, 3)
	go func() {
		defer cancel()
		limit := time.After(time.Minute) // a fault that cannot act is told below
		for range 3 {
			select {
			case <-begun:
			case <-limit:
				return
			}
		}
	}()
	r, told := s.run(ctx, func(f Firing) {
		if f.Phase == PhaseFired {
			begun <- struct{}{}
		}
	}, "kill-node(node=n1)@0s+1h", "freeze-server(node=n2)@0s+1h", "partition(node=n3)@0s+1h")
	if len(told) != 6 || len(r.Failed()) > 0 {
		t.Errorf("told %q, failed %v", told, r.Failed())
	}
	for what, left := range map[string][]string{
		"stopped": s.where(stopped), "frozen": s.where((*lab.Node).Frozen),
		"partitioned": s.where(func(n *lab.Node) bool { return n.Partitioned() != lab.CutNone }),
	} {
		if len(left) > 0 {
			t.Errorf("still %s: %v", what, left)
		}
	}
}

func TestNodesThatAreNotThere(t *testing.T) {
	s := newStage(t)
	for text, want := range map[string]string{
		"kill-node@1s":                  "--demo-nodes",
		"partition@1s":                  "--demo-nodes",
		"lose-store(node=n1)@1s":        "--demo-nodes",
		"revoke-permission@1s":          "no user of its own",
		"kill-node(count=0)@1s":         "count",
		"partition(how=wrong)@1s":       "how",
		"stop-node(lame-duck=quack)@1s": "lame-duck",
	} {
		spec, err := ParseSpec(text)
		if err == nil {
			err = s.env.Allow(spec)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
