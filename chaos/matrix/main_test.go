package matrix

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	lab.Main()
	goleak.VerifyTestMain(m)
}

// golden compares a text with a file of testdata, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another: look at it, and run with -update; got\n%s", path, got)
	}
}

func planOf(t *testing.T, name, text string) plan.Plan {
	t.Helper()
	p, err := plan.Parse(name, []byte("schema: "+plan.SchemaName+"\nname: "+name+"\ntitle: what happens in "+name+"\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// small is a matrix of two targets and two faults.
func small(t *testing.T) Matrix {
	t.Helper()
	return Matrix{
		Targets: []string{"reader", "consume"}, Servers: []string{Embedded}, Rounds: 1, Seed: 1,
		Faults: []plan.Plan{
			planOf(t, "quick-deleted", "steps: [{when: {at: 0s}, fault: delete-consumer}]\nphases: {steady: 200ms, recover: 20s, drain: 20s}\n"),
			planOf(t, "quick-cut", "steps: [{when: {at: 0s}, fault: cut}]\nphases: {steady: 200ms, recover: 20s, drain: 20s}\n"),
		},
	}
}

func at(d time.Duration) time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Add(d) }
