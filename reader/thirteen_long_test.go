//go:build long

package reader_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader"
)

// TestThirteenFaults proves the reader's first figures: 200 messages a second from
// 5 seconds before each fault to 35 seconds after it, with every clock of the
// reader and of its connection at the default, and again with shorter ones and
// with a durable. Lines that begin with "cell" are what scripts/thirteen-faults.sh
// makes its tables of.
func TestThirteenFaults(t *testing.T) {
	l := lengths{pace: 5 * time.Millisecond, before: 1000, after: 7000,
		api: 20 * time.Second, missing: time.Second, down: 3 * time.Second, quiet: 5 * time.Second, denied: 5 * time.Second}
	defaults := map[told]time.Duration{byServer: 500 * time.Millisecond, bySilence: 4500 * time.Millisecond, byLink: 8 * time.Second}
	short := map[told]time.Duration{byServer: 500 * time.Millisecond, bySilence: time.Second, byLink: 8 * time.Second}
	heartbeat := reader.Pull{Heartbeat: 250 * time.Millisecond}
	for _, c := range []struct {
		name  string
		cfg   reader.Config
		only  func(fault) bool
		limit func(fault) time.Duration
	}{
		{"defaults", quick(), nil, func(f fault) time.Duration { return defaults[f.told] }},
		// An attempt under way, and the pause behind it, last as long as ever.
		{"heartbeat 250ms", reader.Config{Stream: "ORDERS", Pull: heartbeat}, nil, func(f fault) time.Duration {
			if f.paced {
				return defaults[f.told]
			}
			return short[f.told]
		}},
		{"heartbeat 250ms, attempts 500ms, pauses 250ms", reader.Config{Stream: "ORDERS", Pull: heartbeat,
			Retry: reader.RetryPolicy{Max: 250 * time.Millisecond, AttemptTimeout: 500 * time.Millisecond}},
			func(f fault) bool { return f.paced }, func(f fault) time.Duration { return short[f.told] }},
		// What is lost on its way to a durable comes again after its ack wait.
		{"durable", reader.Config{Stream: "ORDERS", Durable: "d"}, nil, func(f fault) time.Duration {
			if f.lost {
				return ackWait + defaults[f.told]
			}
			return defaults[f.told]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n, f := range faults() {
				if c.only != nil && !c.only(f) {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					t.Parallel()
					o := under(t, f, c.cfg, l, nats.ReconnectWait(nats.DefaultReconnectWait))
					t.Logf("cell: %s: %02d %s: %s", c.name, n+1, f.name, o)
					if c.cfg.Durable == "" && o.twice+o.disordered != 0 || o.lost != 0 || o.after > c.limit(f) || o.refusal > time.Second {
						t.Fatalf("want nothing lost, twice or out of order, and at most %s of silence", c.limit(f))
					}
					if f.few && o.requests > 4 {
						t.Fatalf("%d API requests for one replacement, want at most 4", o.requests)
					}
				})
			}
		})
	}
}

// ackWait is the server's default.
const ackWait = 30 * time.Second
