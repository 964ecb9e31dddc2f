//go:build long

package reader_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// staging is how one fault of the proxy is brought to act on a client that reads.
type staging struct {
	fault string // as it is written
	also  string // applied behind it: what makes the client do what the fault waits for, or what follows it in life
	quiet bool   // nothing is published while it is in force, as it acts on a quiet stream alone
	asks  bool   // Consume never does what the fault acts on, a request that is no pull: its caller does, beside it
}

// stagings has a row for every fault of the catalogue. What acts on requests, on
// new subscriptions and on new connections meets them at a reconnect.
var stagings = []staging{
	{fault: "drop-subscription"},
	{fault: "swallow-sub(for=4s)", also: "cut"},
	{fault: "api-timeout(pulls=true,for=4s)", also: "cut"},
	{fault: "lose-reply(for=4s)", also: "cut", asks: true},
	{fault: "api-error(err_code=10008,for=4s)", also: "cut", asks: true},
	{fault: "delay-api(delay=2s,what=request,pulls=true,for=6s)", also: "cut"},
	{fault: "mute-heartbeats(for=5s)", quiet: true},
	{fault: "drop-message(nth=3)"},
	{fault: "duplicate-message(nth=3)"},
	{fault: "reorder-messages(behind=2,for=2s)"},
	{fault: "drop-status", quiet: true},
	{fault: "forge-status(code=409)"},
	{fault: "permission-denied(for=6s)"},
	{fault: "stale-connection"},
	{fault: "lame-duck", also: "cut"},
	{fault: "cut"},
	{fault: "reset"},
	{fault: "half-open(for=4s)"},
	{fault: "black-hole(for=6s)"},
	{fault: "latency(delay=300ms,jitter=100ms,for=5s)"},
	{fault: "bandwidth(rate=4000,for=5s)"},
	{fault: "refuse(for=3s)", also: "cut"},
}

// wireClient is one client under a fault.
type wireClient interface {
	ended() string     // why it reads no more; "" while it does
	alone()            // waits until nothing of its earlier sessions is left
	figures() string   // what it did, as columns of the table
	close()            // ends it
	mustReadAll() bool // a message that it does not read fails the test
}

// TestWireFaults stages every fault of the proxy's catalogue on a real server, under
// a reader and under nats.go's Consume, and prints what both did as a table. The
// reader must read everything once and in order, and once the fault is over the
// connection of either must work as if nothing had been.
func TestWireFaults(t *testing.T) {
	staged := map[string]int{}
	for _, s := range stagings {
		staged[s.name()]++
	}
	for _, name := range proxy.Names() {
		if staged[name] != 1 {
			t.Errorf("%s is staged %d times, not once", name, staged[name])
		}
	}
	if len(stagings) != len(proxy.Names()) {
		t.Errorf("%d rows for a catalogue of %d", len(stagings), len(proxy.Names()))
	}
	cells := make([][2]string, len(stagings))
	t.Run("fault", func(t *testing.T) {
		for i, s := range stagings {
			t.Run(s.name(), func(t *testing.T) {
				t.Parallel()
				t.Run("reader", func(t *testing.T) {
					t.Parallel()
					cells[i][0] = s.run(t, openWireReader)
				})
				t.Run("consume", func(t *testing.T) {
					t.Parallel()
					cells[i][1] = s.run(t, openWireConsume)
				})
			})
		}
	})
	var table strings.Builder
	fmt.Fprintf(&table, "| fault | reader: fired | first firing | sessions | why replaced | deaf | longest wait | lost/dup/late | API requests | Consume: fired | longest wait | lost/dup/late | end |\n|%s\n", strings.Repeat("---|", 13))
	for i, s := range stagings {
		fmt.Fprintf(&table, "| `%s`%s | %s | %s |\n", s.fault, s.beside(), cells[i][0], cells[i][1])
	}
	t.Log("\n" + table.String())
}

func (s staging) name() string {
	name, _, _ := strings.Cut(s.fault, "(")
	return name
}

func (s staging) beside() string {
	switch {
	case s.asks:
		return ", then `" + s.also + "`; beside Consume, which sends pulls alone, its caller asks"
	case s.also != "":
		return ", then `" + s.also + "`"
	case s.quiet:
		return ", stream quiet"
	}
	return ""
}

// run stages the fault under one client and gives its cells of the table.
func (s staging) run(t *testing.T, open func(*bed, *arrivals) wireClient) string {
	b := withStream(t)
	published := b.publishOn()
	got := &arrivals{ids: map[int]time.Time{}}
	client := open(b, got)
	t.Cleanup(client.close)
	b.eventually("the client reads", func() bool { return got.count() >= 50 })

	published.paused(s.quiet)
	fault, err := proxy.ParseFault(s.fault)
	b.must(err)
	undo, err := b.proxy.Apply(fault)
	b.must(err)
	fired := func() bool { return len(b.firings(fault)) > 0 }
	if fault.For == 0 {
		b.eventually(s.fault+" fires", fired)
		undo()
	}
	if s.also != "" {
		b.fault(s.also)
	}
	if s.asks && !client.mustReadAll() {
		b.ask(fired)
	}
	b.eventually(s.fault+" fires", fired)
	b.eventually("no fault is in force", func() bool { return len(b.proxy.Faults()) == 0 })
	firings := b.firings(fault)
	published.paused(false)

	last := published.last() + 100
	b.eventually("a hundred messages more are published", func() bool { return published.last() >= last })
	published.stop()
	b.settle(client, got, published)
	b.works(client, got)
	client.alone()

	cell := fmt.Sprintf("%d", len(firings))
	if client.mustReadAll() {
		if lost, twice, late := got.wrong(published); lost+twice+late > 0 {
			b.Errorf("%d lost, %d twice, %d late\n%s", lost, twice, late, b.story())
		}
		if why := client.ended(); why != "" {
			b.Errorf("the reader ended: %s\n%s", why, b.story())
		}
		cell += " | " + facts(firings[0].Frame) + " | " + client.figures()
	}
	lost, twice, late := got.wrong(published)
	cell += fmt.Sprintf(" | %s | %d/%d/%d | ", got.longestWait(published), lost, twice, late)
	if client.mustReadAll() {
		return cell + fmt.Sprint(total(client.(*wireReader).r.Status().APIRequests))
	}
	return cell + client.figures()
}

// settle waits until all that was published has been read. A client that need not
// read all has the time in which a server sends again what was not acknowledged.
func (b *bed) settle(client wireClient, got *arrivals, published *publisher) {
	b.Helper()
	patient, cancel := context.WithTimeout(b.ctx, ackWait+10*time.Second)
	defer cancel()
	b.eventually("all that was published is read", func() bool {
		lost, _, _ := got.wrong(published)
		if client.mustReadAll() {
			return lost == 0 || client.ended() != ""
		}
		return lost == 0 || client.ended() != "" || patient.Err() != nil
	})
}

// works checks that nothing of the fault is left on the client's connection.
func (b *bed) works(client wireClient, got *arrivals) {
	b.Helper()
	b.eventually("one connection is left", func() bool { return b.nc.IsConnected() && b.logins() == 1 })
	echo, err := b.direct.Subscribe("echo", func(m *nats.Msg) {
		if err := m.Respond(m.Data); err != nil {
			b.Errorf("respond: %v", err)
		}
	})
	b.must(err)
	b.must(b.direct.FlushWithContext(b.ctx))
	answer, err := b.nc.RequestWithContext(b.ctx, "echo", []byte("still there"))
	b.must(err)
	if string(answer.Data) != "still there" {
		b.Errorf("the request was answered with %q", answer.Data)
	}
	b.must(echo.Unsubscribe())
	_, err = b.js.Publish(b.ctx, "orders.check", []byte(fmt.Sprint(checkID)))
	b.must(err)
	patient, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	b.eventually("what the connection itself published is read", func() bool {
		return got.has(checkID) || client.ended() != "" || (!client.mustReadAll() && patient.Err() != nil)
	})
}

// ask sends requests to the API over the client's connection until the fault has acted
// on one, or is over. One may be lost in a cut, so an error says nothing: the firing does.
func (b *bed) ask(fired func() bool) {
	for !fired() && len(b.proxy.Faults()) > 0 {
		ctx, cancel := context.WithTimeout(b.ctx, 500*time.Millisecond)
		b.js.AccountInfo(ctx) //nolint:errcheck // see above
		cancel()
	}
}

// logins counts the connections on which a client has said its name. One to which no
// INFO came in time is no trace of the fault: nats.go never closes it and leaves
// that to the garbage collector and to the server.
func (b *bed) logins() (n int) {
	for _, c := range b.proxy.Connections() {
		if c.Name != "" {
			n++
		}
	}
	return n
}

// firings gives what the fault did.
func (b *bed) firings(f proxy.Fault) (all []proxy.Firing) {
	for _, firing := range b.proxy.Firings() {
		if firing.Fault == f.String() {
			all = append(all, firing)
		}
	}
	return all
}

// facts tells of a frame in a few words.
func facts(f proxy.Frame) string {
	words := []string{string(f.Fate)}
	if f.Verb == 0 && f.Subject == "" {
		return strings.Join(append(words, "connection"), " ")
	}
	words = append(words, f.Verb.String())
	switch {
	case f.StreamSequence != 0:
		words = append(words, fmt.Sprintf("%s, message %d of the session", f.Subject, f.ConsumerSequence))
	case f.Status != 0:
		words = append(words, fmt.Sprint(f.Status), f.Text)
	case f.Request != "":
		words = append(words, "answer to", f.Request)
	case f.Text != "":
		words = append(words, f.Text)
	default:
		words = append(words, f.Subject)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// arrivals is what one client read.
type arrivals struct {
	mu    sync.Mutex
	ids   map[int]time.Time
	top   int
	twice int
	late  int
}

func (a *arrivals) add(id int) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, again := a.ids[id]; again {
		a.twice++
		return
	}
	a.ids[id] = now
	if id == checkID {
		return
	}
	if id < a.top {
		a.late++
	}
	a.top = max(a.top, id)
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids)
}

func (a *arrivals) has(id int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.ids[id]
	return ok
}

// wrong counts the acknowledged messages that did not arrive, the repetitions, and
// those that arrived behind a later one.
func (a *arrivals) wrong(p *publisher) (lost, twice, late int) {
	acknowledged := p.acknowledged()
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range acknowledged {
		if _, ok := a.ids[id+1]; !ok {
			lost++
		}
	}
	return lost, a.twice, a.late
}

// longestWait is that of a message from the server's acknowledgement to the client.
func (a *arrivals) longestWait(p *publisher) string {
	acknowledged := p.acknowledged()
	a.mu.Lock()
	defer a.mu.Unlock()
	var longest time.Duration
	for id, at := range acknowledged {
		if came, ok := a.ids[id+1]; ok {
			longest = max(longest, came.Sub(at))
		}
	}
	return longest.Round(time.Millisecond).String()
}
