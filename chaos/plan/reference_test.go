package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// field is a part of the schema, as the page tells it.
type field struct {
	Description          string
	Type                 string
	Pattern              string
	Const                string
	Enum                 []string
	Minimum, Maximum     *int64
	Properties           properties
	Items                *field
	AnyOf                []field
	Required             []string
	AdditionalProperties json.RawMessage
}

// value says what a field takes.
func (f field) value() string {
	bounds := ""
	if f.Maximum != nil {
		bounds = fmt.Sprintf(", at most %d", *f.Maximum)
	}
	switch {
	case f.Const != "":
		return "`" + f.Const + "`"
	case len(f.Enum) > 0:
		return "`" + strings.Join(f.Enum, "`, `") + "`"
	case len(f.AnyOf) > 0:
		return "text"
	case f.Type == "array":
		return "list"
	case f.Type == "string" && strings.Contains(f.Pattern, "ms|"):
		return "duration"
	case f.Type == "string":
		return "text"
	case f.Type == "integer":
		return "number" + bounds
	case f.Type == "boolean":
		return "true, false"
	default:
		return "mapping"
	}
}

// properties are the fields of a part of the schema in their order.
type properties []property

type property struct {
	name string
	field
}

// UnmarshalJSON keeps the order.
func (p *properties) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		if err := d.Decode(&one.field); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

// rows writes a row for each field below a path.
func rows(out *bytes.Buffer, path string, f field) {
	for _, one := range f.Properties {
		key, need := path+one.name, ""
		if slices.Contains(f.Required, one.name) {
			need = ", needed"
		}
		of := one.field
		if of.Items != nil && len(of.Items.Properties) > 0 {
			key += "[]"
			of = *of.Items
		}
		fmt.Fprintf(out, "| `%s` | %s%s | %s |\n", key, one.value(), need, strings.ReplaceAll(one.Description, "|", "\\|"))
		rows(out, key+".", of)
	}
}

func parameters(out *bytes.Buffer, all []proxy.Parameter) {
	for _, p := range all {
		fmt.Fprintf(out, "<br>`%s`", p.Name)
		if len(p.Allowed) > 0 {
			fmt.Fprintf(out, " (%s)", strings.Join(p.Allowed, ", "))
		}
		fmt.Fprintf(out, ": %s", strings.ReplaceAll(p.Words, "|", "\\|"))
		if p.Default != "" {
			fmt.Fprintf(out, "; default `%s`", p.Default)
		}
	}
}

// reference is the page on plans: an introduction, and what the schema and the catalogues
// say.
func reference(t *testing.T) []byte {
	t.Helper()
	intro, err := os.ReadFile("testdata/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema field
	if err := json.Unmarshal(plan.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(intro)
	out.WriteString("\n## Fields\n\n| field | value | what it is |\n| --- | --- | --- |\n")
	rows(out, "", schema)
	out.WriteString("\n## Faults\n\nIn a step as `name` or `name(parameter=value,...)`. One that acts once takes no `for`; the others last for `for`, or as long as is said here.\n\n| fault | what it does |\n| --- | --- |\n")
	for _, f := range chaos.Faults() {
		last := "once"
		if !f.Once {
			last = "10s"
			if f.Default > 0 {
				last = f.Default.String()
			}
		}
		if f.Destructive {
			last += ", destroys messages"
		}
		fmt.Fprintf(out, "| `%s` (%s, %s) | %s", f.Name, f.Layer, last, strings.ReplaceAll(f.Does, "|", "\\|"))
		parameters(out, f.Parameters)
		out.WriteString(" |\n")
	}
	out.WriteString("\n## Targets\n\n| target | who reads |\n| --- | --- |\n")
	for _, e := range target.Entries() {
		fmt.Fprintf(out, "| `%s` | %s", e.Name, e.Words)
		parameters(out, e.Parameters)
		out.WriteString(" |\n")
	}
	return out.Bytes()
}

// The page that plans are written from says what the schema and the catalogues say.
func TestReference(t *testing.T) {
	compare(t, "README.md", reference(t))
}

// The plan on the page is one.
func TestReferenceHoldsAPlan(t *testing.T) {
	intro, err := os.ReadFile("testdata/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(intro), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("there is no plan")
	}
	resolve(t, parsed(t, text), 1)
	if err := judged(t, schemaOf(t), []byte(text)); err != nil {
		t.Error(err)
	}
}

func parsed(t *testing.T, text string) plan.Plan {
	t.Helper()
	p, err := plan.Parse("the page", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
