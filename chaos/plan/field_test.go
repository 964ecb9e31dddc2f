package plan

import (
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// Nothing is described that there is not.
func TestFieldWordsAreOfFields(t *testing.T) {
	var left []string
	schema := string(Schema())
	for path, words := range fieldWords {
		if !strings.Contains(schema, `"description": "`+strings.ReplaceAll(words, `"`, `\"`)+`"`) {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		t.Errorf("described, and no field: %q", left)
	}
}

func TestNodesAreThoseOfTheLab(t *testing.T) {
	if mostNodes != lab.MostNodes {
		t.Errorf("a plan takes %d nodes, and the lab %d", mostNodes, lab.MostNodes)
	}
}

func TestShortDurations(t *testing.T) {
	for text, want := range map[string]string{"2m": "2m", "1h": "1h", "1h30m": "1h30m", "90s": "1m30s", "0s": "0s", "100ms": "100ms", "20m": "20m", "10h": "10h", "1h0m5s": "1h0m5s"} {
		p, err := Parse("p", []byte("schema: "+SchemaName+"\nname: p\ntitle: t\nphases: {steady: "+text+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := short(p.Phases.Steady); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
}
