package readerprom_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// The table of the README is that of the collector.
func TestReadmeTable(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| metric | type | says |\n|---|---|---|\n")
	for _, m := range readerprom.Metrics() {
		name := m.Name
		if own := m.Labels[2:]; len(own) > 0 { // the others are common to all
			name += "{" + strings.Join(own, ",") + "}"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, m.Type, m.Help)
	}
	table.WriteString("\n")
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("the table of metrics in README.md is to be%s", table.String())
	}
}
