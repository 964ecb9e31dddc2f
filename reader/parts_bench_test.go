package reader

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

const benchAck = "$JS.ACK.ORDERS.reader-Ab12Cd34-1.1.1234567.1234567.1700000000000000000.99"

var ackForms = []struct{ name, subject string }{
	{"9-tokens", benchAck},
	{"11-tokens", "$JS.ACK.hub.ACCHASH.ORDERS.reader-Ab12Cd34-1.1.1234567.1234567.1700000000000000000.99"},
	{"12-tokens", "$JS.ACK._.ACCHASH.ORDERS.reader-Ab12Cd34-1.1.1234567.1234567.1700000000000000000.99.random"},
}

// BenchmarkParseAckSubject is what a message's own account of itself costs to read.
func BenchmarkParseAckSubject(b *testing.B) {
	for _, form := range ackForms {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.subject)))
			b.ReportAllocs()
			for b.Loop() {
				if a, ok := parseAckSubject(form.subject); !ok || a.pending != 99 {
					b.Fatalf("read as %+v", a)
				}
			}
		})
	}
}

func BenchmarkParseStatus(b *testing.B) {
	for _, c := range []struct {
		name   string
		header nats.Header
	}{
		{"heartbeat", nats.Header{"Status": {"100"}, "Description": {"Idle Heartbeat"}, "Nats-Last-Consumer": {"1234567"}, "Nats-Last-Stream": {"1234567"}}},
		{"pull-over", nats.Header{"Status": {"408"}, "Description": {"Request Timeout"}, "Nats-Pending-Messages": {"4096"}, "Nats-Pending-Bytes": {"8388608"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			msg := &nats.Msg{Subject: "_INBOX.XyZXyZXyZXyZXyZXyZXyZX.1.42", Header: c.header}
			b.ReportAllocs()
			for b.Loop() {
				if st, ok := parseStatus(msg); !ok || st.Token != 42 {
					b.Fatalf("read as %+v", st)
				}
			}
		})
	}
}

// alone is a reader without a connection whose first session is proven at message 1.
// What it would send goes nowhere.
func alone(b *testing.B) *Reader {
	b.Helper()
	cfg := session.Config{
		Stream: "ORDERS", Prefix: "reader", ID: "id", Inbox: "_INBOX.bench", InboxPrefix: "_INBOX", APIPrefix: "$JS.API.",
		Retry:       session.Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, AttemptTimeout: 2 * time.Second},
		MaxMessages: 4096, MaxBytes: 8 << 20, Expires: time.Hour, Heartbeat: 20 * time.Minute, Inactive: 2 * time.Hour,
		Rand: func() float64 { return 0.5 },
	}
	r := &Reader{
		cfg: Config{Stream: cfg.Stream, Pull: Pull{MaxMessages: cfg.MaxMessages, MaxBytes: cfg.MaxBytes}}, base: time.Now(), rules: session.New(cfg),
		held: map[int]*nats.Msg{}, subs: map[int]*nats.Subscription{}, opened: make(chan error, 1), wake: make(chan struct{}, 1),
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	r.rules.Start(0)
	stream := session.StreamFacts{Created: 100, First: 1, Last: 1 << 40, Limits: true}
	for r.rules.Session() == 0 {
		effects := append([]session.Effect(nil), r.rules.Effects()...)
		if len(effects) == 0 {
			r.rules.Deliver(r.now(), 1, session.Delivery{Sequence: 1, ConsumerSeq: 1, Time: 1, Pending: 1 << 40, Size: 230})
		}
		for _, e := range effects {
			if e.Do != session.DoRequest {
				continue
			}
			r.rules.Sent(0, e.Request)
			a := session.Answer{Stream: &stream}
			if e.API == session.APIConsumerCreate {
				a = session.Answer{Consumer: &session.ConsumerFacts{Name: e.Consumer, Pending: 1 << 40, Level: 5, Owner: "id"}}
			}
			r.rules.Answer(0, e.Request, a)
		}
	}
	r.rules.Effects()
	return r
}

// chunk is how many messages a reader alone gets before its caller takes them: as much
// as the rules are told of at a time.
const chunk = 512

// arrivals are the next chunk of messages of the stream, after sequence.
func arrivals(sequence uint64) []*nats.Msg {
	msgs, body := make([]*nats.Msg, chunk), make([]byte, 128)
	for i := range msgs {
		sequence++
		msgs[i] = &nats.Msg{Subject: "orders.new", Data: body, Reply: fmt.Sprintf("$JS.ACK.ORDERS.reader-id-1.1.%d.%d.%d.%d", sequence, sequence, 1_700_000_000_000_000_000+sequence, 1<<40-sequence)}
	}
	return msgs
}

// BenchmarkReceive is what is done with a message on nats.go's goroutine: it is parsed,
// judged and buffered. An operation is a chunk.
func BenchmarkReceive(b *testing.B) {
	r, sequence, pull := alone(b), uint64(1), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		msgs := arrivals(sequence)
		sequence += chunk
		b.StartTimer()
		for _, msg := range msgs {
			r.receive(1, msg)
		}
		b.StopTimer()
		got := r.settleChunk(&pull)
		b.StartTimer()
		if got != chunk {
			b.Fatalf("%d of %d messages are buffered", got, chunk)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunk), "ns/msg")
}

// settleChunk takes what is buffered, and says of a pull that the next one replaces that
// it is served.
func (r *Reader) settleChunk(pull *uint64) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.ready)
	clear(r.ready)
	r.ready = r.ready[:0]
	r.rules.Took(r.now(), n, n*230)
	for _, e := range r.rules.Effects() {
		if e.Do == session.DoPull {
			r.rules.Status(r.now(), 1, session.Status{Token: *pull, Code: 409, Text: "Batch Completed", HasPending: true})
			*pull = e.Pull.Token
		}
	}
	return n
}

// BenchmarkHandOut is what a caller's side of a message costs, while there are some: the
// ways to take it. An operation is a chunk.
func BenchmarkHandOut(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for _, way := range []struct {
		name string
		take func(b *testing.B, r *Reader) int
	}{
		{"Next", func(b *testing.B, r *Reader) (n int) {
			for ; n < chunk; n++ {
				if _, err := r.Next(ctx); err != nil {
					b.Fatal(err)
				}
			}
			return n
		}},
		{"NextBatch", func(b *testing.B, r *Reader) (n int) {
			dst := make([]Message, 256)
			for n < chunk {
				k, err := r.NextBatch(ctx, dst)
				if err != nil {
					b.Fatal(err)
				}
				n += k
			}
			return n
		}},
		{"Messages", func(b *testing.B, r *Reader) (n int) {
			for _, err := range r.Messages(ctx) {
				if err != nil {
					b.Fatal(err)
				}
				if n++; n == chunk {
					break
				}
			}
			return n
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			r := alone(b)
			for _, msg := range arrivals(1) {
				r.receive(1, msg)
			}
			stock := append([]Message(nil), r.ready...)
			b.ReportAllocs()
			for b.Loop() {
				r.ready = append(r.ready[:0], stock...)
				if n := way.take(b, r); n != chunk {
					b.Fatalf("%d of %d messages were handed out", n, chunk)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunk), "ns/msg")
		})
	}
}
