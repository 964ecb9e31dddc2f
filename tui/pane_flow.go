package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/an-open-reader/nats-reader/reader"
)

// drawFlow is how fast messages come, how far the reader is, and what it had to mend.
func (m *Model) drawFlow(w, h int) []string {
	r, now := m.current(), m.seen()
	s := r.status()
	messages, bytes := r.rates.now(now)
	rate := fmt.Sprintf("rate     %s/s ", brief(messages))
	spark := m.look.spark(r.rates.columns(now, time.Second, max(w-ansi.StringWidth(rate)-1, 0)))
	lag := m.lag(r, now)
	if h < 6 {
		return []string{
			rate + spark,
			fmt.Sprintf("seq %s  pending %s  lag %s", count(s.Cursor), brief(float64(s.Pending)), lag),
			fmt.Sprintf("gaps %d  dups dropped %d  missed %d", s.Gaps, s.DuplicatesDropped, s.Missed),
			fmt.Sprintf("payload %s/s  buffered %s", size(bytes), count(uint64(max(s.Buffered, 0)))),
		}
	}
	return []string{
		rate + spark,
		fmt.Sprintf("payload  %s/s  peak %s/s", size(bytes), brief(r.rates.peak)),
		fmt.Sprintf("cursor   %s  handed out %s", count(s.Cursor), count(s.Position)),
		fmt.Sprintf("pending  %s  lag %s", count(s.Pending), lag),
		fmt.Sprintf("gaps     %d  missed %d", s.Gaps, s.Missed),
		fmt.Sprintf("dups     %d dropped", s.DuplicatesDropped),
		fmt.Sprintf("buffer   %s  read %s, %s", count(uint64(max(s.Buffered, 0))), count(s.Delivered), size(float64(s.Bytes))),
	}
}

// lag is how long ago the server stored what is handed out, by its clock; while messages wait and none comes
// it grows, and where nothing waits there is none, however old what was read last is.
func (m *Model) lag(r *readerBook, now time.Time) string {
	s := r.snapshot
	switch {
	case s.Stored.IsZero():
		return "-"
	case s.Status.Pending > 0 || s.Status.Buffered > 0:
		if waits := now.Sub(s.Read); waits > time.Second {
			return seconds(now.Sub(s.Stored))
		}
	case s.Status.State == reader.StateIdle && now.Sub(s.Read) > time.Second:
		return "none"
	}
	return seconds(s.Read.Sub(s.Stored))
}

// drawAPI is where the running recovery stands, and what was asked of the server.
func (m *Model) drawAPI(w, h int) []string {
	r, now := m.current(), m.seen()
	s := r.status()
	retry := s.Retry
	state := "idle"
	if retry.Attempt > 0 {
		state = fmt.Sprintf("attempt %d", retry.Attempt)
		if wait := retry.NextAt.Sub(now); !retry.NextAt.IsZero() && wait > 0 {
			state += ", next in " + seconds(wait)
		}
	}
	if retry.BudgetLeft > 0 {
		state += ", budget left " + seconds(retry.BudgetLeft)
	}
	total := uint64(0)
	for _, n := range s.APIRequests {
		total += n
	}
	last := "none"
	if s.LastError != "" {
		last = m.look.text(s.LastError)
	}
	api := fmt.Sprintf("api    %d req: %s", total, m.look.text(requestWords(s.APIRequests)))
	if total == 0 {
		api = "api    0 req"
	}
	rest := fmt.Sprintf("pulls  %s  orphans %d", count(s.Pulls), s.Orphans)
	if s.EventsDropped > 0 || m.book.dropped > 0 {
		rest += fmt.Sprintf("  events dropped %d", s.EventsDropped+uint64(m.book.dropped))
	}
	lines := []string{"retry  " + state, api, rest}
	for i, part := range wrap("error  "+last, w) {
		if i > 0 {
			part = "       " + part
		}
		lines = append(lines, part)
	}
	if h >= 6 && len(s.Replaced) > 0 {
		lines = append(lines, "ended  "+m.look.text(causeWords(s.Replaced)))
	}
	return lines
}

// requestWords counts requests by kind, the most frequent first.
func requestWords(requests map[string]uint64) string {
	kinds := slices.SortedFunc(maps.Keys(requests), func(a, b string) int {
		if requests[a] != requests[b] {
			return int(min(requests[b], 1<<31)) - int(min(requests[a], 1<<31))
		}
		return strings.Compare(a, b)
	})
	var all []string
	for _, kind := range kinds {
		all = append(all, fmt.Sprintf("%d %s", requests[kind], words(strings.TrimPrefix(kind, "consumer_"))))
	}
	return strings.Join(all, " ")
}

func causeWords[C ~string](causes map[C]uint64) string {
	var all []string
	for _, c := range slices.Sorted(maps.Keys(causes)) {
		all = append(all, fmt.Sprintf("%d %s", causes[c], words(string(c))))
	}
	return strings.Join(all, ", ")
}
