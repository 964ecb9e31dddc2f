package reader_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// flights follows the API requests of a connection: how many are under way at a
// time, in all and of one stream. A request of a connection that is gone is over,
// and so is one that was not answered within a request's time.
type flights struct {
	mu     sync.Mutex
	open   map[string]flight // by reply inbox
	conn   uint64
	of     map[string]int
	most   int
	mostOf map[string]int
	count  map[string]int // by the request's name

	patience time.Duration // a request is over without an answer after it
}

type flight struct {
	stream string
	sent   time.Time
}

func newFlights() *flights {
	return &flights{open: map[string]flight{}, of: map[string]int{}, mostOf: map[string]int{}, count: map[string]int{}, patience: manyAttemptTimeout}
}

func (f *flights) tap(frame proxy.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if frame.Conn != f.conn {
		f.conn, f.open, f.of = frame.Conn, map[string]flight{}, map[string]int{}
	}
	switch {
	case frame.Direction == proxy.Up && frame.Reply != "" && strings.HasPrefix(frame.Subject, "$JS.API.") && !isPullSubject(frame.Subject):
		tokens := strings.Split(frame.Subject, ".")
		stream := tokens[4]
		f.count[tokens[2]+"."+tokens[3]]++
		for reply, k := range f.open {
			if frame.Time.Sub(k.sent) >= f.patience {
				f.over(reply)
			}
		}
		f.open[frame.Reply] = flight{stream, frame.Time}
		f.of[stream]++
		f.most = max(f.most, len(f.open))
		f.mostOf[stream] = max(f.mostOf[stream], f.of[stream])
	case frame.Direction == proxy.Down:
		f.over(frame.Subject)
	}
}

func (f *flights) over(reply string) {
	if k, ok := f.open[reply]; ok {
		delete(f.open, reply)
		f.of[k.stream]--
	}
}

// manyAttemptTimeout is longer than any answer takes on a busy machine: a slot is
// held until the answer.
const manyAttemptTimeout = 10 * time.Second

var patient = reader.RetryPolicy{AttemptTimeout: manyAttemptTimeout}

func isPullSubject(subject string) bool { return strings.Contains(subject, ".CONSUMER.MSG.NEXT.") }

// withFlights is a bed whose reader's connection is watched.
func withFlights(t testing.TB, streams int) (*bed, *flights) {
	// A server that had thousands of consumers takes its time to start.
	b := withServer(t, lab.Options{MaxStart: 5 * time.Minute})
	f := newFlights()
	for i := range streams {
		_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: "S" + num(i), Subjects: []string{"s." + num(i)}})
		b.must(err)
	}
	p, err := proxy.New(b.server.URL(), proxy.Options{Tap: f.tap})
	b.must(err)
	t.Cleanup(func() { b.must(p.Close()) })
	b.reconnect(nats.SetCustomDialer(p.Dialer()))
	return b, f
}

// openMany opens readers, all at once, spread over the streams.
func (b *bed) openMany(readers, streams int, retry reader.RetryPolicy) []*reader.Reader {
	b.Helper()
	all := make([]*reader.Reader, readers)
	errs := make([]error, readers)
	var opening sync.WaitGroup
	for i := range all {
		opening.Go(func() {
			cfg := quick()
			cfg.Stream = "S" + num(i%streams)
			cfg.Pull.Heartbeat, cfg.Retry = 0, retry
			all[i], errs[i] = reader.Open(b.ctx, b.js, cfg)
		})
	}
	opening.Wait()
	for _, err := range errs {
		b.must(err)
	}
	return all
}

// closeMany closes readers, all at once.
func (b *bed) closeMany(all []*reader.Reader) {
	b.Helper()
	errs := make([]error, len(all))
	var closing sync.WaitGroup
	for i, r := range all {
		closing.Go(func() { errs[i] = r.Close(b.ctx) })
	}
	closing.Wait()
	for _, err := range errs {
		b.must(err)
	}
}

// publishEach stores one message in each stream.
func (b *bed) publishEach(streams, payload int) {
	b.Helper()
	for i := range streams {
		_, err := b.admin.Publish(b.ctx, "s."+num(i), []byte(num(payload)))
		b.must(err)
	}
}

// within checks that the bounds of a connection were kept.
func (f *flights) within(b *bed) {
	b.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	b.Logf("requests %v, at most %d at a time, of one stream %v", f.count, f.most, f.mostOf)
	if f.most > 64 {
		b.Fatalf("%d requests under way at a time, want 64 at most", f.most)
	}
	for stream, n := range f.mostOf {
		if n > 16 {
			b.Fatalf("%d requests for stream %s under way at a time, want 16 at most", n, stream)
		}
	}
}

// Hundreds of readers of one connection: what they ask stays within bounds, looks
// at a stream are shared, and after a restart of the server all read on.
func TestManyReadersOfOneConnection(t *testing.T) {
	t.Parallel()
	const readers, streams = 300, 5
	b, f := withFlights(t, streams)
	b.publishEach(streams, 1)
	all := b.openMany(readers, streams, patient)
	for _, r := range all {
		b.expect(r, 1, 1)
	}
	f.within(b)
	f.mu.Lock()
	looks, creates := f.count["STREAM.INFO"], f.count["CONSUMER.CREATE"]
	f.mu.Unlock()
	// A session that is not proven within its time, on a machine that stands still, is
	// made again: once, and of few readers.
	if creates < readers || creates > readers+readers/20 || looks > readers {
		t.Fatalf("%d creates and %d looks for %d readers: want one each, and looks shared", creates, looks, readers)
	}
	for _, r := range all {
		if s := r.Status(); s.APIRequests["consumer_create"] > 2 {
			t.Fatalf("%d creates of one reader: %+v", s.APIRequests["consumer_create"], s)
		}
	}
	counted := uint64(0)
	for _, r := range all {
		counted += r.Status().APIRequests["stream_info"]
	}
	if counted > uint64(looks) {
		t.Fatalf("the readers counted %d looks, the wire %d", counted, looks)
	}
	b.must(b.server.Kill(b.ctx))
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	b.publishEach(streams, 2)
	for _, r := range all {
		b.expect(r, 2, 2)
	}
	f.within(b)
	b.closeMany(all)
	f.within(b)
	for i := range streams {
		b.stream = "S" + num(i)
		if left := b.consumers(); len(left) != 0 {
			t.Fatalf("%d consumers are left on %s", len(left), b.stream)
		}
	}
}

// The answer to a look that several readers share is lost: each asks again, and
// those of other streams are not held up.
func TestManyReadersLoseAnAnswer(t *testing.T) {
	t.Parallel()
	const readers, streams = 40, 2
	b := withStream(t)
	for i := range streams {
		_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: "S" + num(i), Subjects: []string{"s." + num(i)}})
		b.must(err)
	}
	b.publishEach(streams, 1)
	b.fault("lose-reply(subject=STREAM.INFO.S0,limit=3)")
	all := b.openMany(readers, streams, patient)
	for _, r := range all {
		b.expect(r, 1, 1)
	}
	b.closeMany(all)
}

// One hook of the connection's errors serves all its readers, and is taken off with
// the last of them.
func TestManyReadersShareOneHook(t *testing.T) {
	t.Parallel()
	b, _ := withFlights(t, 1)
	mine := func(*nats.Conn, *nats.Subscription, error) {}
	b.nc.SetErrorHandler(mine)
	first := b.openMany(1, 1, patient)
	hook := pointer(b.nc.ErrorHandler())
	more := b.openMany(20, 1, patient)
	if pointer(b.nc.ErrorHandler()) != hook || hook == pointer(mine) {
		t.Fatal("not one hook for all readers")
	}
	b.closeMany(first)
	b.closeMany(more[1:])
	if pointer(b.nc.ErrorHandler()) != hook {
		t.Fatal("the hook is gone while a reader is open")
	}
	b.closeMany(more[:1])
	if pointer(b.nc.ErrorHandler()) != pointer(mine) {
		t.Fatal("the owner's handler is not back")
	}
}

func pointer(h nats.ErrHandler) uintptr { return reflect.ValueOf(h).Pointer() }
