package doctor_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// limit bounds what a test waits for.
const limit = 5 * time.Minute

// server is one for all tests; each has an account of its own on it.
var (
	server   *lab.Server
	accounts atomic.Int64
)

const mostAccounts = 100

func TestMain(m *testing.M) {
	lab.Main()
	lab.SideBySide(8)
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var err error
	if server, err = lab.Start(ctx, lab.Options{Config: accountsConfig()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func accountsConfig() string {
	var text strings.Builder
	text.WriteString("no_auth_user: ready\naccounts {\n  READY { jetstream: enabled, users: [{user: ready, password: p}] }\n  NONE { users: [{user: none, password: p}] }\n  SMALL { jetstream: {max_mem: 100K, max_file: 100K}, users: [{user: small, password: p}] }\n")
	for i := range mostAccounts {
		fmt.Fprintf(&text, `  A%d { jetstream: enabled, users: [{user: u%d, password: p},
    {user: mute%d, password: p, permissions: {publish: {deny: "$JS.ACK.>"}}},
    {user: unlisted%d, password: p, permissions: {publish: {deny: "$JS.API.CONSUMER.LIST.>"}}},
    {user: none%d, password: p, permissions: {publish: {deny: ">"}, subscribe: {deny: ">"}}},
    {user: few%d, password: p, permissions: {publish: {deny: ["$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.DELETE.>", "$SYS.>", "$JS.API.STREAM.LIST"]}, subscribe: {deny: "$JS.EVENT.>"}}}] }
`, i, i, i, i, i, i)
	}
	text.WriteString("}\n")
	return text.String()
}

// ward is an account with a connection to it.
type ward struct {
	t   *testing.T
	ctx context.Context
	n   int64
	nc  *nats.Conn
	js  jetstream.JetStream
}

func newWard(t *testing.T) *ward {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	w := &ward{t: t, ctx: ctx, n: accounts.Add(1) - 1}
	if w.n >= mostAccounts {
		t.Fatal("too few accounts for so many tests: raise mostAccounts")
	}
	w.nc = w.connect("u")
	w.js = w.jetStream(w.nc)
	return w
}

// connect logs in to the ward's account as one of its users: u, mute, unlisted, none, few.
func (w *ward) connect(user string, options ...nats.Option) *nats.Conn {
	w.t.Helper()
	options = append([]nats.Option{
		nats.UserInfo(fmt.Sprint(user, w.n), "p"), nats.Name(user), nats.Timeout(30 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)
	nc, err := nats.Connect(server.URL(), options...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nc.Close)
	return nc
}

func (w *ward) jetStream(nc *nats.Conn) jetstream.JetStream {
	w.t.Helper()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	w.must(err)
	return js
}

func (w *ward) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *ward) stream(change ...func(*jetstream.StreamConfig)) jetstream.Stream {
	w.t.Helper()
	cfg := jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Storage: jetstream.MemoryStorage}
	for _, c := range change {
		c(&cfg)
	}
	s, err := w.js.CreateStream(w.ctx, cfg)
	w.must(err)
	return s
}

func (w *ward) consumer(cfg jetstream.ConsumerConfig) jetstream.Consumer {
	w.t.Helper()
	c, err := w.js.CreateConsumer(w.ctx, "S", cfg)
	w.must(err)
	return c
}

func (w *ward) publish(subject string, n int) {
	w.t.Helper()
	for i := range n {
		_, err := w.js.Publish(w.ctx, subject, fmt.Append(nil, i))
		w.must(err)
	}
}

// proxied is a connection through a proxy of its own, for faults of the wire.
func (w *ward) proxied() (*nats.Conn, *proxy.Proxy) {
	w.t.Helper()
	p, err := proxy.New(server.URL(), proxy.Options{})
	w.must(err)
	w.t.Cleanup(func() { p.Close() }) //nolint:errcheck // it gives none
	_, err = p.Listen("127.0.0.1:0")
	w.must(err)
	nc, err := nats.Connect(p.URL(), nats.UserInfo(fmt.Sprint("u", w.n), "p"), nats.Name("through the proxy"), nats.Timeout(30*time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	w.must(err)
	w.t.Cleanup(nc.Close)
	return nc, p
}

func (w *ward) fault(p *proxy.Proxy, text string) {
	w.t.Helper()
	f, err := proxy.ParseFault(text)
	w.must(err)
	undo, err := p.Apply(f)
	w.must(err)
	w.t.Cleanup(undo)
}

// examine gathers with a connection of the doctor's own, and judges.
func (w *ward) examine(o doctor.Options, j doctor.JudgeOptions) (doctor.Facts, doctor.Report) {
	w.t.Helper()
	nc := w.connect("u", nats.Name("doctor"))
	defer nc.Close()
	return w.examineBy(nc, o, j)
}

func (w *ward) examineBy(nc *nats.Conn, o doctor.Options, j doctor.JudgeOptions) (doctor.Facts, doctor.Report) {
	w.t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	f, err := doctor.Gather(w.ctx, nc, o)
	w.must(err)
	return f, doctor.Judge(f, j)
}

// finds wants exactly these checks, each as "READER_001", or with its cause as
// "READER_009 slow_handler". Findings for information alone begin with "-".
func finds(t *testing.T, r doctor.Report, want ...string) {
	t.Helper()
	var got []string
	for _, f := range r.Findings {
		text := strings.TrimSpace(f.Check + " " + f.Cause)
		if f.Severity == doctor.Info {
			text = "-" + text
		}
		got = append(got, text)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("found %v, want %v\n%s", got, want, told(r))
	}
}

func told(r doctor.Report) string {
	var out strings.Builder
	fmt.Fprintln(&out, r.Text)
	for _, f := range r.Findings {
		fmt.Fprintf(&out, "%s %s %s %s: %s\n", f.Severity, f.Check, f.Stream, f.Consumer, f.Text)
		for _, fact := range f.Facts {
			fmt.Fprintf(&out, "    %s = %s\n", fact.Name, fact.Value)
		}
	}
	for _, m := range r.Fleet {
		fmt.Fprintf(&out, "%+v\n", m)
	}
	for _, n := range r.NotJudged {
		fmt.Fprintf(&out, "not judged: %s: %s\n", n.What, n.Why)
	}
	return out.String()
}

// since says whether the server is of a version or newer.
func since(t *testing.T, major, minor int) bool {
	t.Helper()
	v, err := server.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var x, y int
	if _, err := fmt.Sscanf(v, "%d.%d", &x, &y); err != nil {
		t.Fatal(err)
	}
	return x > major || x == major && y >= minor
}
