package proxy

import (
	"bytes"
	"strings"
)

// deliveries chooses among the messages that JetStream delivers.
type deliveries struct {
	*selection
	subject pattern
	seq     uint64
	header  string // a name
	value   glob
}

// deliveryParameters are those of a fault on deliveries, with what it has beside them.
func deliveryParameters(own ...Parameter) []Parameter {
	chosen := append([]Parameter{
		{Name: "subject", Type: Subject, Words: "messages whose subject matches this"},
		{Name: "seq", Type: Count, Words: "the message with this stream sequence"},
		{Name: "header", Type: Text, Words: "messages with this header: Name, or \"Name: value\" where * stands for any characters"},
	}, own...)
	return append(chosen, withDefault(frameSelection, "limit", "1 unless every is given")...)
}

func newDeliveries(a *arguments) *deliveries {
	d := &deliveries{
		selection: newSelection(a), subject: argument[pattern](a, "subject"), seq: argument[uint64](a, "seq"),
	}
	name, value, _ := strings.Cut(argument[string](a, "header"), ":")
	d.header, d.value = strings.TrimSpace(name), glob(strings.TrimSpace(value))
	if d.limit == 0 && d.every == 0 {
		d.limit = 1
	}
	return d
}

// isDelivery tells whether the frame is a message that JetStream delivers.
func isDelivery(fr *frame) bool { return fr.message() && isAck(fr.reply) }

// means tells whether the frame is a delivery that is chosen; fires counts it.
func (d *deliveries) means(c *conn, fr *frame) bool {
	if !isDelivery(fr) || !d.covers(c, fr) || !d.subject.matches(string(fr.subject)) {
		return false
	}
	if d.header != "" && !d.hasHeader(fr.headers) {
		return false
	}
	if d.seq == 0 {
		return true
	}
	ack, ok := parseAck(string(fr.reply))
	return ok && ack.streamSequence == d.seq
}

// hasHeader tells whether a header block has the line that is asked for. Names are compared as written, as
// servers do.
func (d *deliveries) hasHeader(headers []byte) bool {
	for line := range bytes.SplitSeq(headers, []byte("\r\n")) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && string(name) == d.header && d.value.matches(string(bytes.TrimSpace(value))) {
			return true
		}
	}
	return false
}
