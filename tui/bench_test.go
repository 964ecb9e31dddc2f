package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// What one frame costs: taking in what a tenth of a second brings, and drawing it. A screen that draws ten a
// second takes a hundred times as many percent of a core as this takes milliseconds, divided by a hundred.
func BenchmarkFrame(b *testing.B) {
	for _, size := range sizes {
		for _, colors := range []Colors{NoColors, Colors256} {
			b.Run(fmt.Sprintf("%dx%d-colors=%d", size.w, size.h, colors), func(b *testing.B) {
				feed := NewFeed()
				m, err := NewModel(feed, Options{Title: "ORDERS", Colors: colors})
				if err != nil {
					b.Fatal(err)
				}
				m.resize(size.w, size.h)
				now := base
				for n := 1; n <= 200; n++ {
					now = now.Add(time.Second)
					e := reader.Event{Time: now, Kind: session.KindSessionReplaced, Session: n, Consumer: fmt.Sprintf("reader-kT9xQ2mB-%d", n), Deaf: time.Second}
					feed.Put(Item{Time: now, Source: FromReader, Line: "session replaced session  cause=consumer_deleted attempt=1", Event: &e})
				}
				for i := uint64(0); b.Loop(); i++ {
					now = now.Add(tickEvery)
					feed.Put(Item{Time: now, Snapshot: &Snapshot{Status: reader.Status{State: reader.StateReading, Delivered: i * 5000, Session: reader.SessionStatus{Number: 200}}, Read: now}})
					m.Update(tickMsg(now))
					m.View()
				}
				b.ReportMetric(100*b.Elapsed().Seconds()*framesPerSecond/float64(b.N), "%core")
			})
		}
	}
}
