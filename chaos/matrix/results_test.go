package matrix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// What the README's tables are made from is whole, of plans that the program brings, and the reader holds in every cell.
func TestResults(t *testing.T) {
	files, err := filepath.Glob("results/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Decode(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if n := r.Of(r.Ours()...); !r.Whole() || n.Held != n.All() || n.All() == 0 {
			t.Errorf("%s: whole %v, %+v", path, r.Whole(), n)
		}
		thirteen, err := plan.Tagged("thirteen")
		if err != nil || len(thirteen) != len(r.Faults) {
			t.Errorf("%s: %d faults, %v", path, len(r.Faults), err)
		}
		for i, p := range thirteen {
			if p.Name != r.Faults[i].Name || p.Title != r.Faults[i].Title {
				t.Errorf("%s: the plan is %s (%s) now, not %s", path, p.Name, p.Title, r.Faults[i].Name)
			}
		}
	}
}
