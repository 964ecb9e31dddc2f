package reader_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Readers of all kinds, on one cluster. What takes minutes is under the build tag long.
func TestCluster(t *testing.T) {
	t.Parallel()
	b := withCluster(t)
	r3, threeReplicas, memory, durable, r1 := kinds[0], kinds[1], kinds[2], kinds[3], kinds[4]
	b.scenario("kill of the node that leads the stream", []kind{r3, durable, r1}, injected("kill-node@0s+500ms"))
	b.scenario("step-downs", []kind{threeReplicas}, stepDowns(20))
	b.scenario("rolling restart", []kind{memory, r1}, rollingRestart)
}

// rollingRestart restarts every node, one by one.
func rollingRestart(t *testing.T, aim *clusterReading) []chaos.Period {
	t.Helper()
	ctx, cancel := context.WithTimeout(aim.ctx, 2*patience)
	defer cancel()
	began := chaos.Period{From: time.Now()}
	if err := aim.cluster.cluster.RollingRestart(ctx); err != nil {
		t.Fatal(err)
	}
	began.To = time.Now()
	return []chaos.Period{began}
}

// stepDowns has the leader of the stream and that of the consumer step down in turn,
// every 100 ms.
func stepDowns(n int) func(*testing.T, *clusterReading) []chaos.Period {
	return func(t *testing.T, aim *clusterReading) []chaos.Period {
		t.Helper()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		began := chaos.Period{From: time.Now()}
		done := map[string]int{}
		for i := range n {
			<-tick.C
			subject := "$JS.API.STREAM.LEADER.STEPDOWN." + aim.stream
			if i%2 == 1 {
				subject = "$JS.API.CONSUMER.LEADER.STEPDOWN." + aim.stream + "." + aim.r.Status().Session.Consumer
			}
			if answered(aim, subject) {
				done[subject]++
			}
		}
		t.Logf("steps down: %v", done)
		if len(done) == 0 {
			t.Error("no leader stepped down")
		}
		began.To = time.Now()
		return []chaos.Period{began}
	}
}

// answered sends a request that may meet an election, and says whether it was answered.
func answered(aim *clusterReading, subject string) bool {
	ctx, cancel := context.WithTimeout(aim.ctx, time.Second)
	defer cancel()
	m, err := aim.admin.Conn().RequestMsgWithContext(ctx, &nats.Msg{Subject: subject})
	return err == nil && strings.Contains(string(m.Data), `"success":true`)
}
