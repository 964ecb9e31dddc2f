package doctor_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// A cluster of three, with a replicated stream: healthy, then with one node down,
// then without a quorum.
func TestCluster(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
	defer cancel()
	cluster, err := lab.StartCluster(ctx, lab.ClusterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close() //nolint:errcheck // the test is over
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	nodes := cluster.Nodes()
	nc, err := nats.Connect(nodes[0].URL(), nats.Timeout(30*time.Second), nats.DontRandomize(), nats.MaxReconnects(-1))
	must(err)
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	must(err)
	create := func() error { // a cluster without a leader yet answers nothing
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: 3})
		return err
	}
	for err = create(); err != nil && cluster.AwaitReady(ctx) == nil; err = create() { // a node of a young cluster may count as away
	}
	must(err)
	for name, replicas := range map[string]int{"ONE": 1, "ALL": 0} {
		c, err := js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, Replicas: replicas})
		must(err)
		running, err := c.Consume(func(m jetstream.Msg) { m.Ack() }, jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {})) //nolint:errcheck // it only reads
		must(err)
		defer running.Stop()
	}
	// The one with one replica is not on the node that we are connected to.
	lone, err := cluster.ConsumerLeader(ctx, "S", "ONE")
	must(err)
	for lone == nodes[0] {
		must(js.DeleteConsumer(ctx, "S", "ONE"))
		_, err := js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "ONE", AckPolicy: jetstream.AckExplicitPolicy, Replicas: 1})
		must(err)
		lone, err = cluster.ConsumerLeader(ctx, "S", "ONE")
		must(err)
	}
	other := nodes[1]
	if lone == nodes[1] {
		other = nodes[2]
	}
	elsewhere, err := nats.Connect(nodes[1].URL(), nats.Timeout(30*time.Second), nats.Name("elsewhere"), nats.MaxReconnects(-1))
	must(err)
	defer elsewhere.Close()
	var f doctor.Facts
	look := func(o doctor.Options) doctor.Report {
		t.Helper()
		o.For = time.Second
		f, err = doctor.Gather(ctx, nc, o)
		must(err)
		return doctor.Judge(f, doctor.JudgeOptions{Skip: []string{"2"}}) // who reads is not what this is about
	}
	// A young stream's followers take a moment.
	var r doctor.Report
	for ctx.Err() == nil {
		if r = look(doctor.Options{Timeout: 20 * time.Second}); !found(r, "READER_015") {
			break
		}
	}
	finds(t, r, "READER_020")
	if r.Findings[0].Consumer != "ONE" {
		t.Errorf("it is %s", r.Findings[0].Consumer)
	}
	_, err = js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "MEMORY", AckPolicy: jetstream.AckExplicitPolicy, MemoryStorage: true})
	must(err)
	for ctx.Err() == nil {
		if r = look(doctor.Options{Stream: "S", Consumer: "MEMORY", Timeout: 20 * time.Second}); !found(r, "READER_015") {
			break
		}
	}
	finds(t, r, "READER_020")
	must(js.DeleteConsumer(ctx, "S", "MEMORY"))
	if !f.Connections.Complete || !slices.ContainsFunc(f.Connections.List, func(c doctor.Connection) bool { return c.Name == "elsewhere" && c.Server == nodes[1].Name() }) {
		t.Errorf("not the clients of every node are known: %+v", f.Connections)
	}
	must(lone.Kill(ctx))
	silent := func(f doctor.Finding) bool {
		return f.Check == "READER_015" && f.Consumer == "ONE" && f.Severity == doctor.Critical
	}
	for ctx.Err() == nil {
		r = look(doctor.Options{Stream: "S", Timeout: 5 * time.Second})
		if slices.ContainsFunc(r.Findings, silent) {
			break
		}
	}
	t.Log(told(r))
	if found(r, "READER_001") || slices.ContainsFunc(f.Consumers, func(c doctor.Consumer) bool { return c.Gone }) {
		t.Errorf("with a node down:\n%s", told(r))
	}
	must(other.Kill(ctx))
	for ctx.Err() == nil {
		r = look(doctor.Options{Stream: "S", Consumer: "ALL", Timeout: 3 * time.Second})
		if r.Verdict == doctor.VerdictCritical {
			break
		}
	}
	t.Log(told(r))
	if !found(r, "READER_015") || r.Verdict != doctor.VerdictCritical {
		t.Errorf("without a quorum:\n%s", told(r))
	}
	must(lone.Start(ctx))
	must(other.Start(ctx))
	must(cluster.AwaitReady(ctx))
	for ctx.Err() == nil {
		if r = look(doctor.Options{Stream: "S", Timeout: 20 * time.Second}); !found(r, "READER_015") {
			break
		}
	}
	finds(t, r, "READER_020")
}

func found(r doctor.Report, id string) bool {
	return slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Check == id })
}
