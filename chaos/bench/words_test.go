package bench

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the tables of testdata anew")

// made is a result of hand-made figures: a series of three, one of which lost a message and one of which was stuck.
func made(work time.Duration) Result {
	entry := func(name, ahead string, readings []Reading) Entry {
		return Entry{Contestant: *find(name), Ahead: ahead, Readings: readings}
	}
	lossy, stuck := rounds(200, 400, 100), rounds(0)
	lossy[1].Lost, lossy[1].Said = 1, []string{"nats: slow consumer, messages dropped"}
	lossy[2].Reconnects = 2
	s := Series{Size: 128, Count: 1000, Pulls: Equal, Entries: []Entry{
		entry("next", "4096 messages", rounds(100, 150, 100)), entry("consume", "4096 messages", lossy), entry("fetch", "500 messages", stuck),
	}}
	s.Entries[2].Stopped = "round 1: it did not come to the last message within 3s (read 3 of 1000)"
	s.sum([]string{"consume", "next"})
	defaults := Series{Size: 4096, Count: 10, Pulls: Defaults, Entries: []Entry{entry("consume", "500 messages", stuck)}}
	return Result{
		Storage: "file", Rounds: 3, Batch: 4096, Work: work, Metadata: work > 0, Bases: []string{"consume", "next"}, Whole: work > 0, Series: []Series{s, defaults},
		Made: Made{Program: "1.2.3", System: "linux/amd64", Go: "go1.26", Client: "1.55.0", Cores: 2, Server: "2.15.3", Foreign: work > 0, Ended: time.Unix(1e9, 0).UTC()},
	}
}

// told is all that is said of a result.
func told(r Result) string {
	var out strings.Builder
	for _, s := range r.Series {
		fmt.Fprintf(&out, "%s: %s\n", s.Title(r), s.Words(r))
		for _, g := range s.Grids(r) {
			fmt.Fprintf(&out, "\n%s\n%s\n", g.Title, strings.Join(g.Head, " | "))
			for _, row := range g.Rows {
				fmt.Fprintf(&out, "%s\n", strings.Join(row, " | "))
			}
		}
		fmt.Fprintf(&out, "\n%s\n%s\n\n", s.Ahead(), strings.Join(s.Remarks(), "\n"))
	}
	fmt.Fprintf(&out, "%s\n", r.MadeWords())
	return out.String()
}

func TestWhatIsTold(t *testing.T) {
	const path = "testdata/told.txt"
	got := told(made(0)) + "\n--\n\n" + told(made(time.Millisecond))
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
		t.Errorf("told is\n%s\nnot\n%s", got, want)
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.00", 0.5: "0.50", 9.994: "9.99", 12.04: "12.0", 99.96: "100", 316.4: "316", 9999: "9999", 9999.7: "10.0k", 342_618: "343k",
		999_499: "999k", 9_999_000: "9999k", 12_345_678: "12.3M",
	} {
		if got := short(v); got != want {
			t.Errorf("%v is told as %s, not %s", v, got, want)
		}
	}
}
