package target

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Traits{
		"reader":                 {Ours: true},
		" reader ":               {Ours: true},
		"ordered-consume":        {},
		"ordered-messages":       {},
		"consume":                {Durable: true},
		"consume(durable=true)":  {Durable: true},
		"consume(durable=false)": {Lossy: true},
		"messages":               {Durable: true},
		"fetch(batch=1)":         {Durable: true},
		"legacy-ordered":         {},
		"legacy-fetch":           {Durable: true},
		"exec:cat":               {Process: true},
		"exec: cat | tr a b":     {Process: true},
	} {
		kind, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if kind.Traits() != want {
			t.Errorf("%s: %+v, want %+v", text, kind.Traits(), want)
		}
		again, err := Parse(kind.Name())
		if err != nil || again.Name() != kind.Name() {
			t.Errorf("%s: its name %s does not parse back: %v", text, kind.Name(), err)
		}
		if _, program := kind.(chaos.Program); program != want.Process {
			t.Errorf("%s can be frozen: %v", text, program)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      `target "": its name is missing; allowed: reader, ordered-consume`,
		"(a=b)":                                 `its name is missing`,
		"order-consume":                         `target "order-consume": no such target; allowed: reader, ordered-consume`,
		"exec":                                  `target "exec": no such target; allowed: `,
		"exec:":                                 `the command is missing: exec:CMD`,
		"exec:  ":                               `the command is missing`,
		"exec:a\x00b":                           `NUL byte`,
		"reader(heartbeat=1s)":                  `target "reader": heartbeat="1s": this target has no parameters`,
		"consume(durable=maybe)":                `target "consume": durable="maybe"`,
		"consume(batch=3)":                      `target "consume": batch="3": no such parameter; allowed: durable, expires, heartbeat`,
		"consume(durable)":                      `target "consume": "durable" is not parameter=value`,
		"consume(durable=true":                  `target "consume": durable: the closing parenthesis is missing`,
		"consume(durable=true)x":                `unexpected "x"`,
		"consume(for=10s)":                      `a target takes no duration`,
		"consume(expires=500ms)":                `expires="500ms": nats.go takes 1s and more`,
		"consume(heartbeat=100ms)":              `heartbeat="100ms": nats.go takes 500ms to half of expires, which is 15s here`,
		"messages(expires=2s,heartbeat=1500ms)": `half of expires, which is 1s here`,
		"messages(max-wait=0s)":                 `target "messages": max-wait="0s"`,
		"fetch(batch=0)":                        `target "fetch": batch="0"`,
		"fetch(batch=1000000)":                  `batch="1000000": at most 10000`,
	} {
		_, err := Parse(text)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"orderd-consume": "ordered-consume", "messages(maxwait=1s)": "max-wait", "legacy": "legacy-ordered"} {
		_, err := Parse(text)
		var wrong *Error
		if !errors.As(err, &wrong) || !slices.Contains(wrong.Suggestions(), want) {
			t.Errorf("%q: %v suggests %v, want %s", text, err, wrong.Suggestions(), want)
		}
	}
}

// Each kind is described, with what it takes.
func TestEntries(t *testing.T) {
	var names []string
	for _, e := range Entries() {
		names = append(names, e.Name)
		if e.Words == "" || e.peer != nil {
			t.Errorf("%s: %+v", e.Name, e)
		}
		for _, p := range e.Parameters {
			if p.Words == "" {
				t.Errorf("%s does not say what %s is", e.Name, p.Name)
			}
			if p.Default == "" {
				continue
			}
			if _, err := Parse(e.Name + "(" + p.Name + "=" + p.Default + ")"); err != nil {
				t.Errorf("its own default: %v", err)
			}
		}
	}
	if want := append(Names(), "exec:CMD"); !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func TestIDOf(t *testing.T) {
	long := strings.Repeat("x", 3*MaxID)
	for payload, want := range map[string]string{
		"": "", " \t\r\n": "", "w-1": "w-1", "w-1\r": "w-1", "  w-1 filled up": "w-1", "w-1\x00": "w-1\x00", long: long[:MaxID+1],
	} {
		if got := IDOf([]byte(payload)); got != want {
			t.Errorf("%q: %q, want %q", shortened(payload, 20), shortened(got, 20), want)
		}
	}
}
