//go:build long

package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

const apiPrefix = jetstream.DefaultAPIPrefix

// wireRecord keeps what was on the wire: frames without a payload as they are, and of
// deliveries what a loss is found by.
type wireRecord struct {
	mu         sync.Mutex
	frames     []proxy.Frame
	deliveries []wireDelivery
	asked      []request // of the API, but for pulls
}

type request struct{ conn, subject string }

type wireDelivery struct {
	at               time.Time
	conn             uint64
	consumer         string
	stream, sequence uint64
	fate             proxy.Fate
}

func (r *wireRecord) tap(f proxy.Frame) {
	if strings.HasPrefix(f.Subject, "$JS.ACK.") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.StreamSequence > 0 {
		r.deliveries = append(r.deliveries, wireDelivery{f.Time, f.Conn, f.Consumer, f.StreamSequence, f.ConsumerSequence, f.Fate})
		return
	}
	r.frames = append(r.frames, f)
	if f.Direction == proxy.Up && f.Fate != proxy.Released && strings.HasPrefix(f.Subject, apiPrefix) && !strings.HasPrefix(f.Subject, apiPrefix+"CONSUMER.MSG.NEXT.") && (f.Verb == proxy.PUB || f.Verb == proxy.HPUB) {
		r.asked = append(r.asked, request{f.Client, strings.TrimPrefix(f.Subject, apiPrefix)})
	}
}

// requests counts those to the API but for pulls, by connection and kind, as a
// reader's Status calls it.
func (r *wireRecord) requests() map[string]map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := map[string]map[string]int{}
	for _, q := range r.asked {
		if count[q.conn] == nil {
			count[q.conn] = map[string]int{}
		}
		words := strings.Split(strings.ToLower(q.subject), ".")
		kind := words[0] + "_" + words[1]
		if kind == "stream_msg" {
			kind = "message_get"
		}
		count[q.conn][kind]++
	}
	return count
}

// around prints what was on a reader's connection within a time of a moment; of
// deliveries the first and last of each run without a hole.
func (r *wireRecord) around(w *witness, at time.Time, within time.Duration) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	type line struct {
		at   time.Time
		text string
	}
	var all []line
	for _, f := range r.frames {
		if f.Client == w.conn && f.Time.Sub(at).Abs() <= within {
			all = append(all, line{f.Time, fmt.Sprintf("#%d %s %s %s %s sid=%s %d %s %s", f.Conn, f.Direction, f.Verb, f.Subject, f.Reply, f.SID, f.Status, f.Text, f.Fate)})
		}
	}
	last := map[string]wireDelivery{}
	for _, d := range r.deliveries {
		if !w.owns(d.consumer) || d.at.Sub(at).Abs() > within {
			continue
		}
		before, known := last[d.consumer]
		last[d.consumer] = d
		if known && d.sequence == before.sequence+1 && d.fate == before.fate && d.conn == before.conn {
			continue
		}
		if known {
			all = append(all, line{before.at, fmt.Sprintf("#%d ... %s sequence %d as %d %s", before.conn, before.consumer, before.stream, before.sequence, before.fate)})
		}
		all = append(all, line{d.at, fmt.Sprintf("#%d delivery %s sequence %d as %d %s", d.conn, d.consumer, d.stream, d.sequence, d.fate)})
	}
	slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
	const most = 400
	var text strings.Builder
	for i, l := range all {
		if skip := len(all) - most; skip > 0 && i >= most/2 && i < most/2+skip {
			continue
		}
		fmt.Fprintf(&text, "%s %s\n", l.at.Format("05.000"), l.text)
	}
	return text.String()
}
