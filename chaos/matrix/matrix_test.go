package matrix

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

func TestCells(t *testing.T) {
	m := small(t)
	m.Servers, m.Rounds = []string{"2.10.22", Embedded}, 2
	var got []string
	for _, c := range m.Cells() {
		got = append(got, c.String())
	}
	want := []string{
		"reader quick-deleted on 2.10.22", "consume quick-deleted on 2.10.22", "reader quick-cut on 2.10.22", "consume quick-cut on 2.10.22",
		"reader quick-deleted on embedded", "consume quick-deleted on embedded", "reader quick-cut on embedded", "consume quick-cut on embedded",
	}
	if len(got) != 16 || !slices.Equal(got[:8], want) || got[15] != "consume quick-cut on embedded, round 2" {
		t.Errorf("%d cells: %s", len(got), strings.Join(got, "\n"))
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

func TestPlanOfACell(t *testing.T) {
	m := small(t)
	m.Seed, m.Settle = 7, 3*time.Second
	m.Faults[0].Server.Version = "2.10.7"
	ours, err := m.Plan(Cell{"reader", "quick-deleted", Embedded, 2})
	if err != nil {
		t.Fatal(err)
	}
	if ours.Seed != 8 || ours.Server.Version != lab.EmbeddedVersion || ours.Phases.Settle != m.Settle || ours.Contract.Orphans != nil || ours.Target.Name != "reader" {
		t.Errorf("%+v", ours)
	}
	other, err := m.Plan(Cell{"consume", "quick-deleted", "2.14.0", 1})
	if err != nil {
		t.Fatal(err)
	}
	if other.Seed != 7 || other.Server.Version != "2.14.0" || other.Contract.Orphans == nil {
		t.Errorf("%+v", other)
	}
	if m.Faults[0].Contract.Orphans != nil {
		t.Error("the plan of the matrix is another now")
	}
	if _, err := m.Plan(Cell{"reader", "nothing", Embedded, 1}); err == nil {
		t.Error("a fault that is not there has a plan")
	}
}

func TestNoMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Matrix)
		want  string
	}{
		"no target":         {func(m *Matrix) { m.Targets = nil }, "needs a target"},
		"no fault":          {func(m *Matrix) { m.Faults = nil }, "needs a target, a fault"},
		"no server":         {func(m *Matrix) { m.Servers = nil }, "and a server"},
		"no round":          {func(m *Matrix) { m.Rounds = 0 }, "at least 1 round"},
		"no seed":           {func(m *Matrix) { m.Seed = 0 }, "a seed"},
		"negative settle":   {func(m *Matrix) { m.Settle = -1 }, "below 0"},
		"unknown target":    {func(m *Matrix) { m.Targets[1] = "consum" }, "no such target"},
		"a target twice":    {func(m *Matrix) { m.Targets[1] = "reader" }, "twice"},
		"plans of one name": {func(m *Matrix) { m.Faults[1].Name = m.Faults[0].Name }, "two plans are called quick-deleted"},
		"another's server":  {func(m *Matrix) { m.Faults[1].Server = plan.Server{Connect: true} }, "connects to a server of others"},
		"a broken plan":     {func(m *Matrix) { m.Faults[1].Title = "" }, "plan quick-cut: title: "},
		"no version":        {func(m *Matrix) { m.Servers[0] = "new" }, "server.version"},
	} {
		m := small(t)
		c.spoil(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if _, err := m.Play(t.Context(), Options{}); err == nil {
			t.Errorf("%s is played", name)
		}
	}
}

func TestEstimate(t *testing.T) {
	m := small(t)
	m.Settle = 10 * time.Second
	least, most, err := m.Estimate(m.Cells()[0])
	if err != nil || least != around+200*time.Millisecond+time.Second+10*time.Second || most != least+40*time.Second {
		t.Errorf("%s to %s, %v", least, most, err)
	}
	one, _, _ := m.EstimateAll(m.Cells(), 1)
	two, _, _ := m.EstimateAll(m.Cells(), 2)
	many, _, _ := m.EstimateAll(m.Cells(), 100)
	if one != 4*least || two != 2*least || many != least {
		t.Errorf("one at a time %s, two %s, all %s", one, two, many)
	}
}

func TestSettings(t *testing.T) {
	base, err := small(t).Settings()
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Matrix){
		"":                               func(*Matrix) {},
		"targets messages only here":     func(m *Matrix) { m.Targets = append(m.Targets, "messages") },
		"targets consume only there":     func(m *Matrix) { m.Targets = m.Targets[:1] },
		"targets [reader consume] there": func(m *Matrix) { slices.Reverse(m.Targets) },
		"faults quick-cut only there":    func(m *Matrix) { m.Faults = m.Faults[:1] },
		"servers 2.10.7 only here":       func(m *Matrix) { m.Servers = append(m.Servers, "2.10.7") },
		"rounds 1 there, 3 here":         func(m *Matrix) { m.Rounds = 3 },
		"seed 1 there, 2 here":           func(m *Matrix) { m.Seed = 2 },
		"settle 0s there, 1s here":       func(m *Matrix) { m.Settle = time.Second },
		"plan quick-cut says something":  func(m *Matrix) { m.Faults[1].Load.Rate = 7 },
	} {
		m := small(t)
		change(&m)
		other, err := m.Settings()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(base.Differences(other), "; ")
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestShorts(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"thirteen-a-consumer-deleted thirteen-b-inbox-lost thirteen-cut", "a b cut"},
		{"origin-1 origin-10", "1 10"},
		{"thirteen-cut origin-1", "thirteen origin"},
		{"cluster-kill-leader cluster-kill-own-node", "kill-leader kill-own-node"},
		{"finding-a", "finding-a"},
		{"smoke", "smoke"},
	} {
		if got := strings.Join(shorts(strings.Fields(c.names)), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.names, got, c.want)
		}
	}
}

// A limit that nothing reaches is one that a plan can write and read.
func TestAnyNumber(t *testing.T) {
	m := small(t)
	p, err := m.Plan(m.Cells()[1])
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Parse("again", text); err != nil {
		t.Error(err)
	}
}
