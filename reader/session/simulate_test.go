package session

import (
	"flag"
	"testing"
	"time"
)

var (
	simSeed = flag.Int64("sim-seed", -1, "run the simulation of this seed only")
	simRuns = flag.Int64("sim-runs", 150, "simulations to run")
)

// faults are what may happen to a world; each ends by itself within seconds.
var faults = []struct {
	name string
	do   func(w *world, d time.Duration)
}{
	{"delete the consumer", func(w *world, _ time.Duration) {
		if w.m.cur != nil && w.server.consumers[w.m.cur.consumer] != nil {
			w.server.drop(w.m.cur.consumer)
		}
	}},
	{"drop the subscription", func(w *world, _ time.Duration) {
		if w.m.cur != nil {
			delete(w.server.interest, w.m.cur.attempt)
		}
	}},
	{"lose a message", func(w *world, _ time.Duration) { w.dropMessages = 1 + w.r.Intn(2) }},
	{"API away", func(w *world, d time.Duration) { w.apiDown = w.now + d }},
	{"API answers lost", func(w *world, d time.Duration) { w.apiLost = w.now + d }},
	{"API errors", func(w *world, d time.Duration) { w.apiError = w.now + d }},
	{"mute heartbeats", func(w *world, d time.Duration) { w.mute = w.now + d }},
	{"disconnect", func(w *world, d time.Duration) { w.disconnect(d, true) }},
	{"half-open", func(w *world, d time.Duration) { w.disconnect(d, false) }},
	{"freeze the server", func(w *world, d time.Duration) { w.frozen = w.now + d }},
	{"stall the caller", func(w *world, d time.Duration) { w.stalled = w.now + 10*d }},
	{"purge", func(w *world, _ time.Duration) { w.server.purge(w.server.first + uint64(w.r.Intn(20))) }},
	{"remove the message at the cursor", func(w *world, _ time.Duration) { delete(w.server.times, w.m.cursor.Sequence) }},
	{"one slot", func(w *world, d time.Duration) {
		w.server.slots = 1
		w.at(w.now+d, func() { w.server.slots = 0 })
	}},
	{"re-create the stream, lower", func(w *world, _ time.Duration) { w.server.recreate(1) }},
	{"re-create the stream, beyond", func(w *world, _ time.Duration) {
		w.server.recreate(1)
		for range w.m.cursor.Sequence + uint64(w.r.Intn(10)) {
			w.server.publish()
		}
	}},
	{"stream away", func(w *world, d time.Duration) {
		w.server.dropAll()
		w.server.missing = true
		w.at(w.now+d, func() { w.server.recreate(1) })
	}},
	{"kill the server", func(w *world, d time.Duration) {
		for name, c := range w.server.consumers {
			c.pulls = nil
			if back := min(uint64(w.r.Intn(4)), c.cseq); w.r.Intn(3) > 0 {
				c.cseq -= back
				c.next -= min(back, c.next-1)
				c.delivered = c.next - 1
			} else {
				delete(w.server.consumers, name)
			}
		}
		w.disconnect(d, true)
	}},
}

// simulate opens a reader, lets a publisher, a caller and faults do what they do,
// ends the faults, and looks whether the contract was kept.
func simulate(t *testing.T, seed int64) {
	w := newWorld(t, seed)
	w.m.Start(0)
	w.perform()
	w.run(5 * time.Second)
	if w.m.phase != Reading {
		w.fail("the reader did not open")
	}
	for w.now < 3*time.Minute {
		switch w.r.Intn(3) {
		case 0:
			for range []int{1, 1, w.r.Intn(12)}[w.r.Intn(3)] {
				if !w.server.missing {
					w.server.publish()
				}
			}
		case 1:
			f := faults[w.r.Intn(len(faults))]
			w.note("FAULT %s", f.name)
			d := time.Duration(1+w.r.Intn(7000)) * time.Millisecond
			f.do(w, d)
			w.over = max(w.over, w.now+d, w.stalled)
			w.perform()
		}
		w.run(w.now + time.Duration(w.r.Intn(4000))*time.Millisecond)
	}
	w.judge()
}

// judge looks at a world whose faults are over.
func (w *world) judge() {
	w.dropMessages = 0
	w.note("quiet from here on")
	w.run(max(w.now, w.over) + healed)
	w.allRead()
	w.run(w.now + 40*time.Second)
	w.allRead()
	for name := range w.server.consumers {
		w.server.find(name)
	}
	if n := len(w.server.consumers); n != 1 {
		w.fail("%d consumers are on the server: %v", n, w.server.consumers)
	}
	before := w.requests
	w.server.publish()
	w.run(w.now + 60*time.Second)
	if w.requests != before {
		w.fail("%d requests while all is well", w.requests-before)
	}
	if len(w.got) == 0 || w.got[len(w.got)-1] != w.stamp {
		w.fail("the last message was not read")
	}
	w.m.Close(w.now, w.now+2*time.Second)
	w.perform()
	w.run(w.now + 10*time.Second)
	if w.m.phase != Done || len(w.server.consumers) > 0 || len(w.clientOn) > 0 {
		w.fail("closed: %s, consumers %v, inboxes %v", phaseNames[w.m.phase], w.server.consumers, w.clientOn)
	}
}

// healed is how long after the last fault everything is read: two heartbeats until
// the silence is noticed, the ask, and an attempt whose pause was the longest; an
// attempt under way may have to time out first.
const healed = 10 * time.Second

func (w *world) allRead() {
	if w.failed != nil || w.m.phase != Reading {
		w.fail("the reader is %s, %v", phaseNames[w.m.phase], w.failed)
	}
	got := map[int64]bool{}
	for _, stamp := range w.got {
		got[stamp] = true
	}
	for seq, stamp := range w.server.times {
		if !got[stamp] {
			w.fail("message %d of time %d was not read; cursor %d, last %d", seq, stamp, w.m.cursor.Sequence, w.server.last)
		}
	}
}

func TestSimulation(t *testing.T) {
	if *simSeed >= 0 {
		simulate(t, *simSeed)
		return
	}
	for seed := range *simRuns {
		simulate(t, seed)
	}
}
