//go:build long

package fleet

import (
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// On a cluster every node is killed in turn, and all read on.
func TestReadersOnACluster(t *testing.T) {
	r, err := Run(within(t), Plan{Readers: 12, Streams: 2, Nodes: 3, Idle: LeastIdle, Config: reader.Config{Retry: reader.RetryPolicy{AttemptTimeout: 5 * time.Second}}, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, v := range r.Recoveries {
		if v.NotRead > 0 || v.Read <= 0 || v.Back <= 0 || v.Consumers != 12 {
			t.Errorf("%+v", v)
		}
		if v.Connection {
			held++
		}
	}
	if len(r.Recoveries) != 3 || held == 0 || r.Made.Replicas != 3 {
		t.Error(report(t, Text, r))
	}
}
