package run

import (
	"strings"
	"sync"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// wire is what the proxy sees of the target: its API requests, its consumers, the
// heartbeats that reach it. It tells the same of every target.
type wire struct {
	oracle  *oracle.Oracle
	moments *moments
	prefix  string // of the JetStream API, beside $JS.API, with its dot; "": none
	// sessions and sequences says that nobody else tells of the target's.
	sessions, sequences bool

	mu       sync.Mutex
	consumer string // that the target used last
	seen     map[string]bool
	acted    map[string]int // how often a fault of the wire has acted
}

// statusIdle is the status of an idle heartbeat.
const statusIdle = 100

// tap is told every frame. It is called on the goroutine that carries the frame.
func (w *wire) tap(f proxy.Frame) {
	switch f.Direction {
	case proxy.Up:
		if f.Verb == proxy.PUB || f.Verb == proxy.HPUB {
			w.sent(f)
		}
	case proxy.Down:
		if f.Fate == proxy.Passed || f.Fate == proxy.Released || f.Fate == proxy.Injected {
			w.received(f)
		}
	}
}

func (w *wire) sent(f proxy.Frame) {
	if f.Fate == proxy.Released {
		return // it was told when it was held
	}
	request, is := w.api(f.Subject)
	if !is {
		return
	}
	if rest, pull := strings.CutPrefix(request, "CONSUMER.MSG.NEXT."); pull {
		if _, consumer, named := strings.Cut(rest, "."); named {
			w.uses(consumer)
		}
		return
	}
	w.oracle.Request(requestKind(request), f.Time)
}

// api cuts the prefix of the JetStream API from a subject.
func (w *wire) api(subject string) (request string, is bool) {
	if w.prefix != "" {
		if request, is = strings.CutPrefix(subject, w.prefix); is {
			return request, true
		}
	}
	rest, is := strings.CutPrefix(subject, "$JS.")
	if !is {
		return "", false
	}
	if request, is = strings.CutPrefix(rest, "API."); is {
		return request, true
	}
	_, rest, _ = strings.Cut(rest, ".") // a domain
	return strings.CutPrefix(rest, "API.")
}

// kinds are what requests are called, by the beginning of their subjects, as a reader's
// status calls them.
var kinds = []struct{ begins, kind string }{
	{"STREAM.NAMES", "stream_names"}, {"STREAM.LIST", "stream_list"}, {"STREAM.INFO", "stream_info"},
	{"STREAM.MSG.GET", "message_get"}, {"DIRECT.GET", "message_get"},
	{"CONSUMER.CREATE", "consumer_create"}, {"CONSUMER.DURABLE.CREATE", "consumer_create"}, {"CONSUMER.DELETE", "consumer_delete"},
	{"CONSUMER.INFO", "consumer_info"}, {"CONSUMER.RESET", "consumer_reset"}, {"CONSUMER.NAMES", "consumer_names"},
	{"CONSUMER.LIST", "consumer_list"}, {"INFO", "account_info"},
}

func requestKind(request string) string {
	for _, k := range kinds {
		if request == k.begins || strings.HasPrefix(request, k.begins+".") {
			return k.kind
		}
	}
	return "other"
}

func (w *wire) received(f proxy.Frame) {
	switch {
	case f.Status == statusIdle:
		w.moments.more(plan.Heartbeat)
	case f.Consumer != "":
		w.uses(f.Consumer)
		if w.sessions && w.isNew(f.Consumer) {
			w.moments.more(plan.Session)
		}
		if w.sequences {
			w.moments.reached(plan.Sequence, f.StreamSequence)
		}
	}
}

func (w *wire) uses(consumer string) {
	w.mu.Lock()
	w.consumer = consumer
	w.mu.Unlock()
}

func (w *wire) isNew(consumer string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[consumer] {
		return false
	}
	w.seen[consumer] = true
	return true
}

// inUse names the consumer that the target used last; "": none yet.
func (w *wire) inUse() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.consumer
}

// acts counts what a fault of the wire does.
func (w *wire) acts(f proxy.Firing) {
	w.mu.Lock()
	w.acted[f.Fault]++
	w.mu.Unlock()
}

// actedSoFar is how often a fault of the wire has acted.
func (w *wire) actedSoFar(fault string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acted[fault]
}

func newWire(m *moments, o *oracle.Oracle) *wire {
	return &wire{oracle: o, moments: m, seen: map[string]bool{}, acted: map[string]int{}}
}
