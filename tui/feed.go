package tui

import (
	"slices"
	"strings"
	"sync"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// feedRoom is how many items may wait for the screen.
const feedRoom = 8192

// Feed takes items from any goroutine, and never waits. Past feedRoom what is a line and little more is dropped
// and counted; of snapshots and contracts the newest of each reader is kept.
type Feed struct {
	mu      sync.Mutex
	items   []Item
	latest  map[int]Item // snapshots, by reader
	verdict map[int]Item // contracts, by reader
	dropped int
}

// NewFeed makes an empty feed.
func NewFeed() *Feed { return &Feed{latest: map[int]Item{}, verdict: map[int]Item{}} }

// Put tells the screen an item.
func (f *Feed) Put(i Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case i.Snapshot != nil:
		f.latest[i.Reader] = i
	case i.Contract != nil:
		f.verdict[i.Reader] = i
	default:
		if len(f.items) >= feedRoom && (!i.matters() || len(f.items) >= 2*feedRoom) {
			f.dropped++
			return
		}
		f.items = append(f.items, i)
	}
}

// matters says whether what is known of the run would be wrong without the item.
func (i Item) matters() bool {
	if i.Event == nil {
		return i.Fault != nil
	}
	switch i.Event.Kind {
	case session.KindGap, session.KindMissed, session.KindPermissionDenied, session.KindFailed, session.KindClosed:
		return true
	}
	return strings.HasPrefix(string(i.Event.Kind), "session_")
}

// take gives what has come since the last take, in order, and how many items were dropped.
func (f *Feed) take() (items []Item, dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items, dropped = f.items, f.dropped
	f.items, f.dropped = nil, 0
	for _, latest := range []map[int]Item{f.latest, f.verdict} {
		var readers []int
		for reader := range latest {
			readers = append(readers, reader)
		}
		slices.Sort(readers)
		for _, reader := range readers {
			items = append(items, latest[reader])
		}
		clear(latest)
	}
	return items, dropped
}
