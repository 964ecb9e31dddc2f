package target

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Entry describes one kind of target in words and in its parameters, which are
// written as those of a fault: consume(durable=false).
type Entry struct {
	Name       string // "exec:CMD" for outside programs
	Words      string
	Parameters []proxy.Parameter

	peer *kind // of nats.go; nil for ours and outside programs
}

// The parameters of nats.go's readers.
var (
	durableParameter = proxy.Parameter{Name: "durable", Type: proxy.Bool, Default: "true", Words: "true: a durable with explicit acks; false: an ephemeral in memory, without acks"}
	maxWaitParameter = proxy.Parameter{Name: "max-wait", Type: proxy.Duration, Words: "how long one call waits (NextMaxWait); not set: until a message comes"}
	fetchWait        = proxy.Parameter{Name: "max-wait", Type: proxy.Duration, Default: "5s", Words: "how long one fetch waits"}
	batchParameter   = proxy.Parameter{Name: "batch", Type: proxy.Count, Default: "100", Words: "how many messages one fetch asks for"}
	pullParameters   = []proxy.Parameter{
		{Name: "expires", Type: proxy.Duration, Words: "how long a pull lasts (PullExpiry), from 1s; not set: the library's 30s"},
		{Name: "heartbeat", Type: proxy.Duration, Words: "the idle heartbeat of a pull (PullHeartbeat), 500ms to half of expires; not set: the library's"},
	}
)

// catalogue is the one table of all targets, in the order they are shown.
func catalogue() []Entry {
	pulls := func(more ...proxy.Parameter) []proxy.Parameter { return append(more, pullParameters...) }
	return []Entry{
		{Name: ours, Words: "the reader of this module: reader.Open and Next"},
		{Name: "ordered-consume", Words: "nats.go: OrderedConsumer, Consume with a callback", Parameters: pulls(), peer: &kind{read: readOrderedConsume}},
		{Name: "ordered-messages", Words: "nats.go: OrderedConsumer, Messages and Next", Parameters: pulls(maxWaitParameter), peer: &kind{read: readOrderedMessages}},
		{Name: "consume", Words: "nats.go: a pull consumer, Consume with a callback", Parameters: pulls(durableParameter), peer: &kind{read: readConsume, acks: true}},
		{Name: "messages", Words: "nats.go: a pull consumer, Messages and Next", Parameters: pulls(durableParameter, maxWaitParameter), peer: &kind{read: readMessages, acks: true}},
		{Name: "fetch", Words: "nats.go: a pull consumer, Fetch again and again, 50ms after one that brought nothing",
			Parameters: []proxy.Parameter{durableParameter, fetchWait, batchParameter}, peer: &kind{read: readFetch, acks: true}},
		{Name: "legacy-ordered", Words: "nats.go, the older API: Subscribe with OrderedConsumer", peer: &kind{read: readLegacyOrdered}},
		{Name: "legacy-fetch", Words: "nats.go, the older API: PullSubscribe and Fetch again and again, 50ms after one that brought nothing",
			Parameters: []proxy.Parameter{durableParameter, fetchWait, batchParameter}, peer: &kind{read: readLegacyFetch, acks: true}},
		{Name: execPrefix + "CMD", Words: "any program, run by sh -c, that prints the id of each message it reads as a line"},
	}
}

// ours is the target that is this module's reader.
const ours = "reader"

// Entries describe all targets, for lists.
func Entries() []Entry {
	all := catalogue()
	for i := range all {
		all[i].peer = nil
	}
	return all
}

// Names lists the targets in this process, in the order of the catalogue.
func Names() (names []string) {
	for _, e := range catalogue() {
		if e.Name == ours || e.peer != nil {
			names = append(names, e.Name)
		}
	}
	return names
}

// The limits of nats.go for the options of a pull.
const (
	leastExpires   = time.Second
	leastHeartbeat = 500 * time.Millisecond
	usualExpires   = 30 * time.Second
)
