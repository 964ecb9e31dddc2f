package readerprom

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Metric is one metric of a reader, for documentation.
type Metric struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// Metrics lists every metric that a collector has.
func Metrics() []Metric {
	var all []Metric
	for _, f := range families {
		all = append(all, f.Metric)
	}
	return all
}

// family is a metric, and how it follows from a look at a reader.
type family struct {
	Metric
	early bool // also known of a reader that is not open yet
	show  func(l look, to sender)
}

// The types of metrics.
const (
	gauge     = "gauge"
	counter   = "counter"
	histogram = "histogram"
)

var families = []family{
	{Metric: one("ready", gauge, "1 while the reader reads; 0 while it is opening, recovering, disconnected or closed."), show: value(func(l look) float64 { return flag(l.reads()) }), early: true},
	{Metric: one("state", gauge, "1 for the state the reader is in, 0 for every other.", "state"), show: showStates, early: true},
	{Metric: one("sessions_total", counter, "Sessions that were proven, the first one included."), show: count(func(s reader.Status) uint64 { return uint64(s.Session.Number) })},
	{Metric: one("sessions_replaced_total", counter, "Sessions that a new one took the place of, by the cause.", "cause"), show: showCauses},
	{Metric: one("session_created_timestamp_seconds", gauge, "When the session in use began, in seconds since 1970."), show: at(func(s reader.Status) time.Time { return s.Session.Created })},
	{Metric: one("last_answer_timestamp_seconds", gauge, "When the server last answered the session in use, in seconds since 1970."), show: at(func(s reader.Status) time.Time { return s.Session.LastAnswer })},
	{Metric: one("deaf_seconds", gauge, "How long the reader has been deaf by now; 0 while it reads."), show: value(func(l look) float64 { return l.deaf().Seconds() })},
	{Metric: one("deaf_longest_seconds", gauge, "The longest it has been deaf so far, this time included."), show: showLongest},
	{Metric: one("deaf_duration_seconds", histogram, "How long the reader was deaf, each time until it was replaced or healed."), show: showDeaf},
	{Metric: one("pending_messages", gauge, "Messages that wait in the stream, by the server's last word."), show: count(func(s reader.Status) uint64 { return s.Pending })},
	{Metric: one("buffered_messages", gauge, "Messages that were received and wait for the caller."), show: count(func(s reader.Status) uint64 { return uint64(s.Buffered) })},
	{Metric: one("lag_seconds", gauge, "How far the caller is behind the stream at most: while more waits, the age of the message handed out last, by the time it was stored."), show: showLag},
	{Metric: one("cursor_sequence", gauge, "Stream sequence of the last message accepted in order."), show: count(func(s reader.Status) uint64 { return s.Cursor })},
	{Metric: one("position_sequence", gauge, "Stream sequence of the last message handed to the caller."), show: count(func(s reader.Status) uint64 { return s.Position })},
	{Metric: one("delivered_messages_total", counter, "Messages handed to the caller."), show: count(func(s reader.Status) uint64 { return s.Delivered })},
	{Metric: one("delivered_bytes_total", counter, "Bytes of the messages handed to the caller."), show: count(func(s reader.Status) uint64 { return s.Bytes })},
	{Metric: one("missed_messages_total", counter, "Messages that retention took before their turn; with a filter at most."), show: count(func(s reader.Status) uint64 { return s.Missed })},
	{Metric: one("duplicates_dropped_total", counter, "Messages that the server sent again and the reader dropped."), show: count(func(s reader.Status) uint64 { return s.DuplicatesDropped })},
	{Metric: one("gaps_total", counter, "Deliveries that were lost on the way, and read again."), show: count(func(s reader.Status) uint64 { return s.Gaps })},
	{Metric: one("pulls_total", counter, "Pulls that were sent."), show: count(func(s reader.Status) uint64 { return s.Pulls })},
	{Metric: one("api_requests_total", counter, "JetStream API requests that were sent, by their kind; pulls are none.", "request"), show: showRequests},
	{Metric: one("retry_attempt", gauge, "The attempt of the recovery under way; 0 while none is."), show: count(func(s reader.Status) uint64 { return uint64(s.Retry.Attempt) })},
	{Metric: one("retry_budget_seconds", gauge, "What is left of the time for the recovery under way; +Inf while none is, or where it has no bound."), show: value(budget)},
	{Metric: one("orphans", gauge, "Consumers of the reader that are left on the server, to be deleted."), show: count(func(s reader.Status) uint64 { return uint64(s.Orphans) })},
	{Metric: one("events_dropped_total", counter, "Events that were not told because the Observer was too slow."), show: count(func(s reader.Status) uint64 { return s.EventsDropped })},
}

// one is a metric by the end of its name.
func one(name, kind, help string, label ...string) Metric {
	return Metric{Name: "nats_reader_" + name, Type: kind, Labels: append([]string{"reader", "stream"}, label...), Help: help}
}

// kind is the type of the series of a metric that is no histogram.
func (f family) kind() prometheus.ValueType {
	if f.Type == counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// sender sends the series of one metric of one reader.
type sender struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string // the values of reader and stream
	to     chan<- prometheus.Metric
}

func (s sender) send(v float64, own ...string) {
	s.to <- prometheus.MustNewConstMetric(s.desc, s.kind, v, append(slices.Clip(s.labels), own...)...)
}

// value shows one figure of a reader.
func value(of func(look) float64) func(look, sender) {
	return func(l look, s sender) { s.send(of(l)) }
}

// count shows one count of a reader's status.
func count(of func(reader.Status) uint64) func(look, sender) {
	return func(l look, s sender) { s.send(float64(of(l.status))) }
}

// at shows a time, where there is one.
func at(of func(reader.Status) time.Time) func(look, sender) {
	return func(l look, s sender) {
		if t := of(l.status); !t.IsZero() {
			s.send(float64(t.UnixNano()) / 1e9)
		}
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

func showStates(l look, s sender) {
	for _, state := range states {
		s.send(flag(l.status.State == state), string(state))
	}
}

func showCauses(l look, s sender) {
	for _, c := range withOthers(session.Causes(), l.status.Replaced) {
		s.send(float64(l.status.Replaced[c]), string(c))
	}
}

func showRequests(l look, s sender) {
	for _, r := range withOthers(requests, l.status.APIRequests) {
		s.send(float64(l.status.APIRequests[r]), r)
	}
}

func showLongest(l look, s sender) {
	if l.observed {
		s.send(max(l.history.longest, l.deaf()).Seconds())
	}
}

func showDeaf(l look, s sender) {
	if l.observed {
		h := l.history
		s.to <- prometheus.MustNewConstHistogram(s.desc, h.count, h.sum.Seconds(), h.within, s.labels...)
	}
}

func showLag(l look, s sender) {
	if lag, known := l.lag(); known {
		s.send(lag.Seconds())
	}
}

func budget(l look) float64 {
	if l.status.Retry.BudgetLeft == 0 {
		return math.Inf(1)
	}
	return l.status.Retry.BudgetLeft.Seconds()
}
