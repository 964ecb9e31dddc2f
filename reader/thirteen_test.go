package reader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// The faults that some reader of every client library goes deaf under, loses
// messages under or gives up under, each while a publisher goes on.

// lengths say how much is published around a fault and how long those last that
// have a length.
type lengths struct {
	pace          time.Duration // between two messages
	before, after int           // messages
	api           time.Duration // the API does not answer
	missing       time.Duration // there is no stream
	down          time.Duration // there is no server
	quiet         time.Duration // nothing is published
	denied        time.Duration // pulls are not permitted
}

// fault is one of them.
type fault struct {
	name   string
	slots  int                    // max_consumers of the stream; 0: no limit
	config func(deny bool) string // of a server with users, where it takes permissions away
	closed bool                   // the permission is missing at Open already
	bring  func(x *trial)         // does it; returns when it has ended
	told   told
	few    bool // it costs what one replacement may cost
	paced  bool // its end is found by an attempt, however soon it was detected
	lost   bool // a message is lost on its way to the reader
}

// told is how a reader learns of a fault.
type told int

const (
	byServer  told = iota // at once
	bySilence             // two heartbeats
	byLink                // two heartbeats, and no answer to a ping
)

func faults() []fault {
	restart := func(end func(*lab.Server, context.Context) error) func(*trial) {
		return func(x *trial) { x.restart(end) }
	}
	return []fault{
		{name: "consumer deleted", bring: (*trial).deleteConsumer, few: true},
		{name: "inbox forgotten by the server", bring: (*trial).forgetInbox, told: bySilence, few: true},
		{name: "consumer deleted while the API is silent", bring: (*trial).deleteWhileSilent, told: bySilence, paced: true},
		{name: "stream re-created", bring: (*trial).recreateStream, told: bySilence, paced: true},
		{name: "server restarted", bring: restart((*lab.Server).Term)},
		{name: "server killed and restarted", bring: restart((*lab.Server).Kill)},
		{name: "one slot, consumer deleted", slots: 1, bring: (*trial).deleteConsumer},
		{name: "one slot, inbox forgotten", slots: 1, bring: (*trial).forgetInbox, told: bySilence},
		{name: "one slot, inbox forgotten, deletes unanswered", slots: 1, bring: (*trial).forgetWithoutDeletes, told: bySilence},
		{name: "last message before quiet lost", bring: (*trial).loseLast, told: bySilence, few: true, lost: true},
		{name: "message lost in a flow", bring: (*trial).loseOne, told: bySilence, few: true, lost: true},
		{name: "connection cut", bring: (*trial).cut},
		{name: "connection open and silent", bring: (*trial).muteLink, told: byLink},
		{name: "pulls denied", config: permitted, closed: true},
		{name: "pulls denied for a while", config: permitted, bring: (*trial).denyPulls, told: bySilence, paced: true},
	}
}

// permitted is the configuration of a server whose reader may not pull.
func permitted(deny bool) string {
	subjects := ""
	if deny {
		subjects = `"$JS.API.CONSUMER.MSG.NEXT.>"`
	}
	return `authorization { users = [
  { user: admin, password: admin }
  { user: reader, password: reader, permissions: { publish: { deny: [` + subjects + `] } } }
] }`
}

// under runs one reader under one fault and gives what it did.
func under(t *testing.T, f fault, cfg reader.Config, l lengths, options ...nats.Option) outcome {
	x := newTrial(t, f, l, options...)
	x.publishing(func() {
		x.open(f, cfg)
		x.reading(func() {
			<-x.due
			x.start, x.end = time.Now(), time.Time{}
			if f.bring != nil {
				f.bring(x)
			}
			if x.end.IsZero() {
				x.end = x.start
			}
		})
	})
	return x.judge()
}

// open opens the reader; where its pulls are denied it has to be told so, and is
// opened again once they are not.
func (x *trial) open(f fault, cfg reader.Config) {
	x.Helper()
	if f.closed {
		began := time.Now()
		r, err := reader.Open(x.ctx, x.js, cfg)
		x.refusal = time.Since(began)
		if !errors.Is(err, reader.ErrPermission) || !contains(err, "CONSUMER.MSG.NEXT") {
			x.Fatalf("Open gave %v and %v, want ErrPermission that names the subject", r, err)
		}
		x.must(x.server.Reload(x.ctx, f.config(false)))
	}
	x.r, x.durable = x.bed.open(cfg), cfg.Durable != ""
	x.opening = requests(x.r)
}

// requests is how many API requests the reader has sent so far.
func requests(r *reader.Reader) uint64 { return total(r.Status().APIRequests) }

func total(requests map[string]uint64) (n uint64) {
	for _, k := range requests {
		n += k
	}
	return n
}

// deleteConsumer deletes the reader's consumer. A server that wrote its state at that
// moment says that it could not remove the folder: the consumer is gone all the same.
func (x *trial) deleteConsumer() {
	name := x.r.Status().Session.Consumer
	err := x.admin.DeleteConsumer(x.ctx, x.stream, name)
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && strings.Contains(api.Description, "directory not empty") {
		_, err = x.admin.Consumer(x.ctx, x.stream, name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) || err == nil && x.durable {
			return // a durable may be made again already
		}
	}
	x.must(err)
}

func (x *trial) forgetInbox() { x.fault("drop-subscription") }

func (x *trial) deleteWhileSilent() {
	undo := x.fault("api-timeout")
	x.deleteConsumer()
	x.lasts(x.l.api)
	undo()
	x.end = time.Now()
}

// recreateStream lets the reader have everything first: what it had not read yet
// would be gone with the stream.
func (x *trial) recreateStream() {
	release := x.hold()
	x.readAll()
	x.start = time.Now()
	x.must(x.admin.DeleteStream(x.ctx, x.stream))
	release()
	x.lasts(x.l.missing)
	_, err := x.admin.CreateStream(x.ctx, jetstream.StreamConfig{Name: x.stream, Subjects: []string{"orders.>"}})
	x.must(err)
	x.end = time.Now()
}

func (x *trial) restart(end func(*lab.Server, context.Context) error) {
	x.must(end(x.server, x.ctx))
	x.lasts(x.l.down)
	x.must(x.server.Start(x.ctx))
	x.end = x.await("reconnected", 1).Time
}

func (x *trial) forgetWithoutDeletes() {
	x.fault("api-timeout(subject=CONSUMER.DELETE.>)")
	x.forgetInbox()
}

func (x *trial) loseLast() {
	release := x.hold()
	defer release()
	x.readAll()
	x.fault("drop-message(nth=1,limit=1)")
	x.start = time.Now()
	if err := x.publishNext(x.ctx); err != nil {
		x.Fatal(err)
	}
	x.readAll()
	x.lasts(x.l.quiet)
	x.resumed = time.Now()
}

func (x *trial) loseOne() { x.fault("drop-message(nth=1,limit=1)") }

func (x *trial) cut() {
	x.fault("cut")
	x.end = x.await("reconnected", 1).Time
}

// muteLink leaves the connection open and dead; the next one goes another way.
func (x *trial) muteLink() {
	x.dialer.divert()
	x.fault("black-hole")
}

// denyPulls has the reader begin anew meanwhile: a pull that waits on the server is
// not taken away.
func (x *trial) denyPulls() {
	x.must(x.server.Reload(x.ctx, permitted(true)))
	x.deleteConsumer()
	x.lasts(x.l.denied)
	x.must(x.server.Reload(x.ctx, permitted(false)))
	x.end = time.Now()
}

// newTrial makes the server, the stream and the way to it.
func newTrial(t *testing.T, f fault, l lengths, options ...nats.Option) *trial {
	x := &trial{l: l, due: make(chan struct{}), next: 1, different: map[int]bool{}, dialer: &byway{}}
	admin, user := nats.Name("admin"), nats.Name("reader")
	o := lab.Options{}
	if f.config != nil {
		admin, user = nats.UserInfo("admin", "admin"), nats.UserInfo("reader", "reader")
		o = lab.Options{Config: f.config(f.closed), ReadyOptions: []nats.Option{admin}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := proxy.New(server.URL(), proxy.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, server.Close()))
	}
	t.Cleanup(func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	x.bed = attachBed(t, ctx, server, admin, func(o *nats.Options) error {
		x.dialer.first, x.dialer.second = o.CustomDialer, second.Dialer()
		o.CustomDialer = x.dialer
		for _, set := range append(options, user) {
			if err := set(o); err != nil {
				return err
			}
		}
		return nil
	}, func(c *jetstream.StreamConfig) { c.MaxConsumers = f.slots })
	return x
}

// outcome is what a reader did under a fault.
type outcome struct {
	lost, twice, disordered int
	whole                   time.Duration // longest silence from the fault's start
	after                   time.Duration // longest silence after its end
	refusal                 time.Duration // until Open said no
	requests                uint64        // to the API, since Open
	sessions                int
}

func (o outcome) String() string {
	return fmt.Sprintf("lost=%d twice=%d disordered=%d whole=%s after=%s refusal=%s requests=%d sessions=%d", o.lost, o.twice, o.disordered,
		o.whole.Round(time.Millisecond), o.after.Round(time.Millisecond), o.refusal.Round(time.Millisecond), o.requests, o.sessions)
}
