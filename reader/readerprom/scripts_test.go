package readerprom_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// What rules and dashboard name, beside functions and durations.
var (
	metricName  = regexp.MustCompile(`\bnats_reader_\w+`)
	matcherName = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
	grouping    = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	variable    = regexp.MustCompile(`\$\{?(\w+)`)
	templated   = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)
)

// known is what a collector of real readers has: metrics, and labels of their series.
type known struct{ names, labels map[string]bool }

// knownOf gathers from a reader that is not open yet, one that reads, and one that is closed.
func knownOf(t *testing.T) known {
	t.Helper()
	b, bed := newBench(t), readertest.New(t, readertest.Options{})
	bed.Stream("ORDERS", "orders.>")
	bed.Publish(1)
	if _, err := b.metrics.Observe("opening", reader.Config{Stream: "ORDERS"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reading", "closed"} {
		r := b.read(bed, name, reader.Config{Stream: "ORDERS"})
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if name == "closed" {
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	k := known{map[string]bool{}, map[string]bool{"job": true, "instance": true, "le": true}} // these are Prometheus' own
	for series := range b.scrape() {
		name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		k.names[name] = true
		for l := range strings.SplitSeq(labels, ",") {
			l, _, _ = strings.Cut(l, "=")
			k.labels[l] = true
		}
	}
	for _, m := range readerprom.Metrics() {
		if m.Type == "histogram" {
			k.names[m.Name+"_bucket"] = k.names[m.Name+"_count"]
		}
	}
	return k
}

// check tells what an expression or a text names that does not exist.
func (k known) check(t *testing.T, where, text string) {
	t.Helper()
	for _, name := range metricName.FindAllString(text, -1) {
		if !k.names[name] {
			t.Errorf("%s: there is no metric %s", where, name)
		}
	}
	var labels []string
	for _, m := range append(matcherName.FindAllStringSubmatch(text, -1), templated.FindAllStringSubmatch(text, -1)...) {
		labels = append(labels, m[1])
	}
	for _, m := range grouping.FindAllStringSubmatch(text, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			labels = append(labels, strings.TrimSpace(l))
		}
	}
	for _, l := range labels {
		if !k.labels[l] {
			t.Errorf("%s: no series has the label %s", where, l)
		}
	}
}

// Every metric and every label that the alert rules and the dashboard name exists.
func TestRulesAndDashboardNameWhatExists(t *testing.T) {
	t.Parallel()
	k := knownOf(t)
	rules, err := os.ReadFile("../../scripts/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(metricName.FindAll(rules, -1)); n < 12 {
		t.Fatalf("the rules name %d metrics", n)
	}
	k.check(t, "alerts.yaml", string(rules))
	d := readDashboard(t)
	expressions := 0
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			k.check(t, p.Title, target.Expr)
			k.check(t, p.Title, target.Legend)
			expressions++
		}
	}
	for _, v := range d.Templating.List[1:] {
		k.check(t, "variable "+v.Name, v.Definition)
		if !k.labels[v.Name] {
			t.Errorf("variable %s is no label", v.Name)
		}
	}
	if expressions < 15 {
		t.Errorf("the dashboard has %d expressions", expressions)
	}
}

// dashboard is what of Grafana's format is looked at.
type dashboard struct {
	UID    string `json:"uid"`
	Title  string `json:"title"`
	ID     *int   `json:"id"` // null: Grafana gives one
	Schema int    `json:"schemaVersion"`
	Panels []struct {
		ID         int                      `json:"id"`
		Type       string                   `json:"type"`
		Title      string                   `json:"title"`
		Datasource datasource               `json:"datasource"`
		Grid       struct{ H, W, X, Y int } `json:"gridPos"`
		Targets    []struct {
			RefID      string     `json:"refId"`
			Datasource datasource `json:"datasource"`
			Expr       string     `json:"expr"`
			Legend     string     `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../scripts/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Grafana imports it: a schema that it knows, a data source to choose, panels that do not overlap, and no
// variable that is not there.
func TestDashboardCanBeImported(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.ID != nil || d.Schema < 36 || d.Schema > 41 {
		t.Errorf("uid %q, title %q, id %v, schemaVersion %d", d.UID, d.Title, d.ID, d.Schema)
	}
	variables := []string{"__rate_interval", "__range"} // Grafana's own
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if len(d.Templating.List) < 2 || d.Templating.List[0].Type != "datasource" {
		t.Fatalf("the first variable is to be the data source: %+v", d.Templating.List)
	}
	chosen := datasource{"prometheus", "${" + d.Templating.List[0].Name + "}"}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %q has the id %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.Grid
		if g.H < 1 || g.W < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("panel %s lies at %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("panel %s lies on %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if !slices.Contains([]string{"stat", "table", "timeseries", "state-timeline"}, p.Type) || p.Datasource != chosen || len(p.Targets) == 0 {
			t.Errorf("panel %s: type %s, data source %+v, %d targets", p.Title, p.Type, p.Datasource, len(p.Targets))
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.Expr == "" || target.Datasource != chosen || refs[target.RefID] {
				t.Errorf("panel %s: target %+v", p.Title, target)
			}
			refs[target.RefID] = true
			for _, v := range variable.FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, v[1]) {
					t.Errorf("panel %s: there is no variable %s", p.Title, v[1])
				}
			}
		}
	}
}

var _ readerprom.Source = (*reader.Reader)(nil)
