//go:build long

package reader_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// The judge of random faults finds each way in which a reader can break its contract.
func TestRandomVerdicts(t *testing.T) {
	began := time.Unix(1000, 0)
	after := func(d time.Duration) time.Time { return began.Add(d) }
	// read has the sequences handed out, a second apart, each stored just before.
	read := func(w *witness, sequences ...uint64) *witness {
		w.opened = began
		for i, n := range sequences {
			at := after(time.Duration(i+1) * time.Second)
			w.read = append(w.read, handed{identity{n, int64(n)}, fmt.Sprintf("w-%d", n), at})
		}
		return w
	}
	held := []stocked{{identity{1, 1}, "load.a", "w-1"}, {identity{2, 2}, "load.b", "w-2"}, {identity{3, 3}, "load.a", "w-3"}}
	fresh := func(name string) *witness {
		for _, w := range witnesses() {
			if w.name == name {
				return w
			}
		}
		t.Fatalf("no reader %s", name)
		return nil
	}

	if lost, _ := read(fresh("whole"), 1, 3).missing(held); len(lost) != 1 || lost[0].sequence != 2 {
		t.Errorf("lost %v, want sequence 2", lost)
	}
	if lost, _ := read(fresh("filtered"), 1, 3).missing(held); len(lost) != 0 {
		t.Errorf("lost %v of a filter that has all", lost)
	}
	remade := append(held[:2:2], stocked{identity{3, 99}, "load.a", "w-9"})
	if lost, _ := read(fresh("whole"), 1, 2, 3).missing(remade); len(lost) != 1 || lost[0].id != "w-9" {
		t.Errorf("lost %v, want the message that was stored in the place of another", lost)
	}

	shifted := append(held[:2:2], stocked{identity{3, 99}, "load.a", "w-3"})
	if lost, moved := read(fresh("whole"), 1, 2, 3).missing(shifted); len(lost) != 0 || moved != 1 {
		t.Errorf("lost %v and moved %d, want none and the one that has another time now", lost, moved)
	}

	count := func(w *witness) [2]int {
		twice, disordered := w.order()
		return [2]int{len(twice), len(disordered)}
	}
	for _, c := range []struct {
		sequences []uint64
		want      [2]int
	}{
		{[]uint64{1, 2, 3}, [2]int{0, 0}},
		{[]uint64{1, 2, 2, 3}, [2]int{1, 0}},
		{[]uint64{1, 3, 2}, [2]int{0, 1}},
	} {
		if got := count(read(fresh("whole"), c.sequences...)); got != c.want {
			t.Errorf("%v: twice and disordered %v, want %v", c.sequences, got, c.want)
		}
	}
	told := read(fresh("whole"), 1, 3, 2)
	told.observe(reader.Event{Kind: session.KindStreamReset})
	if got := count(told); got != [2]int{0, 0} {
		t.Errorf("behind a reset that was told: %v", got)
	}

	late := func() *witness {
		w := fresh("short")
		w.opened = began
		w.read = []handed{{identity{1, began.UnixNano()}, "w-1", began}, {identity{2, after(time.Second).UnixNano()}, "w-2", after(9 * time.Second)}}
		return w
	}
	if worst, _ := late().silences(nil); worst != 8*time.Second {
		t.Errorf("silent for %s beyond no fault, want 8s", worst)
	}
	faults := []chaos.Period{{From: after(2 * time.Second), To: after(5 * time.Second)}, {From: after(4 * time.Second), To: after(7 * time.Second)}, {From: after(20 * time.Second), To: after(30 * time.Second)}}
	if worst, _ := late().silences(faults); worst != 3*time.Second {
		t.Errorf("silent for %s beyond faults of 5s, want 3s", worst)
	}

	busy := fresh("whole")
	busy.requests = []sample{{after(0), 0, 1}, {after(5 * time.Second), 60, 1}, {after(9 * time.Second), 90, 1}, {after(30 * time.Second), 91, 1}}
	if most, over := busy.rate(); most != 90 || len(over) != 1 {
		t.Errorf("at most %d requests, %v over the policy, want 90 and one", most, over)
	}
}
