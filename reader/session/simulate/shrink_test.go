package simulate

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

var updateFlag = flag.Bool("update", false, "rewrite the inputs of the committed transcript")

// lie is a fault no server has: it passes over a message, without a gap in its count.
const lie = "pass over a message"

func TestMain(m *testing.M) {
	flag.Parse()
	lying := fault{lie, func(w *world, r *reader, _ time.Duration, _ int) {
		if c := r.consumer(); c != nil {
			c.PassOver()
		}
	}}
	faults = append(faults, lying)
	os.Exit(m.Run())
}

// TestALieIsSeen: the judge sees a message that never comes, and the schedule is
// shrunk to what it takes.
func TestALieIsSeen(t *testing.T) {
	p := quiet()
	p.Large, p.LargeSize, p.MaxBatch = 3, 500, 10
	p.Steps = []Step{
		{At: 2 * time.Second, Do: publishing, N: 3},
		{At: 3 * time.Second, Do: "cut the connection", For: time.Second, N: 1},
		{At: 9 * time.Second, Do: "purge", N: 2},
		{At: 12 * time.Second, Do: lie},
		{At: 13 * time.Second, Do: publishing, N: 2},
		{At: 14 * time.Second, Do: "delete the consumer"},
		{At: 15 * time.Second, Do: publishing, N: 2},
	}
	f := Run(p)
	if f == nil {
		t.Fatal("a message that was passed over was not missed")
	}
	q, g := Shrink(p, f)
	if len(q.Steps) != 2 || q.Steps[0].Do != lie || q.Steps[1].Do != publishing || q.Large != 0 || q.MaxBatch != 0 {
		t.Errorf("shrunk to\n%s", q)
	}
	if g.Promise != f.Promise || Run(q) == nil {
		t.Errorf("the shrunk plan breaks %v, not %v", g, f)
	}
}

// quiet is a plan in which nothing happens.
func quiet() *Plan {
	p := NewPlan(0)
	p.Era, p.Retention, p.MaxMessages, p.Stored, p.SubjectsOf = model.Eras[len(model.Eras)-1], model.Limits, 0, 5, 1
	p.Large, p.MaxBatch, p.MaxExpires, p.MaxBytes, p.Steps, p.Length = 0, 0, 0, 0, nil, 20*time.Second
	p.Readers = []Reader{{
		MaxMessages: 4096, MaxBytes: 8 << 20, Expires: 30 * time.Second, Heartbeat: 2 * time.Second, Inactive: 30 * time.Second,
		Retry: defaultRetry, Grace: 15 * time.Second, Rand: 0.5,
	}}
	return p
}

// TestSameSeedSameRun: a run depends on its plan alone.
func TestSameSeedSameRun(t *testing.T) {
	for seed := range int64(50) {
		one, other := Transcript(NewPlan(seed), 0), Transcript(NewPlan(seed), 0)
		if one != other {
			t.Fatalf("seed %d lives through two stories:\n%s\nand\n%s", seed, one, other)
		}
	}
}

// TestTranscriptPlays keeps a transcript that the tests of package session play: its
// inputs are those that a run writes now.
func TestTranscriptPlays(t *testing.T) {
	const file = "../testdata/simulated.txt"
	p := quiet()
	p.Readers[0].Filter, p.SubjectsOf, p.Readers[0].Slow = 1, 2, 5*time.Millisecond
	p.Steps = []Step{
		{At: 2 * time.Second, Do: publishing, N: 3},
		{At: 3 * time.Second, Do: "lose a message", N: 1},
		{At: 4 * time.Second, Do: publishing, N: 4},
		{At: 6 * time.Second, Do: "half-open", For: time.Second, N: 1},
		{At: 9 * time.Second, Do: "API answers lost", For: 3 * time.Second},
		{At: 9500 * time.Millisecond, Do: "delete the consumer"},
		{At: 15 * time.Second, Do: "re-create the stream, beyond", N: 3},
	}
	p.Length = 18 * time.Second
	told := Transcript(p, 0)
	if *updateFlag {
		if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Log("now run go test ./reader/session -run Transcripts -update")
		return
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if inputs(string(kept)) != inputs(told) {
		t.Errorf("a run writes other inputs than %s has: run this test with -update", file)
	}
}

// inputs leaves the effects out of a transcript.
func inputs(transcript string) string {
	b, effects := strings.Builder{}, false
	for line := range strings.Lines(transcript) {
		switch {
		case strings.TrimSpace(line) == "----":
			effects = true
		case line == "\n":
			effects = false
		case !effects:
			b.WriteString(line)
		}
	}
	return b.String()
}
