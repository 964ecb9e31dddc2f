package commands

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/an-open-reader/nats-reader/reader"
)

// messageSchema is the schema field of a message's JSON.
const messageSchema = "nats-reader/message/v1"

// sink writes messages in one format. What it was given is at the other end after
// flush, not before.
type sink struct {
	out     *bufio.Writer
	format  func(*bufio.Writer, reader.Message) error
	end     byte
	unacked []reader.Message // given since the last flush, of a durable
}

const sinkBuffer = 64 << 10

func newSink(w io.Writer, format string, null bool) (*sink, error) {
	s := &sink{out: bufio.NewWriterSize(w, sinkBuffer), end: '\n'}
	if null {
		s.end = 0
	}
	switch format {
	case "raw":
		s.format = writeRaw
	case "json":
		s.format = writeJSON
	case "headers":
		s.format = writeHeaders
	default:
		all := []string{"raw", "json", "headers"}
		return nil, usage{
			problem: fmt.Sprintf("flag --%s: %q is not one of %s", flagFormat, format, strings.Join(all, ", ")),
			hint:    didYouMean(format, all, ""),
		}
	}
	return s, nil
}

func (s *sink) write(m reader.Message) error {
	if err := s.format(s.out, m); err != nil {
		return err
	}
	return s.out.WriteByte(s.end)
}

func (s *sink) flush() error { return s.out.Flush() }

// writeRaw writes the payload as it is.
func writeRaw(w *bufio.Writer, m reader.Message) error {
	_, err := w.Write(m.Data)
	return err
}

type messageJSON struct {
	Schema     string              `json:"schema"`
	Sequence   uint64              `json:"sequence"`
	Subject    string              `json:"subject"`
	Time       string              `json:"time"`
	Deliveries uint64              `json:"num_delivered"`
	Pending    uint64              `json:"num_pending"`
	Headers    map[string][]string `json:"headers,omitempty"`
	Data       *string             `json:"data,omitempty"`
	Base64     []byte              `json:"data_base64,omitempty"` // where data is no UTF-8
}

func writeJSON(w *bufio.Writer, m reader.Message) error {
	j := messageJSON{
		Schema: messageSchema, Sequence: m.Sequence, Subject: m.Subject, Headers: m.Header,
		Time: m.Timestamp.UTC().Format(time.RFC3339Nano), Deliveries: m.NumDelivered, Pending: m.NumPending,
	}
	if utf8.Valid(m.Data) {
		text := string(m.Data)
		j.Data = &text
	} else {
		j.Base64 = m.Data
	}
	b, err := json.Marshal(j)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// writeHeaders writes where the message is from, its headers, an empty line and
// the payload.
func writeHeaders(w *bufio.Writer, m reader.Message) error {
	fmt.Fprintf(w, "Sequence: %d\nSubject: %s\nTime: %s\n", m.Sequence, m.Subject, m.Timestamp.UTC().Format(time.RFC3339Nano))
	for _, key := range slices.Sorted(maps.Keys(m.Header)) {
		for _, value := range m.Header[key] {
			fmt.Fprintf(w, "%s: %s\n", key, value)
		}
	}
	if err := w.WriteByte('\n'); err != nil {
		return err
	}
	_, err := w.Write(m.Data)
	return err
}
