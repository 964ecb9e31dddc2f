package commands

import (
	"slices"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// The table has its columns under short names; these are no plans and no tags, so they can stand for one.
func TestFaultsByTheirColumns(t *testing.T) {
	columns := []string{"a", "b", "c", "cut", "d", "e", "f", "f2", "f3", "g", "h", "hole", "perm"}
	got, err := byColumn(columns)
	if err != nil {
		t.Fatal(err)
	}
	thirteen, err := plan.Tagged(thirteenPlans)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, p := range thirteen {
		want = append(want, p.Name)
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%v stand for %v, want %v", columns, got, want)
	}
	all, err := plan.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, word := range append([]string{p.Name}, p.Tags...) {
			if slices.Contains(columns, word) {
				t.Errorf("%s is a plan or a tag as well", word)
			}
		}
	}
	if got, err := byColumn([]string{"origin-4", "thirteen", "./a"}); err != nil || !slices.Equal(got, []string{"origin-4", "thirteen", "./a"}) {
		t.Errorf("other words become %v, %v", got, err)
	}
}
