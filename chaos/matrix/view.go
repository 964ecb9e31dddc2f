package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
)

// square is a cell as it is shown: all rounds of a target under a fault on a server.
type square struct {
	Finding string // held, broken, unknown, missing
	Sign    string
	Words   string // how it ended, how long it was silent
	Bad     string // what was lost, read twice or out of order
}

func (s square) String() string {
	text := strings.TrimSpace(s.Sign + " " + s.Words)
	if s.Bad != "" {
		text += ", " + s.Bad
	}
	return text
}

// grid is one table: squares by row and fault.
type grid struct {
	Title   string
	Corner  string // above the names of the rows
	Columns []string
	Rows    []row
}

type row struct {
	Name    string
	Squares []square
}

// The signs of a square; a finding is never told by its colour alone.
const (
	signHeld    = "✔"
	signBroken  = "✘"
	signUnknown = "?"
	signMissing = "·"
)

// squareOf puts the rounds of a cell into words.
func squareOf(all []Outcome) square {
	if len(all) == 0 {
		return square{Finding: "missing", Sign: signMissing}
	}
	o := worst(all)
	s := square{Finding: string(o.Finding), Sign: signUnknown}
	switch o.Finding {
	case oracle.Held:
		s.Sign = signHeld
	case oracle.Broken:
		s.Sign = signBroken
	case oracle.Unknown:
	}
	switch o.End {
	case GaveUp:
		s.Words = "gave up " + tenths(o.Silence)
	case Deaf:
		s.Words = fmt.Sprintf("deaf −%d", o.Unread)
	case Reads:
		s.Words = silence(o)
	case None:
	}
	var bad []string
	add := func(n uint64, word string) {
		if n > 0 {
			bad = append(bad, fmt.Sprintf("%s %d", word, n))
		}
	}
	if o.End != GaveUp {
		add(o.Lost, "lost")
	}
	add(o.Duplicated, "twice")
	add(o.OutOfOrder, "disorder")
	s.Bad = strings.Join(bad, ", ")
	return s
}

// Words say what came of one cell.
func (o Outcome) Words() string { return squareOf([]Outcome{o}).String() }

// silence is how long nothing was read, from the fault, and what of it was left at its end where that is
// another figure.
func silence(o Outcome) string {
	text := tenths(o.Silence)
	if after := tenths(o.After); after != text {
		text += "/" + after
	}
	return text
}

// tenths is a duration in seconds with one place.
func tenths(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// grids are the tables of a result: one a server with a row a target, or, of one target alone, one with a row a
// server.
func (r Result) grids() []grid {
	var columns []string
	for _, f := range r.Faults {
		columns = append(columns, report.Clean(f.Short))
	}
	line := func(name, target, server string) row {
		one := row{Name: report.Clean(name)}
		for _, f := range r.Faults {
			one.Squares = append(one.Squares, squareOf(r.rounds(target, f.Name, server)))
		}
		return one
	}
	if len(r.Targets) == 1 && len(r.Servers) > 1 {
		g := grid{Title: report.Clean(r.Targets[0]), Corner: "nats-server", Columns: columns}
		for _, server := range r.Servers {
			g.Rows = append(g.Rows, line(r.serverName(server), r.Targets[0], server))
		}
		return []grid{g}
	}
	var all []grid
	for _, server := range r.Servers {
		g := grid{Title: "nats-server " + report.Clean(r.serverName(server)), Corner: "target", Columns: columns}
		for _, t := range r.Targets {
			g.Rows = append(g.Rows, line(t, t, server))
		}
		all = append(all, g)
	}
	return all
}

// serverName is the version of a server, as far as it is known.
func (r Result) serverName(server string) string {
	if server != Embedded {
		return server
	}
	i := slices.IndexFunc(r.Cells, func(o Outcome) bool { return o.Server == Embedded && o.Version != "" })
	if i < 0 {
		return Embedded
	}
	return r.Cells[i].Version
}

// columnWords say what the faults above the columns are.
func (r Result) columnWords() (all [][2]string) {
	for _, f := range r.Faults {
		all = append(all, [2]string{report.Clean(f.Short), report.Clean(f.Title)})
	}
	return all
}

// trouble is a cell that did not hold, in words.
type trouble struct {
	Cell, Finding, Reasons, Again string
}

// mostTroubles bounds the list of them.
const mostTroubles = 500

// troubles are the cells that did not hold, those of ours first.
func (r Result) troubles() (all []trouble, left int) {
	cells := slices.DeleteFunc(slices.Clone(r.Cells), func(o Outcome) bool { return o.Finding == oracle.Held })
	slices.SortStableFunc(cells, func(a, b Outcome) int {
		rank := func(o Outcome) int {
			if isOurs(o.Target) {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	for _, o := range cells {
		if len(all) == mostTroubles {
			return all, len(cells) - mostTroubles
		}
		reasons := o.Reasons
		if len(reasons) == 0 && o.Error != "" {
			reasons = []string{o.Error}
		}
		all = append(all, trouble{
			Cell: report.Clean(o.Cell.String()), Finding: string(o.Finding), Reasons: cmp.Or(report.Clean(strings.Join(reasons, "; ")), "no reason is known"),
			Again: r.again(o),
		})
	}
	return all, 0
}

// again is the command line that plays a cell once more.
func (r Result) again(o Outcome) string {
	text := fmt.Sprintf("nats-reader chaos matrix --targets %s --faults %s --servers %s --rand-seed %d", quoted(o.Target), quoted(o.Fault), quoted(o.Server), o.Seed)
	if r.Settle != DefaultSettle.String() {
		text += " --settle " + r.Settle
	}
	for _, f := range r.Flags {
		text += " " + quoted(f)
	}
	return report.Clean(text)
}

// DefaultSettle is how long publishing goes on in each cell once the target reads again, where nothing else is
// said: one that reads a message and then no more is found out.
const DefaultSettle = 10 * time.Second

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// tallies say for each target how many cells held.
func (r Result) tallies() (all []string) {
	for _, t := range r.Targets {
		all = append(all, fmt.Sprintf("%s: %s", report.Clean(t), r.Of(t).words()))
	}
	return all
}

func (n Count) words() string {
	text := fmt.Sprintf("%d of %d held", n.Held, n.All())
	for _, x := range []struct {
		n    int
		word string
	}{{n.Broken, "broken"}, {n.Unknown, "not judged"}, {n.Missing, "not played"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	if n.Held+n.Broken > 0 {
		text += fmt.Sprintf("; where it read to the end, the longest silence %s from the fault, %s after its end", tenths(n.Silence), tenths(n.After))
	}
	return text
}

// legend says how squares are read.
const legend = `Seconds: the longest time without a message, from the fault to the next message; behind a stroke what of it was left
when the fault had ended. deaf −n: open at the end, n stored messages unread. gave up: it ended by itself, so long after the fault.
lost n: passed over for good. ✔ the contract held, ✘ broken, ? could not be judged, · not played.`

// Words is the last line of every report in words.
func (r Result) Words() string {
	n := r.Of(r.Targets...)
	text := fmt.Sprintf("matrix %s  targets=%d faults=%d servers=%d rounds=%d cells=%d held=%d broken=%d unknown=%d missing=%d",
		r.finding(), len(r.Targets), len(r.Faults), len(r.Servers), r.Rounds, n.All(), n.Held, n.Broken, n.Unknown, n.Missing)
	if ours := r.Ours(); len(ours) > 0 {
		o := r.Of(ours...)
		text += fmt.Sprintf(" reader=%d/%d", o.Held, o.All())
	}
	return text
}

// finding is that of the reader of this module where it is among the targets, or else of all: what is broken of others
// beside it is what the matrix finds out.
func (r Result) finding() oracle.Finding {
	if ours := r.Ours(); len(ours) > 0 {
		return r.Of(ours...).Finding()
	}
	return r.Of(r.Targets...).Finding()
}

// Finding is that of all cells that were counted: broken where one is, then unknown where one is, or is missing.
func (n Count) Finding() oracle.Finding {
	switch {
	case n.Broken > 0:
		return oracle.Broken
	case n.Unknown > 0 || n.Missing > 0:
		return oracle.Unknown
	default:
		return oracle.Held
	}
}

// made says where and when, in one line.
func (r Result) made() string {
	m := r.Made
	text := fmt.Sprintf("nats-reader %s, %s, %s, %d cores", report.Clean(m.Program), report.Clean(m.Go), report.Clean(m.System), m.Cores)
	if !m.Began.IsZero() {
		text = m.Began.Format("2006-01-02 15:04 UTC") + ", " + text
	}
	rounds := "1 round"
	if r.Rounds != 1 {
		rounds = fmt.Sprintf("%d rounds, the worst of them shown", r.Rounds)
	}
	text = fmt.Sprintf("%s; %s, seed %d, publishing goes on for %s", text, rounds, r.Seed, report.Clean(r.Settle))
	if len(r.Flags) > 0 {
		text += "; reader with " + report.Clean(strings.Join(r.Flags, " "))
	}
	return text
}
