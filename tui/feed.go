package tui

import (
	"slices"
	"sync"
)

// feedRoom is how many items may wait for the screen.
const feedRoom = 8192

// Feed takes items from any goroutine, and never waits. Past feedRoom the oldest lines that tell nothing
// else are dropped and counted; of snapshots and contracts the newest of each reader is kept.
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
		if len(f.items) >= feedRoom {
			f.items = f.items[1:]
			f.dropped++
		}
		f.items = append(f.items, i)
	}
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
