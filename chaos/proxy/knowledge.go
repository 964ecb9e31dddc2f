package proxy

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxRequests bounds the API requests of a connection that wait for their answers. The oldest is
// forgotten first; its answer then passes as a message like any other.
const maxRequests = 1 << 14

// clientOptions is the part of a CONNECT that the proxy keeps.
type clientOptions struct {
	Name    string `json:"name"`
	Lang    string `json:"lang"`
	Version string `json:"version"`
	Verbose bool   `json:"verbose"`
	Proto   int    `json:"protocol"`
}

// knowledge is what the frames of a connection have told so far. Both flows teach it; every method is
// safe for concurrent use.
type knowledge struct {
	apiPrefix string
	waiting   atomic.Int32 // requests without an answer: the down flow looks no further at 0

	mu        sync.Mutex
	changes   uint64 // grows with each change of the subscriptions
	client    clientOptions
	server    serverInfo
	info      []byte // the object of the last INFO
	connected bool   // CONNECT was seen
	subs      subscriptions
	requests  map[string]string // reply subject to the subject of the request
	order     []string          // the reply subjects, oldest first
	pulls     uint64
	asked     uint64
	statuses  map[int]uint64
}

func newKnowledge(apiPrefix string) *knowledge {
	return &knowledge{
		apiPrefix: apiPrefix,
		subs:      newSubscriptions(),
		requests:  make(map[string]string),
		statuses:  make(map[int]uint64),
	}
}

// sent learns from a frame that went to the server. newName tells that the client has just said who it is.
func (k *knowledge) sent(f *frame) (newName bool) {
	switch f.verb {
	case CONNECT:
		return k.connect(f.line[len("CONNECT"):])
	case SUB:
		k.mu.Lock()
		k.subs.add(&subscription{sid: string(f.sid), subject: string(f.subject), queue: string(f.queue)})
		k.changes++
		k.mu.Unlock()
	case UNSUB:
		k.unsubscribe(string(f.sid), uint64(f.max))
	case PUB, HPUB:
		if len(f.reply) > 0 {
			k.publish(f)
		}
	default:
		// The other frames of a client teach nothing.
	}
	return false
}

func (k *knowledge) connect(object []byte) bool {
	var client clientOptions
	if err := json.Unmarshal(object, &client); err != nil {
		return false // the server judges it
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.client, k.connected = client, true
	return true
}

// withheld learns of a SUB that does not reach the server: the client holds it.
func (k *knowledge) withheld(f *frame) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.subs.add(&subscription{sid: string(f.sid), subject: string(f.subject), queue: string(f.queue), forgotten: true})
	k.changes++
}

// lost marks a subscription that the server was not told of after all.
func (k *knowledge) lost(sid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sub := k.subs.bySID[sid]; sub != nil {
		sub.forgotten = true
	}
}

// forged learns from a message that the proxy made: the client counts it. ended tells that the client took
// its subscription for ended by it, which the server does not.
func (k *knowledge) forged(sid string) (ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sub := k.subs.bySID[sid]
	if sub == nil {
		return false
	}
	sub.delivered++
	if sub.max == 0 || sub.delivered < sub.max {
		return false
	}
	k.subs.remove(sid)
	k.changes++
	return true
}

// reached returns the subscriptions of the client that a message on subject reaches, but for those that the
// server does not know.
func (k *knowledge) reached(subject string) (sids []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.subs.reached(subject, func(sub *subscription) {
		if !sub.forgotten {
			sids = append(sids, sub.sid)
		}
	})
	slices.Sort(sids)
	return sids
}

// informed learns from an INFO.
func (k *knowledge) informed(object []byte, info serverInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.server, k.info = info, slices.Clone(object)
}

// newer tells whether the server is of at least the version major.minor.
func (k *knowledge) newer(major, minor int) bool {
	k.mu.Lock()
	version := k.server.Version
	k.mu.Unlock()
	words := strings.SplitN(version, ".", 3)
	if len(words) < 3 {
		return false
	}
	a, okA := number([]byte(words[0]))
	b, okB := number([]byte(words[1]))
	return okA && okB && (a > major || (a == major && b >= minor))
}

// unsubscribe follows the server: with a maximum that is not yet reached the subscription goes on.
func (k *knowledge) unsubscribe(sid string, max uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changes++
	if sub := k.subs.bySID[sid]; sub != nil {
		if sub.max = max; max <= sub.delivered {
			k.subs.remove(sid)
		}
	}
}

// publish keeps the inbox of a pull and the reply subject of any other API request.
func (k *knowledge) publish(f *frame) {
	subject := string(f.subject)
	operation, ok := apiRequest(subject, k.apiPrefix)
	if !ok {
		return
	}
	reply := string(f.reply)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	if isPull(operation) {
		k.pulls++
		now := time.Now()
		k.subs.reached(reply, func(sub *subscription) { sub.pulled(newPull(f, now), now) })
		return
	}
	if _, again := k.requests[reply]; !again {
		k.order = append(k.order, reply)
	}
	k.requests[reply] = subject
	for len(k.requests) > maxRequests || (len(k.order) > 2*maxRequests) {
		delete(k.requests, k.order[0])
		k.order = k.order[1:]
	}
	k.waiting.Store(int32(len(k.requests)))
}

// answered returns the subject of the API request that a message from the server answers, once.
func (k *knowledge) answered(f *frame) string {
	if k.waiting.Load() == 0 {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	request, ok := k.requests[string(f.subject)]
	if !ok {
		return ""
	}
	delete(k.requests, string(f.subject))
	k.waiting.Store(int32(len(k.requests)))
	if len(k.requests) == 0 {
		k.order = nil
	}
	return request
}

// counter remembers the subscription of the last message, since the next is mostly for the same one.
type counter struct {
	sub     *subscription
	changes uint64
}

// received learns from a message the server sent: it counts towards the maximum of its subscription
// whatever becomes of it on the way.
func (k *knowledge) received(f *frame, last *counter) {
	code, _ := statusOf(f.headers)
	k.mu.Lock()
	defer k.mu.Unlock()
	if code != 0 {
		k.statuses[code]++
	}
	if last.sub == nil || last.changes != k.changes || last.sub.sid != string(f.sid) {
		last.sub, last.changes = k.subs.bySID[string(f.sid)], k.changes
	}
	sub := last.sub
	if sub == nil {
		return
	}
	if sub.pulls {
		sub.told(f, code)
	} else if !sub.fed {
		sub.fed = isDelivery(f)
	}
	if sub.delivered++; sub.max > 0 && sub.delivered >= sub.max {
		k.subs.remove(sub.sid)
		k.changes++
	}
}

func (k *knowledge) name() (name string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.client.Name, k.connected
}

func (k *knowledge) verbose() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.client.Verbose
}

// forget returns the live subscriptions that chosen accepts and marks them as ones the server was made
// to forget, so that none is dropped twice.
func (k *knowledge) forget(chosen func(*subscription) bool) []subscription {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []subscription
	for _, sub := range k.subs.bySID {
		if !sub.forgotten && chosen(sub) {
			sub.forgotten = true
			out = append(out, subscription{sid: sub.sid, subject: sub.subject, queue: sub.queue})
		}
	}
	return out
}
