package doctor

import "time"

// Node is what one server tells of what it holds of the account: of streams and
// consumers that it leads, and of those that it follows.
type Node struct {
	Name string `json:"name"`
	// By says who was asked: the system account, or the URL of a monitoring port.
	By    string    `json:"by"`
	First *NodeLook `json:"first,omitempty"` // when the watch began; nil: no answer
	Last  *NodeLook `json:"last,omitempty"`  // when it had ended; nil: no answer
}

// NodeLook is one answer of a server.
type NodeLook struct {
	Time       time.Time       `json:"ts"`
	Disabled   bool            `json:"disabled,omitempty"` // it has no JetStream, or no longer
	Memory     uint64          `json:"memory,omitempty"`
	Storage    uint64          `json:"storage,omitempty"`
	MaxMemory  int64           `json:"max_memory,omitempty"`
	MaxStorage int64           `json:"max_storage,omitempty"`
	Streams    []StreamReplica `json:"streams,omitempty"`
}

// StreamReplica is a stream as one server holds it.
type StreamReplica struct {
	Name      string            `json:"name"`
	Leader    string            `json:"leader,omitempty"` // as this server believes; empty: it knows none
	Messages  uint64            `json:"messages"`
	Bytes     uint64            `json:"bytes"`
	FirstSeq  uint64            `json:"first_seq"`
	LastSeq   uint64            `json:"last_seq"`
	Consumers []ConsumerReplica `json:"consumers,omitempty"`
}

// ConsumerReplica is a consumer as one server holds it. What waits, and how many
// pulls do, its leader alone knows: a follower's figures are those of the day when
// it last led, or 0.
type ConsumerReplica struct {
	Name       string    `json:"name"`
	Leader     string    `json:"leader,omitempty"`
	Created    time.Time `json:"created"`
	Delivered  Sequences `json:"delivered"`
	AckFloor   Sequences `json:"ack_floor"`
	AckPending int       `json:"num_ack_pending"`
	Pending    uint64    `json:"num_pending"`
	Waiting    int       `json:"num_waiting"`
}

// stream gives a stream as it was held; nil: it was not, or nobody answered.
func (l *NodeLook) stream(name string) *StreamReplica {
	if l == nil {
		return nil
	}
	for i := range l.Streams {
		if l.Streams[i].Name == name {
			return &l.Streams[i]
		}
	}
	return nil
}
