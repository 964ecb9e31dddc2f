package reader

import (
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// jetStreamMessage gives a Message the whole interface of jetstream.Msg.
type jetStreamMessage struct {
	Message
}

var _ jetstream.Msg = jetStreamMessage{}

// JetStream gives the message as a jetstream.Msg, for code that wants that
// interface.
func (m Message) JetStream() jetstream.Msg { return jetStreamMessage{m} }

func (m jetStreamMessage) Data() []byte         { return m.Msg.Data }
func (m jetStreamMessage) Headers() nats.Header { return m.Header }
func (m jetStreamMessage) Subject() string      { return m.Msg.Subject }
func (m jetStreamMessage) Reply() string        { return m.Msg.Reply }

// Metadata gives what the reader has already parsed.
func (m jetStreamMessage) Metadata() (*jetstream.MsgMetadata, error) {
	a, ok := parseAckSubject(m.Msg.Reply)
	if !ok {
		return nil, jetstream.ErrNotJSMessage
	}
	return &jetstream.MsgMetadata{
		Sequence:     jetstream.SequencePair{Stream: m.Sequence, Consumer: m.ConsumerSequence},
		NumDelivered: m.NumDelivered,
		NumPending:   m.NumPending,
		Timestamp:    m.Timestamp,
		Stream:       a.stream,
		Consumer:     a.consumer,
		Domain:       a.domain,
	}, nil
}
