package proxy

import (
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"
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
}

// knowledge is what the frames of a connection have told so far. Both flows teach it; every method is
// safe for concurrent use.
type knowledge struct {
	apiPrefix string
	waiting   atomic.Int32 // requests without an answer: the down flow looks no further at 0

	mu        sync.Mutex
	changes   uint64 // grows with each change of the subscriptions
	client    clientOptions
	connected bool // CONNECT was seen
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
		k.subs.reached(reply, func(sub *subscription) { sub.pulls = true })
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

// Connection is what the proxy knows of one client connection.
type Connection struct {
	ID            uint64         // 1 for the first
	Name          string         // as CONNECT says; "" before that
	Lang, Version string         // of the client library
	Subscriptions []Subscription // those the client holds, in no order
	Pulls         uint64         // CONSUMER.MSG.NEXT requests that reached the server
	APIRequests   uint64         // all JetStream API requests that reached the server, pulls included
	Statuses      map[int]uint64 // status messages from the server by code
}

// Subscription is one subscription of a client.
type Subscription struct {
	SID, Subject, Queue string
	Delivered           uint64 // messages the server sent on it
	Max                 uint64 // it ends by itself after so many; 0: never
	Pulls               bool   // it is the inbox of pulls
	Forgotten           bool   // a drop-subscription made the server forget it
}

func (k *knowledge) snapshot(id uint64) Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := Connection{
		ID: id, Name: k.client.Name, Lang: k.client.Lang, Version: k.client.Version,
		Pulls: k.pulls, APIRequests: k.asked, Statuses: maps.Clone(k.statuses),
	}
	for _, s := range k.subs.bySID {
		c.Subscriptions = append(c.Subscriptions, Subscription{
			SID: s.sid, Subject: s.subject, Queue: s.queue, Max: s.max, Pulls: s.pulls, Forgotten: s.forgotten,
			Delivered: s.delivered,
		})
	}
	return c
}
