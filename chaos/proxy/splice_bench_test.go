package proxy

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// spliced is how many frames a benchmark sends at a time; each tenth is one that the
// matching rule takes out.
const spliced = 100

// BenchmarkSplice is what a frame costs from one end of a connection to the other, both
// in memory: without a rule, with one that looks at each frame and means none, and with
// one that takes out each tenth. An operation is a hundred frames of 128 bytes.
func BenchmarkSplice(b *testing.B) {
	body := bytes.Repeat([]byte{'x'}, 128)
	const ack = "$JS.ACK.ORDERS.reader-Ab12.1.1234567.1234567.1700000000000000000.99"
	header := "NATS/1.0\r\nNats-Msg-Id: 1234567\r\n\r\n"
	for _, kind := range []struct {
		name         string
		up           bool
		frame        func(i int) string
		other, match string
	}{
		{"MSG", false, func(int) string { return fmt.Sprintf("MSG ORDERS.new 1 %s %d\r\n%s\r\n", ack, len(body), body) },
			"drop-message(subject=OTHER.>, every=10)", "drop-message(every=10)"},
		{"HMSG", false, func(int) string {
			return fmt.Sprintf("HMSG ORDERS.new 1 %s %d %d\r\n%s%s\r\n", ack, len(header), len(header)+len(body), header, body)
		}, "drop-message(header=Nats-Expected-Stream, every=10)", "drop-message(header=Nats-Msg-Id, every=10)"},
		{"PUB", true, func(i int) string {
			if i%10 == 9 {
				return "PUB $JS.API.STREAM.INFO.ORDERS _INBOX.abc.def 0\r\n\r\n"
			}
			return fmt.Sprintf("PUB ORDERS.new %d\r\n%s\r\n", len(body), body)
		}, "api-timeout(subject=STREAM.DELETE.>)", "api-timeout(subject=STREAM.INFO.>)"},
	} {
		var chunk []byte
		taken := 0
		for i := range spliced {
			f := kind.frame(i)
			chunk = append(chunk, f...)
			if i%10 == 9 {
				taken += len(f)
			}
		}
		for _, c := range []struct {
			name, rule string
			arrives    int
		}{{"no-rule", "", len(chunk)}, {"no-match", kind.other, len(chunk)}, {"match", kind.match, len(chunk) - taken}} {
			b.Run(kind.name+"/"+c.name, func(b *testing.B) { splice(b, kind.up, chunk, c.rule, c.arrives) })
		}
	}
}

// splice sends a chunk on one end of a connection, again and again, and reads on the
// other what must arrive of it.
func splice(b *testing.B, up bool, chunk []byte, rule string, arrives int) {
	p, err := New("127.0.0.1:4222", Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close() //nolint:errcheck // both ends are in memory
	from, near := newPipe(pipeAddr("from"), pipeAddr("proxy"))
	to, far := newPipe(pipeAddr("to"), pipeAddr("proxy"))
	if !up {
		near, far = far, near
	}
	if err := p.register(near, far, false); err != nil {
		b.Fatal(err)
	}
	if rule != "" {
		f, err := ParseFault(rule)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Apply(f); err != nil {
			b.Fatal(err)
		}
	}
	out := make([]byte, arrives)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := from.Write(chunk); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(to, out); err != nil {
			b.Fatal(err)
		}
	}
	if rule == "" && !bytes.Equal(out, chunk) {
		b.Fatal("what arrived is not what was sent")
	}
}
