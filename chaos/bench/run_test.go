package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// bed is a server for a bench.
type bed struct {
	*testing.T
	lab *lab.Server
	Server
}

func newBed(t *testing.T, config string) *bed {
	t.Helper()
	t.Parallel()
	l, err := lab.Start(t.Context(), lab.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bed{T: t, lab: l, Server: OnLab(l)}
}

// streams are the names of the streams that are there.
func (b *bed) streams() (names []string) {
	b.Helper()
	nc, err := nats.Connect(b.lab.URL())
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	list := js.StreamNames(context.Background())
	for name := range list.Name() {
		names = append(names, name)
	}
	if list.Err() != nil {
		b.Fatal(list.Err())
	}
	return names
}

// behind puts a proxy before the connections of those who read. The first connection is that of the bench itself.
func (b *bed) behind(fault string) {
	b.Helper()
	p, err := proxy.New(b.lab.URL(), proxy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() }) //nolint:errcheck // it gives none
	f, err := proxy.ReadFault(fault)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.Apply(f); err != nil {
		b.Fatal(err)
	}
	direct, made := b.Connect, atomic.Int32{}
	b.Connect = func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
		if made.Add(1) > 1 {
			options = append([]nats.Option{nats.SetCustomDialer(p.Dialer())}, options...)
		}
		return direct(ctx, options...)
	}
}

func plan(contestants ...string) Plan {
	return Plan{
		Contestants: contestants, Loads: []Load{{Size: 64, Count: 50}}, Rounds: 1, Pulls: []Pulls{Defaults}, Batch: 100, Limit: 5 * time.Minute,
	}
}

func TestEveryContestantReadsEverything(t *testing.T) {
	b := newBed(t, "")
	p := Plan{
		Contestants: Names(), Loads: []Load{{Size: MinSize, Count: 1}, {Size: 300, Count: 1200}}, Rounds: 2, Pulls: []Pulls{Equal, Defaults},
		Batch: 250, Bases: []string{Base, "fetch"}, Metadata: true, Limit: 5 * time.Minute,
	}
	var told []Progress
	r, err := Run(t.Context(), b.Server, p, func(at Progress) { told = append(told, at) })
	if err != nil {
		t.Fatal(err)
	}
	if !r.Whole || len(r.Series) != 4 || r.Made.Server == "" {
		t.Fatalf("%+v", r)
	}
	for i, s := range r.Series {
		if l := p.Loads[i/2]; s.Size != l.Size || s.Count != l.Count || s.Pulls != p.Pulls[i%2] {
			t.Errorf("series %d is %+v", i, s)
		}
		var places []int
		for _, e := range s.Entries {
			if e.Stopped != "" || len(e.Readings) != p.Rounds || !e.Sound() {
				t.Errorf("%s: %+v", e.Name, e)
			}
			for _, one := range e.Readings {
				places = append(places, one.Round*100+one.Place)
				if one.Messages != uint64(s.Count) || one.Wire < uint64(s.Count*s.Size) || one.Took <= 0 || one.CPU < 0 || one.Heap == 0 || one.Goroutines == 0 || one.Reconnects != 0 || len(one.Said) > 0 {
					t.Errorf("%s: %+v", e.Name, one)
				}
				if measured := runtime.GOOS == "linux" || runtime.GOOS == "windows"; (one.ServerCPU != nil) != measured {
					t.Errorf("%s: the server's CPU is %v", e.Name, one.ServerCPU)
				}
			}
			if want := len(p.Bases); slices.Contains(p.Bases, e.Name) && len(e.Ratios) != want-1 || !slices.Contains(p.Bases, e.Name) && len(e.Ratios) != want {
				t.Errorf("%s: %+v", e.Name, e.Ratios)
			}
		}
		slices.Sort(places)
		if len(slices.Compact(places)) != p.Rounds*len(p.Contestants) {
			t.Errorf("places %v", places)
		}
	}
	if last := told[len(told)-1]; last.Done != p.Readings() || last.All != p.Readings() || last.Reading == nil {
		t.Errorf("the last that was told is %+v", last)
	}
	if left := b.streams(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	if left := b.lab.Running(); !left {
		t.Error("the server has ended")
	}
	var text bytes.Buffer
	if err := Encode(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{`"schema": "nats-reader/bench/v1"`, `"took_ns": `, `"took": "`, `"server_cpu": `, `"pulls": "equal"`} {
		if !strings.Contains(text.String(), word) {
			t.Errorf("the JSON has no %s", word)
		}
	}
	var again any
	if err := json.Unmarshal(text.Bytes(), &again); err != nil {
		t.Error(err)
	}
}

// What is lost or comes twice is told, of each who cannot mend it.
func TestLostAndRepeatedMessages(t *testing.T) {
	for _, c := range []struct {
		fault               string
		lost, again, ourOdd uint64
	}{{fault: "drop-message(nth=7,limit=1)", lost: 1}, {fault: "duplicate-message(nth=7,limit=1)", again: 1}} {
		for _, who := range []string{"consume", "messages", "next", "legacy-ordered"} {
			t.Run(c.fault+" "+who, func(t *testing.T) {
				b := newBed(t, "")
				b.behind(c.fault)
				r, err := Run(t.Context(), b.Server, plan(who), nil)
				if err != nil {
					t.Fatal(err)
				}
				e := r.Series[0].Entries[0]
				if len(e.Readings) != 1 || e.Stopped != "" {
					t.Fatalf("%+v", e)
				}
				lost, again := c.lost, c.again
				if who == "next" || who == "legacy-ordered" {
					lost, again = 0, 0
				}
				if one := e.Readings[0]; one.Lost != lost || one.Again != again || one.Odd != 0 || e.Sound() != (lost+again == 0) {
					t.Errorf("%+v", one)
				}
			})
		}
	}
}

// A reader that does not come to the end is stopped, and the others are measured.
func TestStuckReader(t *testing.T) {
	b := newBed(t, "")
	b.behind("drop-message(nth=50,limit=1)") // the last one of the first who reads
	p := plan("consume", "fetch")
	p.Rounds = 2
	p.Limit = 3 * time.Second
	r, err := Run(t.Context(), b.Server, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := r.Series[0].Entries[0]
	if len(e.Readings) != 1 || !strings.HasPrefix(e.Stopped, "round 1: it did not come to the last message within 3s (read ") || e.Readings[0].Error == "" || e.finished() {
		t.Errorf("%+v", e)
	}
	if r.Whole || len(r.Series[0].Entries[1].Readings) == 0 {
		t.Errorf("%+v", r)
	}
	if left := b.streams(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// One that does not let go is left alone: nothing that it has counted is looked at.
func TestReaderThatDoesNotStop(t *testing.T) {
	b := newBed(t, "")
	nc, err := b.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	released, ended := make(chan struct{}), make(chan struct{})
	c := &Contestant{Name: "stone", read: func(context.Context, *reading) error {
		defer close(ended)
		<-released
		return nil
	}}
	r := &reading{nc: nc, wire: &wire{}, patience: time.Millisecond}
	_, err = r.run(t.Context(), c, time.Millisecond, b.cpu)
	if !errors.Is(err, ErrStuck) || !errors.Is(err, errNotStopped) || !nc.IsClosed() {
		t.Errorf("got %v", err)
	}
	close(released)
	<-ended
}

// An interrupt keeps what was measured, and leaves nothing on the server.
func TestInterrupted(t *testing.T) {
	for _, during := range []string{"filling", "reading"} {
		t.Run(during, func(t *testing.T) {
			b := newBed(t, "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := plan("next", "consume")
			p.Loads[0].Count, p.Rounds = 5000, 3
			r, err := Run(ctx, b.Server, p, func(at Progress) {
				if during == "filling" && at.Filled > 0 || at.Round == 2 {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) || r.Whole || r.Measured() != (during == "reading") {
				t.Errorf("%v, %+v", err, r)
			}
			if left := b.streams(); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

func TestServerThatRefuses(t *testing.T) {
	b := newBed(t, "max_payload: 1000\njetstream {max_file_store: 4MB, max_memory_store: 4MB}\n")
	p := plan("next")
	p.Loads = []Load{{Size: 1001, Count: 1}}
	var payload *PayloadError
	if _, err := Run(t.Context(), b.Server, p, nil); !errors.As(err, &payload) || payload.Most != 1000 {
		t.Errorf("a message that is too large: %v", err)
	}
	for _, memory := range []bool{false, true} {
		p.Memory, p.Loads = memory, []Load{{Size: 1000, Count: 5000}}
		if _, err := Run(t.Context(), b.Server, p, nil); !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), "insufficient") {
			t.Errorf("no room, in memory %v: %v", memory, err)
		}
	}
	if left := b.streams(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// What the server denies is told only to the connection: nothing waits for an answer.
func TestServerThatDenies(t *testing.T) {
	b := newBed(t, `
accounts { A { jetstream: enabled, users: [
  {user: all, password: all},
  {user: create, password: create, permissions: {publish: {deny: "$JS.API.STREAM.CREATE.>"}}},
  {user: publish, password: publish, permissions: {publish: {deny: "bench.>"}}},
  {user: inbox, password: inbox, permissions: {subscribe: {deny: "_INBOX.>"}}},
  {user: delete, password: delete, permissions: {publish: {deny: "$JS.API.STREAM.DELETE.>"}}},
] } }
no_auth_user: all
`)
	for user, c := range map[string]struct {
		subject string
		left    int
	}{"create": {"$JS.API.STREAM.CREATE.BENCH-", 0}, "publish": {`"bench.`, 0}, "inbox": {`"_INBOX.`, 0}, "delete": {"$JS.API.STREAM.DELETE.BENCH-", 1}} {
		s := b.Server
		s.Connect = func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
			return b.Connect(ctx, append(options, nats.UserInfo(user, user))...)
		}
		before := len(b.streams())
		_, err := Run(t.Context(), s, plan("next"), nil)
		if !errors.Is(err, reader.ErrPermission) || !strings.Contains(err.Error(), c.subject) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s is denied: %v", user, err)
		}
		if left := len(b.streams()) - before; left != c.left {
			t.Errorf("%s is denied: %d streams are left, want %d", user, left, c.left)
		}
	}
}

// A server that goes away ends all contestants.
func TestServerThatGoesAway(t *testing.T) {
	b := newBed(t, "")
	p := plan("next", "consume")
	p.Limit = 3 * time.Second
	r, err := Run(t.Context(), b.Server, p, func(at Progress) {
		if at.Round == 1 && at.Done == 0 && at.Reading == nil {
			if err := b.lab.Kill(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || r.Whole {
		t.Errorf("%v, %+v", err, r)
	}
	for _, e := range r.Series[0].Entries {
		if !strings.Contains(e.Stopped, "connect to the lab's server") {
			t.Errorf("%s: %q", e.Name, e.Stopped)
		}
	}
}
