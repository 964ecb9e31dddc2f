package reader_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// clusterBed is a cluster and a connection of the test's own to all of it.
type clusterBed struct {
	*testing.T
	ctx     context.Context
	cluster *lab.Cluster
	admin   jetstream.JetStream
	streams int
}

// election is how long a request to a cluster may wait for a leader.
const election = 30 * time.Second

func withCluster(t *testing.T) *clusterBed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	t.Cleanup(cancel)
	cluster, err := lab.StartCluster(ctx, lab.ClusterOptions{Server: lab.Options{Config: "lame_duck_grace_period: 1s\nlame_duck_duration: 30s\n"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &clusterBed{T: t, ctx: ctx, cluster: cluster}
	b.admin = b.js(b.connect(cluster.URL(), nats.Name("admin")))
	return b
}

func (b *clusterBed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *clusterBed) connect(url string, options ...nats.Option) *nats.Conn {
	b.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.FlusherTimeout(2 * time.Second), nats.Timeout(5 * time.Second),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)...)
	b.must(err)
	b.Cleanup(nc.Close)
	return nc
}

func (b *clusterBed) js(nc *nats.Conn) jetstream.JetStream {
	b.Helper()
	js, err := jetstream.New(nc)
	b.must(err)
	return js
}

// kind is a stream and a reader on it.
type kind struct {
	name     string
	replicas int
	memory   bool
	config   func(*reader.Config)
}

// kinds are the pairs that every fault of a node is tried on at once.
var kinds = []kind{
	{name: "R3", replicas: 3},
	{name: "R3, consumer of three replicas", replicas: 3, config: func(c *reader.Config) { c.Replicas = 3 }},
	{name: "R3 in memory", replicas: 3, memory: true, config: func(c *reader.Config) { c.Memory = true }},
	{name: "R3, a durable", replicas: 3, config: func(c *reader.Config) { c.Durable = "d" }},
	{name: "R1", replicas: 1},
}

// clusterReading is one reader under load, with a judge.
type clusterReading struct {
	*bed
	kind
	cluster *clusterBed
	r       *reader.Reader
	oracle  *oracle.Oracle
	env     *chaos.Environment

	publisher sync.WaitGroup
	others    sync.WaitGroup // consume, count
	quit      context.CancelFunc
	silence   context.CancelFunc // ends the publisher

	mu   sync.Mutex
	most int               // consumers of the stream at one time
	read map[uint64]string // what was read, by its sequence
}

// clusterRate is how many messages a second each publisher stores.
const clusterRate = 50

// begin opens a reader of a kind on a stream of its own, under load.
func (b *clusterBed) begin(t *testing.T, k kind) *clusterReading {
	t.Helper()
	b.streams++
	name := "S" + strings.Repeat("I", b.streams)
	storage := jetstream.FileStorage
	if k.memory {
		storage = jetstream.MemoryStorage
	}
	ctx, cancel := context.WithTimeout(b.ctx, election)
	defer cancel()
	l := &clusterReading{kind: k, cluster: b, read: map[uint64]string{},
		bed: &bed{TB: t, ctx: b.ctx, stream: name, admin: b.admin, news: make(chan struct{}, 1)}}
	var err error
	l.eventually("the stream is made", func() bool { // a node that came back may count as away for a moment
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // without a leader yet a cluster answers nothing
		defer cancel()
		_, err = b.admin.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Replicas: k.replicas, Storage: storage})
		return err == nil
	})
	l.must(err)
	l.nc = b.connect(b.cluster.URL(), nats.Name("reader"))
	l.js = b.js(l.nc)
	l.oracle = oracle.New(oracle.Rules{Measure: oracle.ByIDs, AtLeastOnce: k.config != nil && k.durable(), Deafness: patience})
	cfg := k.settings()
	cfg.Stream = name
	cfg.Observer = func(e reader.Event) {
		l.oracle.Event(e)
		l.observe(e)
	}
	if cfg.Durable != "" {
		// What went to an inbox that was lost with its node comes again after this.
		_, err := b.admin.CreateConsumer(ctx, name, jetstream.ConsumerConfig{Durable: cfg.Durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 2 * time.Second})
		b.must(err)
	}
	l.r, err = reader.Open(ctx, l.js, cfg)
	l.must(err)
	l.env = &chaos.Environment{Stream: name, JS: b.admin, Cluster: b.cluster, Status: l.r.Status, Connected: l.nc.ConnectedServerName}
	life, quit := context.WithCancel(b.ctx)
	load, silence := context.WithCancel(life)
	l.quit, l.silence = quit, silence
	t.Cleanup(func() { // where the test did not come to its end
		quit()
		l.publisher.Wait()
		l.others.Wait()
		l.close()
	})
	l.publisher.Go(func() { chaos.NewPublisher(b.admin, l.oracle, name, "w", clusterRate).Run(load) })
	l.others.Go(func() { l.consume(life) })
	l.others.Go(func() { l.countConsumers(life) })
	return l
}

func (k kind) settings() reader.Config {
	cfg := hasty(quick())
	if k.config != nil {
		k.config(&cfg)
	}
	return cfg
}

func (k kind) durable() bool { return k.settings().Durable != "" }

func (l *clusterReading) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.r.Close(ctx); err != nil {
		l.Logf("%s: close: %v", l.name, err)
	}
}

func (l *clusterReading) consume(ctx context.Context) {
	for {
		m, err := l.r.Next(ctx)
		if err != nil {
			return
		}
		l.oracle.Read(oracle.Delivery{ID: string(m.Data), Sequence: m.Sequence, ConsumerSequence: m.ConsumerSequence, Session: m.Session, Time: time.Now()})
		l.mu.Lock()
		l.read[m.Sequence] = string(m.Data)
		l.mu.Unlock()
		if l.durable() {
			_ = m.Ack() // one that is lost is delivered again
		}
		l.nudge()
	}
}

// countConsumers looks how many consumers the stream has, as often as the API answers.
func (l *clusterReading) countConsumers(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n, err := l.look(ctx); err == nil {
			l.mu.Lock()
			l.most = max(l.most, n)
			l.mu.Unlock()
		}
	}
}

func (l *clusterReading) look(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s, err := l.admin.Stream(ctx, l.stream)
	if err != nil {
		return 0, err
	}
	names := s.ConsumerNames(ctx)
	for range names.Name() {
		n++
	}
	return n, names.Err()
}

// goesOn waits until so many more messages were read.
func (l *clusterReading) goesOn(n uint64) {
	l.Helper()
	before := l.oracle.Delivered()
	l.eventually(l.name+": it reads on", func() bool { return l.oracle.Delivered() >= before+n })
}

// judge stops the load, lets the readers come to the end and closes them: nothing is
// lost, repeated or out of order, and nothing is left.
func judge(all []*clusterReading, periods []chaos.Period) {
	for _, l := range all {
		l.silence()
	}
	var closing sync.WaitGroup
	statuses := make([]reader.Status, len(all))
	for i, l := range all {
		closing.Go(func() {
			l.publisher.Wait()
			ctx, cancel := context.WithTimeout(l.ctx, patience)
			defer cancel()
			_ = l.oracle.AwaitRead(ctx, oracle.Ending{Periods: chaos.Judged(periods)}) // what is missing then is lost, and judged
			statuses[i] = l.r.Status()
			l.close()
			l.quit()
			l.others.Wait()
		})
	}
	closing.Wait()
	for i, l := range all {
		l.judge(statuses[i], oracle.Ending{Periods: chaos.Judged(periods), Time: time.Now()})
	}
}

func (l *clusterReading) judge(status reader.Status, end oracle.Ending) {
	l.Helper()
	wanted := 0
	if l.durable() {
		wanted = 1
	}
	l.eventually(l.name+": no consumer is left", func() bool {
		n, err := l.look(l.ctx)
		return err == nil && n == wanted
	})
	v := l.oracle.Judge(end)
	l.Logf("%s: delivered=%d lost=%d duplicated=%d out_of_order=%d unknown=%d sessions=%d longest_deaf=%s consumers=%d api_requests=%d replaced=%v",
		l.name, v.Delivered, v.Lost, v.Duplicated, v.OutOfOrder, v.Unknown, v.Sessions, v.LongestDeaf.Round(time.Millisecond), l.most, asked(status), status.Replaced)
	if v.Finding == oracle.Broken && l.readAllThereIs(v) {
		l.Logf("%s: the stream holds what was read and no more: the server has lost %d messages that it had acknowledged, or given them other numbers", l.name, v.Lost)
	} else if v.Finding != oracle.Held || v.Delivered == 0 {
		l.Errorf("%s: contract %s: %v\n%s", l.name, v.Finding, v.Reasons(), l.story())
	}
	if !errors.Is(l.r.Err(), reader.ErrClosed) {
		l.Errorf("%s: it ended by itself: %v\n%s", l.name, l.r.Err(), l.story())
	}
	if limit := 3 + wanted; l.most > limit {
		l.Errorf("%s: %d consumers at one time\n%s", l.name, l.most, l.story())
	}
	ctx, cancel := context.WithTimeout(l.ctx, election)
	defer cancel()
	if err := l.admin.DeleteStream(ctx, l.stream); err != nil {
		l.Logf("%s: %v", l.name, err)
	}
}

// readAllThereIs says whether every message of the stream was read as the stream holds it,
// and nothing else is wrong: servers of 2.10 and 2.14 lose what they acknowledged when a
// leader is cut off or frozen, which no reader can help. Replicas in memory may even differ
// for good: 2.10.22 had two messages under one number.
func (l *clusterReading) readAllThereIs(v oracle.Verdict) bool {
	l.Helper()
	for _, broken := range v.Violations {
		if broken.Kind != oracle.KindLost && broken.Kind != oracle.KindOutOfOrder {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	s, err := l.admin.Stream(ctx, l.stream)
	l.must(err)
	state := s.CachedInfo().State
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := state.FirstSeq; n <= state.LastSeq; n++ {
		m, err := s.GetMsg(ctx, n)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		l.must(err)
		if got := l.read[n]; got == "" || got != string(m.Data) && !l.memory {
			l.Logf("%s: the stream holds %s at %d, where %q was read", l.name, m.Data, n, l.read[n])
			return false
		}
	}
	return true
}

// asked is how many JetStream API requests a reader has sent, pulls apart.
func asked(s reader.Status) (n uint64) {
	for _, sent := range s.APIRequests {
		n += sent
	}
	return n
}

// scenario lets readers of some kinds go through what happens to the cluster, with a
// calm time before and after. The first of them is the one that faults aim at.
func (b *clusterBed) scenario(name string, of []kind, happens func(t *testing.T, aim *clusterReading) []chaos.Period) {
	b.Run(name, func(t *testing.T) {
		defer func() {
			if t.Failed() {
				t.Log(b.cluster.Log(25))
			}
		}()
		var all []*clusterReading
		for _, k := range of {
			all = append(all, b.begin(t, k))
		}
		for _, l := range all {
			l.goesOn(10)
		}
		periods := happens(t, all[0])
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		if err := b.cluster.AwaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			l.goesOn(10)
		}
		judge(all, periods)
	})
}

// injected are faults that chaos knows, aimed at one reader and its stream.
func injected(texts ...string) func(*testing.T, *clusterReading) []chaos.Period {
	return func(t *testing.T, aim *clusterReading) []chaos.Period {
		t.Helper()
		var specs []chaos.Spec
		for _, text := range texts {
			s, err := chaos.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			specs = append(specs, s)
		}
		runner, err := chaos.NewRunner(aim.env, specs, func(f chaos.Firing) { t.Logf("%s %s %s", f.Spec, f.Phase, f.Target) })
		if err != nil {
			t.Fatal(err)
		}
		runner.Run(aim.ctx)
		for _, err := range runner.Failed() {
			t.Error(err)
		}
		return runner.Periods()
	}
}
