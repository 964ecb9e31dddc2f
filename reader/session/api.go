package session

import (
	"errors"
	"fmt"
	"time"
)

// API is a kind of JetStream API request.
type API string

// The requests the rules use. None is sent periodically.
const (
	APIStreamNames    API = "stream_names"
	APIStreamInfo     API = "stream_info"
	APIConsumerCreate API = "consumer_create"
	APIConsumerUpdate API = "consumer_update"
	APIConsumerInfo   API = "consumer_info"
	APIConsumerDelete API = "consumer_delete"
	APIConsumerReset  API = "consumer_reset"
	APIMessageGet     API = "message_get"
)

// RequestID tells answers apart; 0 is none.
type RequestID uint64

// Create is what a consumer is made with; the driver adds what is the same for
// all of a reader's consumers.
type Create struct {
	Name     string
	Start    StartKind
	Sequence uint64
	Time     int64
	Inactive time.Duration // how long the server keeps it without a pull
	Again    bool          // a durable that was read before: the configuration it had
	Lapse    bool          // an update of a consumer that is to be gone soon: with the shortest threshold
}

// ConsumerFacts is what a create's or an ask's answer tells.
type ConsumerFacts struct {
	Name              string
	DeliveredConsumer uint64
	DeliveredStream   uint64
	Pending           uint64
	Paused            bool
	PauseLeft         time.Duration // of the pause, 0 unknown
	AckPending        int
	MaxAckPending     int
	Waiting           int // pulls that wait on it, of every reader
	MaxWaiting        int // how many may
	AckFloor          uint64
	AckNone           bool
	PushBased         bool
	Grouped           bool   // it has priority groups
	Level             int    // metadata _nats.level, 0 unknown
	Version           string // of the server, metadata _nats.ver; "" unknown, as before 2.11
	Created           int64  // when the consumer was created, 0 unknown
	At                int64  // when the server answered, by its clock; 0 unknown
	Owner             string
	Filters           []string
	Limits            Limits
}

// MessageFacts is what STREAM.MSG.GET tells of one message.
type MessageFacts struct {
	Sequence uint64
	Time     int64
}

// Answer is what became of an API request. Exactly one field but Err is set on
// success; an error of the server carries its codes.
type Answer struct {
	Consumer *ConsumerFacts
	Stream   *StreamFacts
	Names    []string
	Message  *MessageFacts
	Done     bool // delete, reset
	Err      error
}

// APIError is an error answer of the JetStream API.
type APIError struct {
	Code, ErrCode int
	Text          string
}

// Error gives the server's text with its codes.
func (e *APIError) Error() string {
	return fmt.Sprintf("%s (%d/%d)", e.Text, e.Code, e.ErrCode)
}

// Errors of a request that carry no answer of the API.
var (
	ErrNoAnswer     = errors.New("no answer")
	ErrNoResponders = errors.New("no responders: JetStream is not available there")
	ErrDenied       = errors.New("permission denied")
)

// The err_codes the rules know (nats-server's errors.json).
const (
	codeAccountResources = 10002
	codeNoPeers          = 10005
	codeUnavailable      = 10008
	codeConsumerName     = 10013
	codeConsumerNotFound = 10014
	codeNoResources      = 10023
	codeConsumerLimit    = 10026
	codeNotEnabled       = 10039
	codeNoCluster        = 10074
	codeNotEnabledServer = 10076
	codeStreamNotFound   = 10059
	codeDeliverAllOnly   = 10101
	codeConsumerExists   = 10148
	codeConsumerAbsent   = 10149 // the answer to an update
	codeInactiveLimit    = 10153
	codeInvalidReset     = 10204
)

func codeOf(err error) int {
	var e *APIError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}

func isCode(err error, code int) bool { return err != nil && codeOf(err) == code }

// nature is what an error of a create means for the reader (rule 6).
type nature int

const (
	temporary     nature = iota // heals by itself: retried
	streamMissing               // the stream does not exist
	noSlot                      // no room for another consumer
	nameTaken                   // another consumer of that name, or another configuration
	denied                      // a permission is missing
	noJetStream                 // not enabled for the account
	misfit                      // the server refuses the configuration
)

// natureOf is the one place that tells what an API error means. A 400 or 412 the table
// does not name is the server's refusal of what we ask; no answer and 503 heal.
func natureOf(err error) nature {
	switch codeOf(err) {
	case codeStreamNotFound:
		return streamMissing
	case codeConsumerLimit:
		return noSlot
	case codeConsumerExists, codeConsumerName:
		return nameTaken
	case codeNotEnabled, codeNotEnabledServer:
		return noJetStream
	case codeNoCluster:
		return misfit // more replicas than a lone server can hold
	case codeConsumerNotFound, codeConsumerAbsent, codeUnavailable, codeNoResources, codeNoPeers,
		codeAccountResources:
		return temporary
	}
	if errors.Is(err, ErrDenied) {
		return denied
	}
	var e *APIError
	if errors.As(err, &e) && (e.Code == 400 || e.Code == 412) {
		return misfit
	}
	return temporary
}

// request is an API request under way.
type request struct {
	id       RequestID
	api      API
	subject  string
	consumer string
	sent     time.Duration
	deadline time.Duration // 0 until it has left: waiting for a slot does not count
	answer   func(now time.Duration, a Answer)
}
