package session

import (
	"testing"
	"time"
)

// opened gives a machine with the reader's defaults whose first session is proven: at
// message 1 of a stream where many more wait.
func opened(b *testing.B, change func(*Config)) *Machine {
	b.Helper()
	c := Config{
		Stream: "ORDERS", Prefix: "r", ID: "id", Inbox: "_INBOX.bench", InboxPrefix: "_INBOX", APIPrefix: "$JS.API.",
		Retry:       Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, AttemptTimeout: 2 * time.Second},
		MaxMessages: 4096, MaxBytes: 8 << 20, Expires: 30 * time.Second, Heartbeat: 2 * time.Second, Inactive: 30 * time.Second,
		Rand: func() float64 { return 0.5 },
	}
	change(&c)
	m := New(c)
	m.Start(0)
	stream := StreamFacts{Created: 100, First: 1, Last: 1 << 40, Limits: true}
	for m.phase == Opening {
		effects := append([]Effect(nil), m.Effects()...)
		if len(effects) == 0 {
			m.Deliver(0, 1, delivery(1))
		}
		for _, e := range effects {
			if e.Do != DoRequest {
				continue
			}
			m.Sent(0, e.Request)
			a := Answer{Stream: &stream}
			if e.API != APIStreamInfo {
				a = Answer{Consumer: &ConsumerFacts{Name: e.Consumer, Pending: 1 << 40, Level: 5, Owner: "id", Filters: c.Subjects}}
			}
			m.Answer(0, e.Request, a)
		}
	}
	m.Effects()
	if m.phase != Reading {
		b.Fatalf("the reader did not open: it is %s", phaseNames[m.phase])
	}
	return m
}

// benchSize is what a message of 128 bytes weighs, its subjects counted in.
const benchSize = 230

func delivery(sequence uint64) Delivery {
	return Delivery{Sequence: sequence, ConsumerSeq: sequence, Time: int64(sequence) * 1000, Pending: 1<<40 - sequence, Size: benchSize}
}

// BenchmarkDeliver is the step of one message in order, with its share of the pulls, of
// their ends and of what the caller's taking costs.
func BenchmarkDeliver(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"whole", func(*Config) {}},
		{"filtered", func(c *Config) { c.Subjects = []string{"orders.new"} }},
		{"filters", func(c *Config) { c.Subjects = []string{"orders.new", "orders.old"} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := opened(b, c.change)
			waiting := []Pull{m.cur.pulls.open[0].Pull}
			sequence, now := uint64(1), time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				sequence, now = sequence+1, now+2*time.Microsecond
				if m.Deliver(now, 1, delivery(sequence)) != Accept {
					b.Fatalf("message %d is not accepted", sequence)
				}
				if q := &waiting[0]; q.Batch > 1 {
					q.Batch--
				} else {
					m.Status(now, 1, Status{Token: q.Token, Code: 409, Text: "Batch Completed", HasPending: true})
					waiting = append(waiting[:0], waiting[1:]...)
				}
				if sequence%512 == 0 {
					m.Took(now, 512, 512*benchSize)
				}
				if !m.Busy() {
					continue
				}
				for _, e := range m.Effects() {
					if e.Do == DoPull {
						waiting = append(waiting, e.Pull)
					}
				}
			}
		})
	}
}

// BenchmarkHeartbeat is the step of a heartbeat in a quiet time.
func BenchmarkHeartbeat(b *testing.B) {
	m := opened(b, func(*Config) {})
	m.pending = 0
	st, now := Status{Token: m.cur.pulls.next, Code: 100, Text: "Idle Heartbeat", LastConsumer: 1, LastStream: 1, HasLast: true}, time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 2 * time.Second
		m.Status(now, 1, st)
		if m.Busy() {
			b.Fatalf("a heartbeat had effects: %+v", m.Effects())
		}
	}
}

// BenchmarkPullRound is a pull's end after its time, and the next pull.
func BenchmarkPullRound(b *testing.B) {
	m := opened(b, func(*Config) {})
	q, now := m.cur.pulls.open[0].Pull, time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		now += q.Expires
		m.Status(now, 1, Status{Token: q.Token, Code: 408, Text: "Request Timeout", PendingMessages: q.Batch, PendingBytes: q.MaxBytes, HasPending: true})
		effects := m.Effects()
		if len(effects) != 1 || effects[0].Do != DoPull {
			b.Fatalf("not one pull but %+v", effects)
		}
		q = effects[0].Pull
	}
}
