//go:build long

package reader_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// What TestRandomFaults runs; scripts/random-faults.sh sets it.
var (
	randomSeed     = flag.Uint64("random.seed", 1, "of the schedule of faults and of the load")
	randomNodes    = flag.Int("random.nodes", 1, "1: one server, or the nodes of a cluster")
	randomLength   = flag.Duration("random.for", 30*time.Second, "how long faults go on")
	randomSchedule = flag.String("random.schedule", "", "a file with the faults to stage, one a line, in place of those of the seed")
)

// storm is a server or a cluster under random faults, and the readers that face them.
type storm struct {
	*testing.T
	ctx     context.Context
	server  *lab.Server
	cluster *lab.Cluster
	proxy   *proxy.Proxy
	direct  *nats.Conn
	admin   jetstream.JetStream
	conns   map[string]*nats.Conn
	all     []*witness
	began   time.Time
	wire    wireRecord

	mu      sync.Mutex
	firings []chaos.Firing
	looks   int // at the consumers
}

// TestRandomFaults runs readers of many configurations under a load and a random
// schedule of real faults, and judges each of them by what the stream holds at the end.
func TestRandomFaults(t *testing.T) {
	s := startStorm(t)
	site := site{clustered: s.cluster != nil, pauses: s.pauses()}
	for _, w := range s.all {
		site.readers = append(site.readers, w.name)
	}
	site.conns = []string{"c1", "c2", "c3", "c4", "c5"}
	plan := s.plan(site)
	t.Logf("seed %d, schedule:\n%s", *randomSeed, lines(plan))

	life, quit := context.WithCancel(s.ctx)
	var watching sync.WaitGroup
	defer func() { quit(); watching.Wait() }()
	for _, w := range s.all {
		watching.Go(func() { w.consume(life) })
	}
	watching.Go(func() { s.watch(life) })
	published := startLoad(s.ctx, s.admin, "w", *randomSeed, *randomLength)
	s.began = time.Now()
	periods := s.stage(plan)
	s.lasts(*randomLength - time.Since(s.began))
	s.calm()
	over := time.Now()
	s.must(published.end())

	held := s.stock()
	drained, tidied := s.drain(held), s.tidy()
	settled := time.Since(over)
	carried := s.wire.requests()
	statuses := map[*witness]reader.Status{}
	for _, w := range s.all {
		statuses[w] = w.r.Status()
	}
	s.close()
	quit()
	watching.Wait()
	orphans := s.left()
	s.judge(held, statuses, periods)
	s.compare(carried, statuses)
	if orphans > 0 {
		s.Errorf("%d consumers are left", orphans)
	}
	s.figures(held, statuses, periods, published, orphans, drained, tidied, settled)
}

// plan is the schedule of the seed, or of the file.
func (s *storm) plan(site site) (plan []due) {
	if *randomSchedule == "" {
		return site.schedule(*randomSeed, *randomLength)
	}
	text, err := os.ReadFile(*randomSchedule)
	s.must(err)
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		d, err := parseDue(line)
		s.must(err)
		if d.reader != "" && !slices.Contains(site.readers, d.reader) {
			s.Fatalf("no reader %q: there are %v", d.reader, site.readers)
		}
		plan = append(plan, d)
	}
	return plan
}

// stage fires the schedule and gives, for each reader, when which fault acted on it.
func (s *storm) stage(plan []due) map[*witness][]chaos.Period {
	var common []chaos.Spec
	own := map[*witness][]chaos.Spec{}
	for _, d := range plan {
		if d.reader == "" {
			common = append(common, d.spec)
		}
		for _, w := range s.all {
			if d.reader == w.name {
				own[w] = append(own[w], d.spec)
			}
		}
	}
	var running sync.WaitGroup
	start := func(w *witness, specs []chaos.Spec) *chaos.Runner {
		env := &chaos.Environment{
			Stream: "LOAD", JS: s.admin, Status: w.r.Status, Proxy: s.proxy, Lab: s.server, Cluster: s.cluster,
			ReaderUser: true, Connected: s.conns[w.conn].ConnectedServerName,
		}
		runner, err := chaos.NewRunner(env, specs, s.fired)
		s.must(err)
		running.Go(func() { runner.Run(s.ctx) })
		return runner
	}
	all := start(s.all[0], common)
	runners := map[*witness]*chaos.Runner{}
	for w, specs := range own {
		runners[w] = start(w, specs)
	}
	running.Wait()
	periods := map[*witness][]chaos.Period{}
	for _, w := range s.all {
		for _, p := range all.Periods() {
			if conn := p.Spec.Params["conn"]; conn == "" || conn == w.conn {
				periods[w] = append(periods[w], s.elected(p))
			}
		}
		if runner := runners[w]; runner != nil {
			for _, p := range runner.Periods() {
				periods[w] = append(periods[w], s.elected(p))
			}
		}
	}
	return periods
}

// elections is how long a cluster may need for the leaders of its streams and
// consumers once it has all its nodes.
const elections = 9 * time.Second

// elected adds to what befell the nodes of a cluster the elections that follow: no
// reader can read before.
func (s *storm) elected(p chaos.Period) chaos.Period {
	f, _ := chaos.FindFault(p.Spec.Name)
	if s.cluster != nil && (f.Layer == chaos.LayerProcess && f.Name != "revoke-permission" || f.Clustered) {
		p.To = p.To.Add(elections)
	}
	return p
}

func (s *storm) fired(f chaos.Firing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.firings = append(s.firings, f)
}

// calm waits until no fault is left, and all servers have their places again.
func (s *storm) calm() {
	s.proxy.Reset()
	ctx, cancel := context.WithTimeout(s.ctx, 2*patience)
	defer cancel()
	if s.cluster != nil {
		s.must(s.cluster.AwaitReady(ctx))
	}
	for ctx.Err() == nil {
		try, cancel := context.WithTimeout(ctx, time.Second)
		_, err := s.admin.Stream(try, "LOAD")
		cancel()
		if err == nil {
			return
		}
		s.lasts(50 * time.Millisecond)
	}
	s.Fatalf("the stream is not back after the faults\n%s", s.chronicle(time.Time{}, 0))
}

func (s *storm) lasts(d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-s.ctx.Done():
		s.Fatal("the test's own time is over")
	}
}

// stock reads what the stream holds; a cluster may need some time to answer again.
func (s *storm) stock() []stocked {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	var last error
	for {
		held, err := stock(ctx, s.admin, "LOAD")
		if err == nil {
			return held
		}
		if ctx.Err() != nil {
			s.Fatalf("what the stream holds: %v\n%s", errors.Join(last, err), s.chronicle(time.Time{}, 0))
		}
		last = err
		s.lasts(200 * time.Millisecond)
	}
}

// drain waits until every reader has read what the stream holds; what is missing
// after a minute is lost.
func (s *storm) drain(held []stocked) time.Duration {
	began := time.Now()
	for _, w := range s.all {
		for time.Since(began) < patience && w.r.Err() == nil {
			if lost, _ := w.missing(held); len(lost) == 0 {
				break
			}
			s.lasts(100 * time.Millisecond)
		}
	}
	return time.Since(began)
}

// tidyLimit is the time after which, with the API answering, a reader has one consumer.
const tidyLimit = 30 * time.Second

// tidy waits until each reader has the one consumer of its session on the server, and
// says when that was; then until it tells of no orphan any more.
func (s *storm) tidy() (took time.Duration) {
	began := time.Now()
	for clean := false; !clean && time.Since(began) < tidyLimit; s.lasts(100 * time.Millisecond) {
		names, err := s.consumers(s.ctx)
		clean = err == nil
		for _, w := range s.all {
			clean = clean && slices.Equal(names[w], []string{w.r.Status().Session.Consumer})
		}
	}
	took = time.Since(began)
	names, err := s.consumers(s.ctx)
	s.must(err)
	for _, w := range s.all {
		if now := w.r.Status().Session.Consumer; !slices.Equal(names[w], []string{now}) {
			w.broken(time.Now(), "%s after the faults it has the consumers %v and reads from %s", tidyLimit, names[w], now)
		}
		for w.r.Status().Orphans > 0 && time.Since(began) < patience {
			s.lasts(100 * time.Millisecond)
		}
		if n := w.r.Status().Orphans; n > 0 {
			w.broken(time.Now(), "a minute after the faults it tells of %d orphans", n)
		}
	}
	return took
}

// consumers gives the names of each reader's consumers.
func (s *storm) consumers(ctx context.Context) (map[*witness][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	stream, err := s.admin.Stream(ctx, "LOAD")
	if err != nil {
		return nil, err
	}
	names := map[*witness][]string{}
	list := stream.ConsumerNames(ctx)
	for name := range list.Name() {
		for _, w := range s.all {
			if w.owns(name) {
				names[w] = append(names[w], name)
			}
		}
	}
	return names, list.Err()
}

// watch looks at the consumers on the server and at the requests of the readers.
func (s *storm) watch(ctx context.Context) {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, w := range s.all {
			status := w.r.Status()
			w.mu.Lock()
			w.requests = append(w.requests, sample{time.Now(), asked(status), status.Session.Number})
			w.mu.Unlock()
		}
		names, err := s.consumers(ctx)
		if err != nil {
			continue // the API is not there at the moment
		}
		s.mu.Lock()
		s.looks++
		s.mu.Unlock()
		for w, owned := range names {
			w.mu.Lock()
			if w.most = max(w.most, len(owned)); len(owned) > 3 {
				w.wrong = append(w.wrong, breach{time.Now(), fmt.Sprintf("%d consumers: %v", len(owned), owned)})
			}
			w.mu.Unlock()
		}
	}
}

func (s *storm) close() {
	var closing sync.WaitGroup
	for _, w := range s.all {
		closing.Go(func() {
			ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
			defer cancel()
			if err := w.r.Close(ctx); err != nil {
				w.broken(time.Now(), "close: %v", err)
			}
		})
	}
	closing.Wait()
}

// left counts the consumers that closed readers have left.
func (s *storm) left() int {
	for began := time.Now(); ; s.lasts(100 * time.Millisecond) {
		names, err := s.consumers(s.ctx)
		n := 0
		for w, owned := range names {
			if w.cfg.Durable == "" {
				n += len(owned)
			}
		}
		if err == nil && (n == 0 || time.Since(began) > 5*time.Second) {
			return n
		}
	}
}
