package alerts

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// Every expression of the dashboard is one, with Grafana's variables filled in.
func TestDashboardExpressions(t *testing.T) {
	text, err := os.ReadFile("../grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$job", ".*", "$stream", ".*", "$reader", ".*")
	p, parsed := parser.NewParser(parser.Options{}), 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expr := filled.Replace(target.Expr)
			if _, err := p.ParseExpr(expr); err != nil || strings.Contains(expr, "$") {
				t.Errorf("panel %s: %s: %v", panel.Title, expr, err)
			}
			parsed++
		}
	}
	if parsed < 15 {
		t.Errorf("%d expressions were found", parsed)
	}
}
