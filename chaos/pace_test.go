package chaos

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var p Pace
		began := time.Now()
		// work is how long one message takes while something happens to the pace.
		work := func(meanwhile func()) time.Duration {
			t.Helper()
			from, done := time.Now(), make(chan struct{})
			go func() { p.Wait(ctx); close(done) }()
			synctest.Wait()
			meanwhile()
			<-done
			return time.Since(from)
		}
		after := func(d time.Duration, do func()) func() {
			return func() { time.AfterFunc(d, do) }
		}
		nothing := func() {}
		check := func(what string, got, want time.Duration) {
			t.Helper()
			if got != want {
				t.Errorf("%s: a message took %s, want %s", what, got, want)
			}
		}

		(*Pace)(nil).Wait(ctx)
		check("at full speed", work(nothing), 0)
		endShort := p.Slow(20 * time.Millisecond)
		check("slow", work(nothing), 20*time.Millisecond)
		endLong := p.Slow(time.Second)
		check("slow in two ways", work(nothing), time.Second)
		check("the longer ends early", work(after(10*time.Millisecond, endLong)), 20*time.Millisecond)
		endStall := p.Stall()
		check("stalled and slow", work(after(time.Hour, endStall)), time.Hour)
		check("slow again", work(nothing), 20*time.Millisecond)
		check("stalled meanwhile", work(func() {
			end := p.Stall()
			time.AfterFunc(time.Minute, end)
		}), time.Minute)
		endShort()
		endShort() // harmless
		check("at full speed again", work(nothing), 0)

		defer p.Stall()()
		check("interrupted", work(after(time.Minute, cancel)), time.Minute)
		if time.Since(began) > 3*time.Hour {
			t.Error("it waited for something else")
		}
	})
}
