package simulate

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seedFlag  = flag.Int64("seed", -1, "simulate this seed only, and tell what happens")
	runsFlag  = flag.Int64("runs", 0, "schedules to simulate; 0 is 20000, or 2000 with -short")
	fromFlag  = flag.Int64("from", 0, "the first seed")
	storyFlag = flag.String("story", "", "write the shrunk failure's transcript to this file")
	toldFlag  = flag.Bool("progress", false, "print progress and the rate")
)

// most is how many failures are shrunk; of the others only a line is told.
const most = 3

func TestSimulation(t *testing.T) {
	if *seedFlag >= 0 {
		p := NewPlan(*seedFlag)
		t.Log(p)
		if f := Run(p); f != nil {
			tell(t, p, f)
		}
		return
	}
	runs := *runsFlag
	if runs == 0 {
		if runs = 20000; testing.Short() {
			runs = 2000
		}
	}
	failed := simulate(*fromFlag, runs, progress(runs))
	for i, f := range failed {
		if i < most {
			tell(t, NewPlan(f.Seed), f)
			continue
		}
		t.Error(f)
	}
}

// simulate runs seeds on all cores and gives those that fail.
func simulate(from, runs int64, done func(n int64)) (failed []*Failure) {
	var next, finished atomic.Int64
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < runs; seed = next.Add(1) - 1 {
				if f := Run(NewPlan(from + seed)); f != nil {
					mu.Lock()
					failed = append(failed, f)
					mu.Unlock()
					if *toldFlag {
						fmt.Println(f)
					}
				}
				done(finished.Add(1))
			}
		})
	}
	workers.Wait()
	return failed
}

// progress prints how far the simulation is, and how fast, if that is wanted.
func progress(runs int64) func(n int64) {
	if !*toldFlag {
		return func(int64) {}
	}
	began, step := time.Now(), max(runs/20, 1)
	return func(n int64) {
		if n%step == 0 || n == runs {
			fmt.Printf("%d of %d schedules, %.0f a second\n", n, runs, float64(n)/time.Since(began).Seconds())
		}
	}
}

// tell shrinks a failure and tells it.
func tell(t *testing.T, p *Plan, f *Failure) {
	t.Helper()
	q, g := Shrink(p, f)
	t.Errorf("%v\nrun it again: go test ./reader/session/simulate -seed %d\nshrunk: %v\n%s", f, f.Seed, g, q)
	if *storyFlag == "" {
		return
	}
	if err := os.WriteFile(*storyFlag, []byte(Transcript(q, g.Reader)), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("its transcript is %s: copy it to reader/session/testdata, run go test ./reader/session -run Transcripts -update, and mend the rule", *storyFlag)
}
