// Package alerts tries scripts/alerts.yaml with Prometheus' own parser, engine and templates. It is a
// module of its own: nothing of Prometheus is to be in the modules of nats-reader.
//
// promtool does the same (check rules, test rules), and would need every cloud's service discovery to be
// compiled, which takes many minutes. The tests are in its format.
package alerts

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"
	"go.yaml.in/yaml/v3"
)

const (
	rulesFile = "../alerts.yaml"
	testsFile = "tests.yaml"
)

// unitTests is the part of promtool's format that the tests use.
type unitTests struct {
	RuleFiles []string       `yaml:"rule_files"`
	Every     model.Duration `yaml:"evaluation_interval"`
	Tests     []struct {
		Name     string         `yaml:"name"`
		Interval model.Duration `yaml:"interval"`
		Series   []struct {
			Series string `yaml:"series"`
			Values string `yaml:"values"`
		} `yaml:"input_series"`
		Alerts []struct {
			At   model.Duration `yaml:"eval_time"`
			Name string         `yaml:"alertname"`
			Want []alert        `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	} `yaml:"tests"`
}

// alert is one that fires.
type alert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

func (a alert) String() string {
	var text strings.Builder
	for _, m := range []map[string]string{a.Labels, a.Annotations} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&text, "\n    %s: %s", k, m[k])
		}
	}
	return text.String()
}

// rulesOf reads the rules as Prometheus does, strictly.
func rulesOf(t *testing.T, p parser.Parser) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, p, nil)
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there is no rule")
	}
	return all
}

// Every rule fires on the series that its test has for it, says what it should, and fires on no other.
func TestRules(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	rules := rulesOf(t, p)
	text, err := os.ReadFile(testsFile)
	if err != nil {
		t.Fatal(err)
	}
	var all unitTests
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("%s: %v", testsFile, err)
	}
	if !slices.Equal(all.RuleFiles, []string{rulesFile}) || all.Every <= 0 {
		t.Fatalf("%s: rule_files %q, evaluation_interval %s", testsFile, all.RuleFiles, all.Every)
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 20, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: p})
	defer engine.Close() //nolint:errcheck // it holds nothing
	fired, silent := map[string]bool{}, map[string]bool{}
	for _, test := range all.Tests {
		var held memory
		for _, s := range test.Series {
			if err := held.add(p, s.Series+" "+s.Values, time.Duration(test.Interval)); err != nil {
				t.Errorf("%s: series %s: %v", test.Name, s.Series, err)
			}
		}
		for _, a := range test.Alerts {
			i := slices.IndexFunc(rules, func(r rulefmt.Rule) bool { return r.Alert == a.Name })
			if i < 0 {
				t.Errorf("%s: no rule is called %s", test.Name, a.Name)
				continue
			}
			got, err := firing(t.Context(), engine, held, rules[i], time.Duration(all.Every), time.Duration(a.At))
			if err != nil {
				t.Errorf("%s: %v", test.Name, err)
				continue
			}
			for i := range a.Want {
				a.Want[i].Labels["alertname"] = a.Name
			}
			if want := fmt.Sprint(a.Want); fmt.Sprint(got) != want {
				t.Errorf("%s: at %s fires%s\nwant%s", test.Name, a.At, got, want)
			}
			fired[a.Name] = fired[a.Name] || len(a.Want) > 0
			silent[a.Name] = silent[a.Name] || len(a.Want) == 0
		}
	}
	for _, r := range rules {
		if !fired[r.Alert] || !silent[r.Alert] {
			t.Errorf("rule %s is not tried: it is to fire once, and not to fire once", r.Alert)
		}
	}
}

// firing evaluates a rule up to a time, and gives the alerts that fire then.
func firing(ctx context.Context, engine *promql.Engine, held memory, r rulefmt.Rule, every, until time.Duration) ([]alert, error) {
	since := map[string]time.Duration{} // active alerts
	var found promql.Vector
	for at := time.Duration(0); at <= until; at += every {
		query, err := engine.NewInstantQuery(ctx, held, nil, r.Expr, time.UnixMilli(at.Milliseconds()))
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.Alert, err)
		}
		found, err = query.Exec(ctx).Vector()
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.Alert, err)
		}
		active := map[string]time.Duration{}
		for _, s := range found {
			key := s.Metric.String()
			active[key] = at
			if began, goesOn := since[key]; goesOn {
				active[key] = began
			}
		}
		since = active
	}
	var all []alert
	for _, s := range found {
		if until-since[s.Metric.String()] < time.Duration(r.For) {
			continue
		}
		a, err := told(ctx, r, s)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b alert) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// told expands the words of a rule for a sample.
func told(ctx context.Context, r rulefmt.Rule, s promql.Sample) (alert, error) {
	of := s.Metric.Map()
	delete(of, labels.MetricName)
	data := template.AlertTemplateData(of, nil, "", s)
	expand := func(text string) (string, error) {
		const definitions = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
		noQuery := func(context.Context, string, time.Time) (promql.Vector, error) {
			return nil, fmt.Errorf("a template of rule %s queries", r.Alert)
		}
		return template.NewTemplateExpander(ctx, definitions+text, r.Alert, data, 0, noQuery, nil, []string{"missingkey=error"}).Expand()
	}
	a := alert{Labels: maps.Clone(of), Annotations: map[string]string{}}
	for into, from := range map[*map[string]string]map[string]string{&a.Labels: r.Labels, &a.Annotations: r.Annotations} {
		for k, text := range from {
			said, err := expand(text)
			if err != nil {
				return a, fmt.Errorf("rule %s: %s: %w", r.Alert, k, err)
			}
			(*into)[k] = said
		}
	}
	a.Labels["alertname"] = r.Alert
	return a, nil
}
