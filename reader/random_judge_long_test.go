//go:build long

package reader_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// startStorm starts the servers, the proxy and the readers, with some messages in the
// stream before them.
func startStorm(t *testing.T) *storm {
	ctx, cancel := context.WithTimeout(context.Background(), *randomLength+8*time.Minute)
	t.Cleanup(cancel)
	s := &storm{T: t, ctx: ctx, conns: map[string]*nats.Conn{}, all: witnesses()}
	o := lab.Options{Config: chaos.UserConfig() + "lame_duck_grace_period: 1s\nlame_duck_duration: 30s\n"}
	var url string
	replicas := 1
	var err error
	if *randomNodes > 1 {
		s.cluster, err = lab.StartCluster(ctx, lab.ClusterOptions{Nodes: *randomNodes, Server: o})
		s.must(err)
		t.Cleanup(func() { s.ended(s.cluster.Close()) })
		url, replicas = s.cluster.URL(), *randomNodes
	} else {
		s.server, err = lab.Start(ctx, o)
		s.must(err)
		t.Cleanup(func() { s.ended(s.server.Close()) })
		url = s.server.URL()
	}
	s.proxy, err = proxy.New(url, proxy.Options{RandSeed: *randomSeed, Tap: s.wire.tap})
	s.must(err)
	t.Cleanup(func() { s.ended(s.proxy.Close()) })
	_, err = s.proxy.Listen("127.0.0.1:0")
	s.must(err)
	b := &clusterBed{T: t, ctx: ctx}
	s.direct = b.connect(url, nats.Name("admin"))
	s.leaveOut()
	s.admin = b.js(s.direct)
	for err = context.DeadlineExceeded; err != nil && ctx.Err() == nil; { // a node of a young cluster may count as away
		_, err = s.admin.CreateStream(ctx, jetstream.StreamConfig{Name: "LOAD", Subjects: []string{"load.*"}, Replicas: replicas, MaxConsumers: 60})
	}
	s.must(err)
	_, err = s.admin.CreateConsumer(ctx, "LOAD", jetstream.ConsumerConfig{Durable: "durable", AckPolicy: jetstream.AckExplicitPolicy, AckWait: durableAckWait})
	s.must(err)
	before := startLoad(ctx, s.admin, "before", *randomSeed, 0)
	for before.acked.Load() < 50 {
		s.lasts(10 * time.Millisecond)
	}
	s.must(before.end())
	stream, err := s.admin.Stream(ctx, "LOAD")
	s.must(err)
	last := stream.CachedInfo().State.LastSeq
	for _, w := range s.all {
		if s.conns[w.conn] == nil {
			s.conns[w.conn] = b.connect(s.proxy.URL(), nats.Name(w.conn), nats.UserInfo(chaos.ReaderUser, chaos.ReaderPassword))
		}
		if w.name == "new" {
			w.start = last + 1
		}
		w.r, err = reader.Open(ctx, b.js(s.conns[w.conn]), w.cfg)
		s.must(err)
		w.opened = time.Now()
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = w.r.Close(ctx) // where the test did not come to its end
		})
	}
	return s
}

// leaveOut takes out what the server itself cannot do: consumers of several filters
// skip messages on 2.10.7, whoever reads them (measured with nats.go's Consume and no
// fault: up to 4 of 13,000 under a load of four publishers; none on 2.10.22).
func (s *storm) leaveOut() {
	if version := s.direct.ConnectedServerVersion(); version == "2.10.7" {
		for _, w := range s.all {
			if len(w.cfg.Subjects) > 1 {
				s.Logf("left out on nats-server %s, which skips messages of several filters: reader %s has the filter %s alone", version, w.name, w.cfg.Subjects[0])
				w.cfg.Subjects = w.cfg.Subjects[:1]
			}
		}
	}
}

func (s *storm) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *storm) ended(err error) {
	if err != nil {
		s.Error(err)
	}
}

// pauses says whether the server can pause a consumer: from 2.11 on.
func (s *storm) pauses() bool {
	return !strings.HasPrefix(s.direct.ConnectedServerVersion(), "2.10.")
}

// judge fails the test for every break of the contract, and tells what is known of it.
func (s *storm) judge(held []stocked, statuses map[*witness]reader.Status, periods map[*witness][]chaos.Period) {
	for _, w := range s.all {
		lost, _ := w.missing(held)
		for _, m := range lost {
			w.broken(time.Unix(0, m.stored), "lost: sequence %d, %s", m.sequence, m.id)
		}
		twice, disordered := w.order()
		if w.cfg.Durable != "" {
			twice, disordered = nil, nil
		}
		if beyond, when := w.silences(periods[w]); beyond > w.patience() {
			w.broken(when.at, "%s", when.text)
		}
		_, over := w.rate()
		v := w.oracle.Judge(oracle.Ending{Time: time.Now(), Periods: chaos.Judged(periods[w]), Err: nil})
		w.mu.Lock()
		w.wrong = slices.Concat(w.wrong, twice, disordered, over)
		for _, reason := range v.Reasons() {
			w.wrong = append(w.wrong, breach{w.deafest(), "oracle: " + reason})
		}
		wrong := w.wrong
		w.mu.Unlock()
		s.report(w, wrong, statuses[w])
	}
}

// compare holds the requests that readers tell against those on the wire. STREAM.INFO
// is left out: one that nobody waited for by the time it left is counted by nobody.
func (s *storm) compare(carried map[string]map[string]int, statuses map[*witness]reader.Status) {
	told := map[string]map[string]uint64{} // by connection and kind
	for w, status := range statuses {
		if told[w.conn] == nil {
			told[w.conn] = map[string]uint64{}
		}
		for kind, n := range status.APIRequests {
			told[w.conn][kind] += n
		}
	}
	for conn, kinds := range carried {
		for kind, n := range kinds {
			want := told[conn][kind]
			if kind == "consumer_create" {
				want += told[conn]["consumer_update"]
			}
			if kind != "stream_info" && uint64(n) > want {
				s.Errorf("connection %s carried %v, and its readers tell %v", conn, kinds, told[conn])
				break
			}
		}
	}
}

// deafest is when the longest deaf time ended that it told. The caller has the lock.
func (w *witness) deafest() (at time.Time) {
	var longest time.Duration
	for _, e := range w.events {
		if e.Deaf > longest {
			longest, at = e.Deaf, e.Time
		}
	}
	return at
}

// report tells the breaches of one reader, the first few with what was around them.
func (s *storm) report(w *witness, wrong []breach, status reader.Status) {
	const shown, around = 3, 5 * time.Second
	if len(wrong) == 0 {
		return
	}
	var text strings.Builder
	for i, b := range wrong {
		if i == 30 {
			fmt.Fprintf(&text, "and %d more\n", len(wrong)-i)
			break
		}
		fmt.Fprintf(&text, "at %s: %s\n", s.since(b.at), b.text)
	}
	var last time.Time
	for _, b := range wrong[:min(shown, len(wrong))] {
		if !last.IsZero() && b.at.Sub(last).Abs() < around {
			continue
		}
		last = b.at
		fmt.Fprintf(&text, "\naround %s (%s), its events:\n%sthe faults:\n%sthe wire of %s:\n%s", s.since(b.at), b.at.Format("05.000"),
			w.story(b.at, 3*around), s.chronicle(b.at, 3*around), w.conn, s.wire.around(w, b.at, around))
	}
	s.Errorf("BROKEN seed %d, reader %s (%+v)\n%s", *randomSeed, w.name, status, text.String())
}

func (s *storm) since(at time.Time) string {
	return at.Sub(s.began).Round(time.Millisecond).String()
}

// chronicle tells what faults did within a time of a moment; all of it around no moment.
func (s *storm) chronicle(at time.Time, within time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	for _, f := range s.firings {
		if at.IsZero() || f.Time.Sub(at).Abs() <= within {
			fmt.Fprintf(&text, "%s %s %s %s %s took=%s %v\n", f.Time.Format("05.000"), s.since(f.Time), f.Phase, f.Spec, f.Target, f.Took.Round(time.Millisecond), f.Err)
		}
	}
	return text.String()
}

// figures prints the line that scripts/random-faults.sh makes its table of.
func (s *storm) figures(held []stocked, statuses map[*witness]reader.Status, periods map[*witness][]chaos.Period, l *load, orphans int, drained, tidied, settled time.Duration) {
	var delivered, sessions, lost, moved, twice, disordered, most, requests int
	var window uint64
	longest := "none"
	var worst float64
	for _, w := range s.all {
		t, d := w.order()
		missing, elsewhere := w.missing(held)
		gone := len(missing)
		moved += elsewhere
		beyond, _ := w.silences(periods[w])
		rate, _ := w.rate()
		v := w.oracle.Judge(oracle.Ending{Time: time.Now(), Periods: chaos.Judged(periods[w])})
		if share := float64(beyond) / float64(w.patience()); share > worst {
			worst, longest = share, fmt.Sprintf("%s/%s(%s)", beyond.Round(time.Millisecond), w.patience(), w.name)
		}
		if w.cfg.Durable == "" {
			twice, disordered = twice+len(t), disordered+len(d)
		}
		w.mu.Lock()
		delivered, lost, most, window = delivered+len(w.read), lost+gone, max(most, w.most), max(window, rate)
		s.Logf("reader %s: delivered=%d lost=%d twice=%d disordered=%d sessions=%d longest_deaf=%s beyond_faults=%s most_consumers=%d requests=%d in_10s=%d orphans=%d replaced=%v",
			w.name, len(w.read), gone, len(t), len(d), statuses[w].Session.Number, v.LongestDeaf.Round(time.Millisecond), beyond.Round(time.Millisecond), w.most,
			asked(statuses[w]), rate, statuses[w].Orphans, statuses[w].Replaced)
		w.mu.Unlock()
		sessions += statuses[w].Session.Number
		requests += int(asked(statuses[w]))
	}
	fired, failed := 0, 0
	for _, f := range s.firings {
		switch f.Phase {
		case chaos.PhaseFired:
			fired++
		case chaos.PhaseFailed:
			failed++
			s.Logf("a fault that could not act: %s: %v", f.Spec, f.Err)
		case chaos.PhaseEnded:
		}
	}
	contract := "held"
	if s.Failed() {
		contract = "broken"
		if s.cluster != nil {
			s.Logf("the nodes' own words:\n%s", s.cluster.Log(25))
		}
		s.Logf("what faults did:\n%s", s.chronicle(time.Time{}, 0))
	}
	s.Logf("figures: contract=%s seed=%d version=%s nodes=%d for=%s faults=%d failed=%d wire_firings=%d published=%d messages=%d sessions=%d lost=%d moved=%d twice=%d disordered=%d deaf=%s consumers=%d looks=%d orphans=%d requests=%d in_10s=%d drained=%s tidied=%s settled=%s",
		contract, *randomSeed, s.direct.ConnectedServerVersion(), *randomNodes, *randomLength, fired-failed, failed, len(s.proxy.Firings()), l.acked.Load(), delivered, sessions, lost, moved, twice, disordered,
		longest, most, s.looks, orphans, requests, window, drained.Round(100*time.Millisecond), tidied.Round(100*time.Millisecond), settled.Round(100*time.Millisecond))
}

func lines[T fmt.Stringer](all []T) string {
	var text strings.Builder
	for _, one := range all {
		fmt.Fprintln(&text, one)
	}
	return text.String()
}
