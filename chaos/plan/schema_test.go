package plan_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// schemaOf compiles the schema with a library that knows nothing of plans.
func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(plan.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(plan.SchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(plan.SchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func judged(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// The published schema is the one that the program prints.
func TestSchemaIsPublished(t *testing.T) { compare(t, "plan.schema.json", plan.Schema()) }

// Every bundled plan keeps to it, as it is written and as it is resolved.
func TestSchemaTakesBundledPlans(t *testing.T) {
	s := schemaOf(t)
	for _, p := range bundled(t) {
		file, err := os.ReadFile("bundled/" + p.Name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{file, text(t, resolve(t, p, 1))} {
			if err := judged(t, s, form); err != nil {
				t.Errorf("%s: %v\n%s", p.Name, err, form)
			}
		}
	}
}

// What an editor can know to be wrong, the schema refuses, and so does Parse.
func TestSchemaRefuses(t *testing.T) {
	s := schemaOf(t)
	for _, body := range []string{
		"nme: x\n", "load: {rate: fast}\n", "load: {rate: -1}\n", "load: {rate: 1.5}\n", "load: {bursts: {every: 1s}}\n", "server: {nodes: 99}\n",
		"server: {storage: flie}\n", "stream: {retention: all}\n", "target: {name: consum}\n", "target: {on_error: ignore}\n", "target: {subjects: 1}\n",
		"phases: {steady: 5}\n", "phases: {steady: 5 s}\n", "phases: {steady: soon}\n", "contract: {lost: none}\n", "contract: {losses: 1}\n",
		"expect: {consum: held}\n", "expect: {consume: fine}\n", "quiet: [{from: 1s}]\n", "tags: smoke\n", "tags: [Smoke]\n",
		"steps:\n  - fault: cut\n", "steps:\n  - when: {at: 1s}\n", step + "drop-mesage\n", step + "drop-mesage(nth=1)\n",
		"steps:\n  - when: {at: 1s, session: 1}\n    fault: cut\n", "steps:\n  - when: {after: 1s}\n    fault: cut\n",
		"steps:\n  - when: {session: 0}\n    fault: cut\n", "steps:\n  - when: 5s\n    fault: cut\n",
		"random: {}\n", "random: {count: 0}\n", "random: {count: 1, layers: [air]}\n", "random: {count: 1, gap: {least: 1s}}\n",
	} {
		if judged(t, s, []byte(head+body)) == nil {
			t.Errorf("the schema takes\n%s", body)
		}
		if _, err := plan.Parse("p", []byte(head+body)); err == nil {
			t.Errorf("Parse takes\n%s", body)
		}
	}
	for _, text := range []string{"schema: nats-reader/plan/v2\nname: p\ntitle: t\n", "schema: nats-reader/plan/v1\nname: My Plan\ntitle: t\n", "name: p\n", "[]\n"} {
		if judged(t, s, []byte(text)) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
}

// Every field is described, for editors.
func TestSchemaDescribesEveryField(t *testing.T) {
	if n := strings.Count(string(plan.Schema()), `"description": ""`); n > 0 {
		t.Errorf("%d fields are not described in\n%s", n, plan.Schema())
	}
}
