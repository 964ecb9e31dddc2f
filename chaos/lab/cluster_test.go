package lab_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// startCluster runs a cluster that is closed, and seen to leave nothing, at the end.
func startCluster(t *testing.T, o lab.ClusterOptions) *lab.Cluster {
	t.Helper()
	began := time.Now()
	c, err := lab.StartCluster(patient(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a cluster of %d is ready after %s", len(c.Nodes()), time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Log(30))
		}
		var pids []int
		for _, n := range c.Nodes() {
			pids = append(pids, n.PID())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for i, n := range c.Nodes() {
			if pids[i] != 0 && alive(pids[i]) {
				t.Errorf("after Close node %s is still there", n.Name())
			}
			if _, err := os.Stat(n.TempDir()); !os.IsNotExist(err) {
				t.Errorf("after Close the folder of node %s is still there: %v", n.Name(), err)
			}
		}
	})
	return c
}

// reach connects to the cluster; the connection goes on for ever.
func reach(t *testing.T, url string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := nats.Connect(url, nats.Timeout(10*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// makeStream makes a stream: a node of a young cluster may count as away for a moment.
func makeStream(t *testing.T, js jetstream.JetStream, cfg jetstream.StreamConfig) {
	t.Helper()
	eventually(t, "stream "+cfg.Name+" is made", func() bool {
		ctx, cancel := context.WithTimeout(patient(t), 5*time.Second) // without a leader yet a cluster answers nothing
		defer cancel()
		_, err := js.CreateStream(ctx, cfg)
		return err == nil
	})
}

// store publishes until a message is stored: an election may be under way.
func store(t *testing.T, js jetstream.JetStream, subject string) {
	t.Helper()
	eventually(t, "a message on "+subject+" is stored", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := js.Publish(ctx, subject, nil)
		return err == nil
	})
}

func leader(t *testing.T, c *lab.Cluster, stream string) *lab.Node {
	t.Helper()
	n, err := c.StreamLeader(patient(t), stream)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func another(c *lab.Cluster, than ...*lab.Node) *lab.Node {
next:
	for _, n := range c.Nodes() {
		for _, not := range than {
			if n == not {
				continue next
			}
		}
		return n
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filledCluster is a cluster with a stream of three replicas and one of one. run
// runs a subtest, which leaves the cluster ready.
func filledCluster(t *testing.T) (c *lab.Cluster, js jetstream.JetStream, run func(string, func(*testing.T))) {
	t.Helper()
	c = startCluster(t, lab.ClusterOptions{Server: lab.Options{Config: "lame_duck_grace_period: 100ms\nlame_duck_duration: 30s\n"}})
	_, js = reach(t, c.URL())
	for name, replicas := range map[string]int{"R3": 3, "R1": 1} {
		makeStream(t, js, jetstream.StreamConfig{Name: name, Subjects: []string{strings.ToLower(name)}, Replicas: replicas})
		store(t, js, strings.ToLower(name))
	}
	return c, js, func(name string, test func(*testing.T)) {
		t.Run(name, func(t *testing.T) {
			test(t)
			must(t, c.AwaitReady(patient(t)))
		})
	}
}

// current waits until every replica of the stream R3 is.
func current(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	eventually(t, "all replicas are current", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		s, err := js.Stream(ctx, "R3")
		if err != nil {
			return false
		}
		for _, r := range s.CachedInfo().Cluster.Replicas {
			if !r.Current {
				return false
			}
		}
		return true
	})
}

// One cluster goes through what the lab can do to it. What takes longer is under the
// build tag long.
func TestCluster(t *testing.T) {
	c, js, run := filledCluster(t)

	run("leaders", func(t *testing.T) {
		for _, stream := range []string{"R1", "R3"} {
			s, err := js.Stream(patient(t), stream)
			must(t, err)
			if got := leader(t, c, stream).Name(); got != s.CachedInfo().Cluster.Leader {
				t.Errorf("stream %s: %s leads, the API says %s", stream, got, s.CachedInfo().Cluster.Leader)
			}
			durable, err := js.CreateOrUpdateConsumer(patient(t), stream, jetstream.ConsumerConfig{Durable: "d"})
			must(t, err)
			n, err := c.ConsumerLeader(patient(t), stream, "d")
			must(t, err)
			info, err := durable.Info(patient(t))
			must(t, err)
			if n.Name() != info.Cluster.Leader {
				t.Errorf("consumer of %s: %s leads, the API says %s", stream, n.Name(), info.Cluster.Leader)
			}
		}
		if _, err := c.MetaLeader(patient(t)); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := c.StreamLeader(ctx, "NONE"); !errors.Is(err, lab.ErrNoLeader) || !strings.Contains(err.Error(), "stream NONE") {
			t.Errorf("got %v", err)
		}
	})

	run("kill", func(t *testing.T) {
		before := leader(t, c, "R3")
		url := before.URL()
		must(t, before.Kill(patient(t)))
		eventually(t, "another node leads", func() bool { return leader(t, c, "R3") != before })
		store(t, js, "r3")
		must(t, before.Start(patient(t)))
		if before.URL() != url {
			t.Errorf("the node was at %s and is at %s", url, before.URL())
		}
	})

	run("partition", func(t *testing.T) {
		before := leader(t, c, "R3")
		_, there := reach(t, another(c, before).URL())
		before.Partition(lab.CutBoth)
		eventually(t, "another node leads", func() bool { return leader(t, c, "R3") != before })
		store(t, there, "r3")
		before.Heal()
		current(t, there)
	})

	run("lame duck", func(t *testing.T) {
		n := leader(t, c, "R3")
		must(t, n.LameDuck(patient(t)))
		if n.Running() || n.LastExit() != "exit status 0" {
			t.Errorf("running %v, exit %q", n.Running(), n.LastExit())
		}
		store(t, js, "r3")
		must(t, n.Start(patient(t)))
	})

	run("rolling restart", func(t *testing.T) {
		must(t, c.RollingRestart(patient(t)))
		for _, stream := range []string{"R1", "R3"} {
			store(t, js, strings.ToLower(stream))
		}
	})
}

func TestClusterOptionsThatCannotBe(t *testing.T) {
	left := temporaryHome(t)
	for want, o := range map[string]lab.ClusterOptions{
		"Nodes is 1: use 2 to 9":                        {Nodes: 1},
		"Server.Port is 4222":                           {Server: lab.Options{Port: 4222}},
		"node n2: start nats-server":                    {Each: func(i int, o *lab.Options) { o.Config = map[int]string{1: "nonsense: {"}[i] }},
		"node n3: start nats-server: Options.ServerBin": {Each: func(i int, o *lab.Options) { o.ServerBin = map[int]string{2: "no-such-server"}[i] }},
	} {
		c, err := lab.StartCluster(patient(t), o)
		if err == nil {
			t.Errorf("started: %s", want)
			must(t, c.Close())
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if dirs := left(); len(dirs) > 0 {
		t.Errorf("left: %q", dirs)
	}
}
