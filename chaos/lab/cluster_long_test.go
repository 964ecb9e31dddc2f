//go:build long

package lab_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// A cluster of the oldest and the newest version, as in the middle of an upgrade.
func TestClusterLongOfSeveralVersions(t *testing.T) {
	old, err := lab.CachedServer("2.10.7")
	must(t, err)
	c := startCluster(t, lab.ClusterOptions{Each: func(i int, o *lab.Options) {
		if i == 0 {
			o.ServerBin = old
		}
	}})
	versions := map[string]bool{}
	for _, n := range c.Nodes() {
		v, err := n.Version(patient(t))
		must(t, err)
		versions[v] = true
	}
	if len(versions) != 2 {
		t.Errorf("versions %v", versions)
	}
	_, js := reach(t, c.URL())
	makeStream(t, js, jetstream.StreamConfig{Name: "R3", Subjects: []string{"r3"}, Replicas: 3})
	store(t, js, "r3")
	must(t, c.RollingRestart(patient(t)))
	store(t, js, "r3")
	current(t, js)
}

// What waits for several elections.
func TestClusterLong(t *testing.T) {
	c, js, run := filledCluster(t)

	run("freeze", func(t *testing.T) {
		before := leader(t, c, "R3")
		must(t, before.Freeze())
		eventually(t, "another node leads", func() bool { return leader(t, c, "R3") != before })
		must(t, before.Thaw())
	})

	for _, how := range lab.Cuts() {
		run("partition "+how, func(t *testing.T) {
			before := leader(t, c, "R3")
			_, there := reach(t, another(c, before).URL())
			before.Partition(lab.Cut(how))
			if how == string(lab.CutIn) {
				// It goes on as a leader that is heard and hears nobody: it cannot store.
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if _, err := there.Publish(ctx, "r3", nil, jetstream.WithRetryAttempts(0)); err == nil {
					t.Error("a message was stored by a leader that hears nobody")
				}
			}
			eventually(t, "another node leads", func() bool { return leader(t, c, "R3") != before })
			store(t, there, "r3")
			before.Heal()
			current(t, there)
		})
	}

	run("no quorum", func(t *testing.T) {
		stays := leader(t, c, "R3")
		var gone []*lab.Node
		for _, n := range c.Nodes() {
			if n != stays {
				gone = append(gone, n)
				must(t, n.Kill(patient(t)))
			}
		}
		eventually(t, "nobody leads", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.StreamLeader(ctx, "R3")
			return errors.Is(err, lab.ErrNoLeader)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := c.AwaitReady(ctx); err == nil {
			t.Error("a cluster without quorum is ready")
		}
		// A node that comes back lets clients in, whatever the others do.
		for _, n := range gone {
			must(t, n.Start(patient(t)))
		}
		must(t, c.AwaitReady(patient(t)))
		store(t, js, "r3")
	})
}
