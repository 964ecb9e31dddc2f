package chaos

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// newCluster is a stage of three nodes, with a stream and a consumer on all of them.
func newCluster(t *testing.T) *stage {
	t.Helper()
	const nodes = 3
	var routes []string
	var held []net.Listener
	for range nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		routes = append(routes, "nats-route://"+l.Addr().String())
	}
	for _, l := range held {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	servers := make([]*lab.Server, nodes)
	failures := make([]error, nodes)
	var starting sync.WaitGroup
	for i := range nodes {
		// Each is ready when the cluster is, so they start together.
		starting.Go(func() {
			servers[i], failures[i] = lab.Start(t.Context(), lab.Options{MaxStart: time.Minute, Config: fmt.Sprintf(
				"server_name: n%d\ncluster { name: lab, listen: %q, routes: [%s] }\n", i, strings.TrimPrefix(routes[i], "nats-route://"), strings.Join(routes, ", "))})
		})
	}
	starting.Wait()
	for i, server := range servers {
		if failures[i] != nil {
			t.Error(failures[i])
			continue
		}
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if t.Failed() {
		t.FailNow()
	}
	nc, err := nats.Connect(servers[0].URL(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t}
	s.env = &Environment{Stream: stageStream, JS: js, Lab: servers[0], Status: func() reader.Status { return s.status() }}
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stageStream, Subjects: []string{"s.>"}, Replicas: nodes})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	s.makeConsumer(jetstream.ConsumerConfig{Name: "ours", Replicas: nodes, Metadata: map[string]string{OwnerKey: "me"}, InactiveThreshold: time.Minute})
	return s
}
