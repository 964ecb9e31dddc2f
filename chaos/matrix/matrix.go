package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// Embedded is the name of the server that the program brings, among the servers.
const Embedded = "embedded"

// Matrix says what to play: every target under every fault on every server, so many rounds.
type Matrix struct {
	Targets []string    // as target.Parse takes them, and Target.Name writes them
	Faults  []plan.Plan // what their server's version and target are is replaced
	Servers []string    // Embedded, or versions such as 2.10.22
	Rounds  int         // at least 1
	Seed    uint64      // of the first round; each round adds one. At least 1
	// Settle is how long publishing goes on after the target reads again; at least the plan's own.
	Settle time.Duration
	// Flags are the words of the command line by which Faults say how the target reader reads; they
	// are only shown.
	Flags []string
}

// Cell is one target under one fault on one server, once.
type Cell struct {
	Target string `json:"target"`
	Fault  string `json:"fault"` // the name of its plan
	Server string `json:"server"`
	Round  int    `json:"round"` // from 1
}

func (c Cell) String() string {
	text := fmt.Sprintf("%s %s on %s", c.Target, c.Fault, c.Server)
	if c.Round > 1 {
		text += fmt.Sprintf(", round %d", c.Round)
	}
	return text
}

// Check tells what cannot be a matrix.
func (m Matrix) Check() error {
	switch {
	case len(m.Targets) == 0 || len(m.Faults) == 0 || len(m.Servers) == 0:
		return errors.New("a matrix needs a target, a fault and a server")
	case m.Rounds < 1:
		return fmt.Errorf("a matrix needs at least 1 round, not %d", m.Rounds)
	case m.Seed < 1:
		return errors.New("a matrix needs a seed")
	case m.Settle < 0:
		return fmt.Errorf("settle %s is below 0", m.Settle)
	}
	for i, text := range m.Targets {
		if t, err := target.Parse(text); err != nil {
			return err
		} else if t.Name() != text || slices.Contains(m.Targets[:i], text) {
			return fmt.Errorf("target %s is there twice, or has the name %s", text, t.Name())
		}
	}
	for i, p := range m.Faults {
		if p.Server.Connect {
			return fmt.Errorf("plan %s connects to a server of others, and a matrix brings its own", p.Name)
		}
		if slices.ContainsFunc(m.Faults[:i], func(o plan.Plan) bool { return o.Name == p.Name }) {
			return fmt.Errorf("two plans are called %s: its cells could not be told apart", p.Name)
		}
	}
	for _, c := range m.Cells() {
		if _, err := m.Plan(c); err != nil {
			return fmt.Errorf("plan %s: %w", c.Fault, err)
		}
	}
	return nil
}

// Cells lists the cells in the order in which they are played.
func (m Matrix) Cells() []Cell {
	var all []Cell
	for round := range m.Rounds {
		for _, server := range m.Servers {
			for _, fault := range m.Faults {
				for _, t := range m.Targets {
					all = append(all, Cell{t, fault.Name, server, round + 1})
				}
			}
		}
	}
	return all
}

// seed is that of a cell.
func (m Matrix) seed(c Cell) uint64 { return m.Seed + uint64(max(c.Round, 1)-1) }

// anyNumber is a limit that nothing reaches.
const anyNumber = 1 << 32

// Plan gives the plan of a cell, resolved.
func (m Matrix) Plan(c Cell) (plan.Plan, error) {
	i := slices.IndexFunc(m.Faults, func(p plan.Plan) bool { return p.Name == c.Fault })
	if i < 0 {
		return plan.Plan{}, fmt.Errorf("the matrix has no fault %q", c.Fault)
	}
	p := m.Faults[i]
	p.Target.Name = c.Target
	p.Server.Version = c.Server
	if c.Server == Embedded {
		p.Server.Version = lab.EmbeddedVersion
	}
	p.Phases.Settle = max(p.Phases.Settle, m.Settle)
	if p.Contract.Orphans == nil && plan.TargetKind(c.Target) != plan.TargetReader {
		// Only ours promises to leave nothing; the matrix asks who reads.
		p.Contract.Orphans = new(uint64(anyNumber))
	}
	return p.Resolve(m.seed(c))
}

// around is what a cell takes beside its phases: servers, connections, the count of what is left.
const around = time.Second

// Estimate is how long a cell takes at least (the target reads again at once) and at most.
func (m Matrix) Estimate(c Cell) (least, most time.Duration, err error) {
	p, err := m.Plan(c)
	if err != nil {
		return 0, 0, err
	}
	ph := p.Phases
	both := around + ph.Steady + ph.Inject
	return both + ph.Settle, both + ph.Recover + ph.Settle + ph.Drain, nil
}

// EstimateAll is how long some cells take, so many at a time.
func (m Matrix) EstimateAll(cells []Cell, parallel int) (least, most time.Duration, err error) {
	var longest time.Duration
	for _, c := range cells {
		a, b, err := m.Estimate(c)
		if err != nil {
			return 0, 0, err
		}
		least, most, longest = least+a, most+b, max(longest, a)
	}
	n := time.Duration(max(parallel, 1))
	return max(least/n, longest), max(most/n, longest), nil
}

// SettingsSchema is the schema field of Settings.
const SettingsSchema = "nats-reader/chaos-matrix-settings/v1"

// Settings are what two runs must have alike for their cells to come into one table.
type Settings struct {
	Schema  string         `json:"schema"`
	Targets []string       `json:"targets"`
	Faults  []FaultSetting `json:"faults"`
	Servers []string       `json:"servers"`
	Rounds  int            `json:"rounds"`
	Seed    uint64         `json:"seed"`
	Settle  string         `json:"settle"` // a duration
}

// FaultSetting is a plan by its name and by what it says.
type FaultSetting struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // of its text
}

// Settings gives those of the matrix.
func (m Matrix) Settings() (Settings, error) {
	s := Settings{Schema: SettingsSchema, Targets: m.Targets, Servers: m.Servers, Rounds: m.Rounds, Seed: m.Seed, Settle: m.Settle.String()}
	for _, p := range m.Faults {
		text, err := p.YAML()
		if err != nil {
			return Settings{}, fmt.Errorf("plan %s: its text: %w", p.Name, err)
		}
		sum := sha256.Sum256(text)
		s.Faults = append(s.Faults, FaultSetting{p.Name, hex.EncodeToString(sum[:8])})
	}
	return s, nil
}

// Differences says in what other settings are not these, in words; none: they are alike.
func (s Settings) Differences(other Settings) (all []string) {
	not := func(name string, was, is any) {
		if a, b := fmt.Sprint(was), fmt.Sprint(is); a != b {
			all = append(all, fmt.Sprintf("%s %s there, %s here", name, a, b))
		}
	}
	lists := func(name string, was, is []string) {
		gone, more := without(was, is), without(is, was)
		if len(gone) > 0 {
			all = append(all, fmt.Sprintf("%s %s only there", name, strings.Join(gone, ", ")))
		}
		if len(more) > 0 {
			all = append(all, fmt.Sprintf("%s %s only here", name, strings.Join(more, ", ")))
		}
		if len(gone)+len(more) == 0 {
			not(name, was, is) // another order
		}
	}
	names := func(of Settings) (list []string) {
		for _, f := range of.Faults {
			list = append(list, f.Name)
		}
		return list
	}
	lists("targets", s.Targets, other.Targets)
	lists("faults", names(s), names(other))
	lists("servers", s.Servers, other.Servers)
	not("rounds", s.Rounds, other.Rounds)
	not("seed", s.Seed, other.Seed)
	not("settle", s.Settle, other.Settle)
	for _, f := range s.Faults {
		i := slices.IndexFunc(other.Faults, func(o FaultSetting) bool { return o.Name == f.Name })
		if i >= 0 && other.Faults[i].Digest != f.Digest {
			all = append(all, fmt.Sprintf("plan %s says something else", f.Name))
		}
	}
	return all
}

// without are those of some words that are not among others.
func without(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(w string) bool { return slices.Contains(others, w) })
}

// isOurs says whether a target is the reader of this module.
func isOurs(name string) bool { return plan.TargetKind(name) == plan.TargetReader }
