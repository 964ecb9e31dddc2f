//go:build long

package reader_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
)

// Every fault on every node that matters: the one that leads the stream, the one that
// leads the consumer, and the one the reader is connected to.
func TestClusterLongFaults(t *testing.T) {
	b := withCluster(t)
	for _, node := range []string{"stream-leader", "consumer-leader", "reader"} {
		for _, fault := range []string{
			"kill-node(node=n1)@0s+8s", "stop-node(node=n1)@0s+5s", "stop-node(lame-duck=true,node=n1)@0s+5s", "freeze-server(node=n1)@0s+8s",
			"partition(how=both,node=n1)@0s+15s", "partition(how=in,node=n1)@0s+15s", "partition(how=out,node=n1)@0s+15s", "partition(how=reset,node=n1)@0s+15s",
		} {
			b.scenario(on(fault, node), kinds, injected(on(fault, node)))
		}
	}
}

// on puts a node into a fault.
func on(fault, node string) string {
	s, err := chaos.ParseSpec(fault)
	if err != nil {
		panic(err)
	}
	s.Params["node"] = node
	return s.String()
}

// The node of a stream with one replica is away: nobody can make a consumer there,
// and nothing but waiting helps.
func TestClusterLongOnlyReplicaAway(t *testing.T) {
	b := withCluster(t)
	for _, fault := range []string{"kill-node@0s+20s", "stop-node@0s+20s", "freeze-server(node=stream-leader)@0s+20s"} {
		b.scenario(fault, []kind{kinds[4]}, injected(fault))
	}
}

// Two of three nodes are away and come back.
func TestClusterLongQuorumLost(t *testing.T) {
	b := withCluster(t)
	for _, fault := range []string{
		"kill-node(count=2)@0s+15s", "kill-node(count=2,node=reader)@0s+15s", "partition(count=2)@0s+20s", "partition(count=2,how=reset)@0s+20s",
	} {
		b.scenario(fault, kinds, injected(fault))
	}
}

// All nodes go at once, again and again: also in the middle of a replacement. What is
// stored in memory goes with them, and is no matter of a reader.
func TestClusterLongBounced(t *testing.T) {
	b := withCluster(t)
	b.scenario("all nodes", []kind{kinds[0], kinds[1], kinds[3], kinds[4]}, injected(
		"stop-server@0s+1s", "kill-server@12s+1s", "stop-server@24s+100ms", "kill-server@36s+3s", "freeze-server@50s+5s", "kill-server@65s+100ms"))
}

// Leaders step down every 100 ms.
func TestClusterLongStepDowns(t *testing.T) {
	b := withCluster(t)
	b.scenario("of stream and consumer", kinds[:4], stepDowns(150))
	b.scenario("of a consumer of three replicas", []kind{kinds[1]}, stepDowns(150))
}

func TestClusterLongRollingRestart(t *testing.T) {
	b := withCluster(t)
	b.scenario("three times", kinds, func(t *testing.T, aim *clusterReading) (all []chaos.Period) {
		for range 3 {
			all = append(all, rollingRestart(t, aim)...)
		}
		return all
	})
}

// The node of the client dies again and again: every old consumer goes.
func TestClusterLongNodeOfTheClient(t *testing.T) {
	b := withCluster(t)
	b.scenario("killed ten times", kinds[:1], func(t *testing.T, aim *clusterReading) (all []chaos.Period) {
		for range 10 {
			all = append(all, injected("kill-node(node=reader)@0s+500ms")(t, aim)...)
			aim.goesOn(5)
			aim.eventually("there is one consumer", func() bool {
				n, err := aim.look(aim.ctx)
				return err == nil && n == 1
			})
		}
		return all
	})
}

// The stream is made again in the middle of an election: it is another one, whatever
// its sequences are.
func TestClusterLongStreamMadeAgain(t *testing.T) {
	b := withCluster(t)
	b.scenario("during an election", kinds[:1], injected("kill-node(node=meta-leader)@0s+6s", "recreate-stream@8s+1s"))
}

// Reading goes on when a client's first node is in lame-duck mode, and Open works on
// what is left.
func TestClusterLongOpenWithoutANode(t *testing.T) {
	b := withCluster(t)
	ctx, cancel := context.WithTimeout(b.ctx, election)
	defer cancel()
	_, err := b.admin.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}, Replicas: 3})
	b.must(err)
	_, err = b.admin.Publish(ctx, "orders", []byte("1"))
	b.must(err)
	n, err := b.cluster.StreamLeader(ctx, "ORDERS")
	b.must(err)
	b.must(n.Kill(ctx))
	// At once: the API answers nothing until there is a leader.
	r, err := reader.Open(ctx, b.js(b.connect(b.cluster.URL())), quick())
	b.must(err)
	defer func() { b.must(r.Close(b.ctx)) }()
	m, err := r.Next(ctx)
	b.must(err)
	if string(m.Data) != "1" {
		t.Fatalf("got %q", m.Data)
	}
	b.must(n.Start(ctx))
}
