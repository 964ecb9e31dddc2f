package doctor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

const systemConfig = `
accounts {
  APP { jetstream: enabled, users: [{user: app, password: p}, {user: nameless, password: p, permissions: {publish: {deny: "$SYS.REQ.USER.INFO"}}}] }
  SYS { users: [{user: sys, password: p}] }
}
system_account: SYS
no_auth_user: app
`

// dial connects with a login when it is asked to, as Options.System wants it.
func dial(url, user, password string) func(context.Context) (*nats.Conn, error) {
	return func(context.Context) (*nats.Conn, error) {
		return nats.Connect(url, nats.UserInfo(user, password), nats.Timeout(30*time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	}
}

// patiently asks again: a request to the leader that was cut off is answered by none.
func patiently(ctx context.Context, t *testing.T, do func(context.Context) error) {
	t.Helper()
	for {
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := do(within)
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// What every node of a cluster holds, by the system account and by a monitoring port:
// the same; then one that is cut off stays behind.
func TestReplicas(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
	defer cancel()
	cluster, err := lab.StartCluster(ctx, lab.ClusterOptions{Server: lab.Options{Config: systemConfig}})
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
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL())
	}
	connect := func(user string, urls ...string) *nats.Conn {
		t.Helper()
		nc, err := nats.Connect(strings.Join(urls, ","), nats.UserInfo(user, "p"), nats.DontRandomize(), nats.Timeout(30*time.Second), nats.MaxReconnects(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		must(err)
		t.Cleanup(nc.Close)
		return nc
	}
	nc := connect("app", urls...)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	must(err)
	create := func() error { // a cluster without a leader yet answers nothing
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: 3, Storage: jetstream.MemoryStorage})
		return err
	}
	for err = create(); err != nil && cluster.AwaitReady(ctx) == nil; err = create() { // a node of a young cluster may count as away
	}
	must(err)
	publish := func(n int) {
		t.Helper()
		for i := range n {
			id := jetstream.WithMsgID(nats.NewInbox())
			patiently(ctx, t, func(ctx context.Context) error {
				_, err := js.Publish(ctx, "s.a", fmt.Append(nil, i), id)
				return err
			})
		}
	}
	durable := func(name string) {
		t.Helper()
		var c jetstream.Consumer
		patiently(ctx, t, func(ctx context.Context) (err error) {
			c, err = js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy})
			return err
		})
		running, err := c.Consume(func(m jetstream.Msg) { m.Ack() }, jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {})) //nolint:errcheck // it only reads
		must(err)
		t.Cleanup(running.Stop)
	}
	readTo := func(name string, seq uint64) {
		t.Helper()
		patiently(ctx, t, func(ctx context.Context) error {
			c, err := js.Consumer(ctx, "S", name)
			if err == nil && c.CachedInfo().AckFloor.Stream < seq {
				err = fmt.Errorf("it was read to %d", c.CachedInfo().AckFloor.Stream)
			}
			return err
		})
	}
	durable("D")
	publish(50)
	readTo("D", 50)
	look := func(nc *nats.Conn, o doctor.Options) (doctor.Facts, doctor.Report) {
		t.Helper()
		o.Stream, o.Timeout = "S", 20*time.Second
		f, err := doctor.Gather(ctx, nc, o)
		must(err)
		return f, doctor.Judge(f, doctor.JudgeOptions{})
	}
	long := doctor.Options{For: 3 * time.Second, System: dial(urls[1], "sys", "p")}

	// All agree; a young stream's followers take a moment.
	f, r := look(nc, long)
	for ctx.Err() == nil && found(r, "READER_015") {
		f, r = look(nc, long)
	}
	finds(t, r)
	if len(f.Nodes) != 3 {
		t.Fatalf("of three nodes %d told what they hold: %+v", len(f.Nodes), f.Nodes)
	}
	for _, n := range f.Nodes {
		if n.First == nil || n.Last == nil || len(n.Last.Streams) != 1 || n.Last.Streams[0].LastSeq != 50 || len(n.Last.Streams[0].Consumers) != 1 || n.Last.Streams[0].Consumers[0].Delivered.Consumer != 50 || n.Last.Time.IsZero() {
			t.Errorf("%s holds %+v", n.Name, n.Last)
		}
	}

	// What is no system account is told once, and nothing else changes.
	for _, c := range []struct {
		name, want string
		nc         *nats.Conn
		system     func(context.Context) (*nats.Conn, error)
	}{
		{"another account", "not of the system account", nc, dial(urls[0], "app", "p")},
		{"a wrong password", "Authorization Violation", nc, dial(urls[0], "sys", "wrong")},
		{"the account's name is kept", "name of our account is not known", connect("nameless", urls...), dial(urls[0], "sys", "p")},
	} {
		f, r := look(c.nc, doctor.Options{For: 200 * time.Millisecond, System: c.system})
		if found(r, "READER_018") || found(r, "READER_019") {
			t.Errorf("%s: it says\n%s", c.name, told(r))
		}
		told := 0
		for _, n := range f.NotJudged {
			if n.What == "replicas" && strings.Contains(n.Why, c.want) {
				told++
			}
		}
		if told != 1 || len(f.Nodes) != 0 {
			t.Errorf("%s: told %d times among %+v", c.name, told, f.NotJudged)
		}
	}

	// A follower of both is cut off.
	stream, err := cluster.StreamLeader(ctx, "S")
	must(err)
	consumer, err := cluster.ConsumerLeader(ctx, "S", "D")
	must(err)
	var away *lab.Node
	var others []string
	for _, n := range nodes {
		if away == nil && n != stream && n != consumer {
			away = n
		} else {
			others = append(others, n.URL())
		}
	}
	near := connect("app", others...)
	js, err = jetstream.New(near, jetstream.WithDefaultTimeout(30*time.Second))
	must(err)
	away.Partition(lab.CutBoth)
	publish(50)
	durable("E")
	readTo("E", 100)
	for name, o := range map[string]doctor.Options{
		"the system account":  {For: 3 * time.Second, System: dial(away.URL(), "sys", "p")},
		"the monitoring port": {For: 3 * time.Second, Monitor: away.MonitorURL()},
	} {
		for { // leaders may be elected meanwhile
			f, r := look(near, o)
			if found(r, "READER_015") && strings.Contains(r.Findings[0].Text, away.Name()+" is behind") && strings.Contains(r.Findings[0].Text, away.Name()+" lacks 1 consumer") {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: of a node that is behind it says\n%s%+v", name, told(r), f.Nodes)
			}
		}
	}
	away.Heal()
	must(cluster.AwaitReady(ctx))
	for ctx.Err() == nil {
		if _, r = look(near, long); !found(r, "READER_015") {
			break
		}
	}
	finds(t, r)
}
