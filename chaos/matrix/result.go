package matrix

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// ResultSchema is the schema field of a Result.
const ResultSchema = "nats-reader/chaos-matrix/v1"

// Result is what is known of a matrix: all its cells, or those that were played so far.
type Result struct {
	Schema string `json:"schema"`
	Made   Made   `json:"made"`

	Targets []string `json:"targets"`
	Faults  []Fault  `json:"faults"`
	Servers []string `json:"servers"`
	Rounds  int      `json:"rounds"`
	Seed    uint64   `json:"seed"`
	Settle  string   `json:"settle"`          // a duration
	Flags   []string `json:"flags,omitempty"` // of the command line, that set the target reader

	Cells []Outcome `json:"cells,omitempty"`
}

// Fault is a column of the table.
type Fault struct {
	Name  string `json:"name"`
	Short string `json:"short"` // above the column
	Title string `json:"title"`
}

// Made says where and when a matrix was played.
type Made struct {
	Program string    `json:"program"` // its version
	System  string    `json:"system"`  // such as linux/amd64
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	Began   time.Time `json:"began,omitzero"` // the first cell
	Ended   time.Time `json:"ended,omitzero"` // the last one
}

// Result gives a result of the matrix from its cells; what is played twice counts once, the later.
func (m Matrix) Result(made Made, cells []Outcome) Result {
	r := Result{Schema: ResultSchema, Made: made, Targets: m.Targets, Servers: m.Servers, Rounds: m.Rounds, Seed: m.Seed, Settle: m.Settle.String(), Flags: m.Flags}
	var names []string
	for _, p := range m.Faults {
		names = append(names, p.Name)
	}
	for i, short := range shorts(names) {
		r.Faults = append(r.Faults, Fault{m.Faults[i].Name, short, m.Faults[i].Title})
	}
	for _, c := range m.Cells() {
		for _, o := range slices.Backward(cells) {
			if o.Cell == c {
				r.Cells = append(r.Cells, o)
				break
			}
		}
	}
	r.Made.Began, r.Made.Ended = time.Time{}, time.Time{}
	for _, o := range r.Cells {
		if r.Made.Began.IsZero() || o.Began.Before(r.Made.Began) {
			r.Made.Began = o.Began
		}
		if end := o.Began.Add(o.Took); end.After(r.Made.Ended) {
			r.Made.Ended = end
		}
	}
	return r
}

// shorts are the names of plans as they stand above columns: without the word that all begin with, and then the
// first word where it tells them apart.
func shorts(names []string) []string {
	rest := slices.Clone(names)
	first, _, more := strings.Cut(names[0], "-")
	all := func(ok func(string) bool) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !ok(n) })
	}
	if more && all(func(n string) bool { return strings.HasPrefix(n, first+"-") }) {
		for i, n := range names {
			rest[i] = strings.TrimPrefix(n, first+"-")
		}
	}
	words := make([]string, len(rest))
	for i, n := range rest {
		words[i], _, _ = strings.Cut(n, "-")
		if slices.Contains(words[:i], words[i]) {
			return rest
		}
	}
	if len(names) == 1 {
		return names
	}
	return words
}

func (r Result) has(c Cell) bool {
	return slices.Contains(r.Targets, c.Target) && slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Name == c.Fault }) &&
		slices.Contains(r.Servers, c.Server) && c.Round >= 1 && c.Round <= r.Rounds
}

// Whole says whether every cell was played.
func (r Result) Whole() bool {
	return len(r.Cells) == len(r.Targets)*len(r.Faults)*len(r.Servers)*r.Rounds
}

// rounds are what came of a target under a fault on a server, in all rounds.
func (r Result) rounds(target, fault, server string) (all []Outcome) {
	for _, o := range r.Cells {
		if o.Target == target && o.Fault == fault && o.Server == server {
			all = append(all, o)
		}
	}
	return all
}

// worst is the outcome that stands for several rounds: broken before unknown before held, deaf before silent, the
// longest silence.
func worst(all []Outcome) Outcome {
	finding := map[oracle.Finding]int{oracle.Broken: 2, oracle.Unknown: 1}
	end := map[End]int{Deaf: 2, GaveUp: 1}
	return slices.MaxFunc(all, func(a, b Outcome) int {
		return cmp.Or(
			cmp.Compare(finding[a.Finding], finding[b.Finding]), cmp.Compare(end[a.End], end[b.End]),
			cmp.Compare(a.Lost, b.Lost), cmp.Compare(a.Silence, b.Silence),
		)
	})
}

// Count is how many cells there are of each finding.
type Count struct {
	Held, Broken, Unknown, Missing int
	Silence, After                 time.Duration // the longest of those that read to the end
}

// Of counts the cells of some targets.
func (r Result) Of(targets ...string) Count {
	var n Count
	for _, o := range r.Cells {
		if !slices.Contains(targets, o.Target) {
			continue
		}
		switch o.Finding {
		case oracle.Held:
			n.Held++
		case oracle.Broken:
			n.Broken++
		default:
			n.Unknown++
		}
		if o.End == Reads {
			n.Silence, n.After = max(n.Silence, o.Silence), max(n.After, o.After)
		}
	}
	n.Missing = len(targets)*len(r.Faults)*len(r.Servers)*r.Rounds - n.Held - n.Broken - n.Unknown
	return n
}

// All is how many cells there are.
func (n Count) All() int { return n.Held + n.Broken + n.Unknown + n.Missing }

// Ours are the targets that are the reader of this module.
func (r Result) Ours() []string {
	return slices.DeleteFunc(slices.Clone(r.Targets), func(t string) bool { return !isOurs(t) })
}
