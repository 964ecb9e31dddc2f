package simulate

import (
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// TestSchedulesThatTheJudgeMisread: these were told as broken promises and are none.
func TestSchedulesThatTheJudgeMisread(t *testing.T) {
	for name, p := range map[string]*Plan{
		"a server that is stopped while it is frozen stops when it thaws": frozenAndStopped(),
		"a refused question and a 503 that come at one instant":           refusedTwice(),
	} {
		if f := Run(p); f != nil {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// TestALapseThatAPullHoldsBack: under one Name, with deletes denied for a while, a
// consumer that was told to lapse is kept by a pull that waits on an earlier connection.
func TestALapseThatAPullHoldsBack(t *testing.T) {
	p := quiet()
	r := &p.Readers[0]
	r.Name, r.MaxMessages, r.MaxBytes, r.Grace = "mine", 32, 3462, 3*time.Second
	p.Seed, p.Stored = 227134, 16
	p.Steps = []Step{
		{At: 2 * time.Second, Do: publishing, N: 3},
		{At: 4894 * time.Millisecond, Do: publishing, N: 1},
		{At: 9546 * time.Millisecond, Do: "half-open", For: 4188 * time.Millisecond, N: 94256},
		{At: 10473 * time.Millisecond, Do: "denied", For: 6 * time.Second, N: 4},
		{At: 14925 * time.Millisecond, Do: publishing, N: 4},
	}
	if f := Run(p); f != nil {
		t.Error(f)
	}
}

func frozenAndStopped() *Plan {
	p := quiet()
	r := &p.Readers[0]
	p.Length = 14 * time.Second
	r.Heartbeat, r.Expires, r.Inactive, r.Retry = 250*time.Millisecond, 5*time.Second, 4*time.Second, shortRetry
	p.Steps = []Step{
		{At: 13356 * time.Millisecond, Do: "freeze the server", For: 6512 * time.Millisecond},
		{At: 13400 * time.Millisecond, Do: "stop the server", For: 6080 * time.Millisecond},
	}
	return p
}

func refusedTwice() *Plan {
	p := quiet()
	p.Era, p.Retention, p.Stored = model.Eras[4], model.WorkQueue, 1
	r := &p.Readers[0]
	r.Durable, r.AckWait, r.StopAtEnd, r.WaitForStream, r.MaxMessages, r.MaxBytes, r.Start = "shared", 4*time.Second, true, true, 2, 3158, 3
	p.Readers = append(p.Readers, *r)
	p.Readers[1].Slow = 20 * time.Millisecond
	p.Steps = []Step{
		{At: 3009 * time.Millisecond, Do: "nothing moves", For: 3710 * time.Millisecond, Reader: 1},
		{At: 6372 * time.Millisecond, Do: publishing, N: 1},
		{At: 6680 * time.Millisecond, Do: "JetStream off", For: 6287 * time.Millisecond, Reader: 1},
	}
	return p
}
