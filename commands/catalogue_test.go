package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
)

// wrongValues are values of each type that no parameter of it takes.
var wrongValues = map[proxy.Type][]string{
	proxy.Subject:  {"a b", "a..b", ".a", "a.>.b"},
	proxy.Count:    {"0", "-1", "1.5", "1e3", "many", "99999999999999999999"},
	proxy.Duration: {"0s", "-1s", "5", "5 s", "1001h", "soon"},
	proxy.Bool:     {"perhaps", "2"},
	proxy.Word:     {"sideways"},
}

// listed is the catalogue as inject --list, or chaos list, prints it.
func listed(t *testing.T, asJSON bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := printCatalogue(&b, asJSON); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every place that tells of a fault tells the same.
func TestCatalogueIsTheSameEverywhere(t *testing.T) {
	var doc struct {
		Faults []faultEntryJSON `json:"faults"`
	}
	if err := json.Unmarshal(listed(t, true), &doc); err != nil {
		t.Fatal(err)
	}
	text := string(listed(t, false))
	faults := chaos.Faults()
	if len(doc.Faults) != len(faults) {
		t.Fatalf("%d faults are listed, want %d", len(doc.Faults), len(faults))
	}
	for i, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			j := doc.Faults[i]
			if j.Name != f.Name || j.Does != f.Does || j.Danger != f.Danger || j.Undo != f.Undo || j.Where != f.Where || j.Destructive != f.Destructive {
				t.Errorf("listed as %+v, want %+v", j, f)
			}
			for _, words := range []string{f.Does, f.Danger, f.Undo, f.Where, string(f.Layer)} {
				if words == "" {
					t.Errorf("something is not said: %+v", f)
				}
			}
			// The text lists what the document does, and so does explain.
			found := slices.DeleteFunc(lookUp(entries(), f.Name), func(e entry) bool { return e.Topic != topicFault })
			if len(found) != 1 {
				t.Fatalf("explained as %+v", found)
			}
			told := found[0].Means + found[0].Reader + found[0].Do
			_, section, _ := strings.Cut(text, "\n"+f.Name+"\n")
			if f.Destructive {
				_, section, _ = strings.Cut(text, "\n"+f.Name+"  (destructive)\n")
			}
			section, _, _ = strings.Cut(section, "\n\n")
			for _, words := range []string{f.Does, f.Danger, f.Undo, f.Where} {
				if !strings.Contains(oneLine(section), words) {
					t.Errorf("%q is not in\n%s", words, section)
				}
				if !strings.Contains(strings.ToLower(told), strings.ToLower(words)) {
					t.Errorf("%q is not in\n%s", words, told)
				}
			}
			var names []string
			for k, q := range f.Parameters {
				names = append(names, q.Name)
				if p := j.Parameters[k]; p.Name != q.Name || p.Words != q.Words || p.Type != string(q.Type) || p.Default != q.Default {
					t.Errorf("parameter %s is listed as %+v", q.Name, p)
				}
				if !strings.Contains(section, " "+q.Name+"=") || !strings.Contains(told, " "+q.Name+"=") {
					t.Errorf("parameter %s is not told everywhere", q.Name)
				}
			}
			if len(j.Parameters) != len(names) {
				t.Errorf("%d parameters are listed, want %q", len(j.Parameters), names)
			}
			// Its example is one, and another parameter is refused with those that there are.
			if _, err := chaos.ParseSpec(j.Example); err != nil {
				t.Errorf("example %s: %v", j.Example, err)
			}
			if !f.Once {
				names = append(names, "for")
			}
			_, err := chaos.ParseSpec(f.Name + "(weather=fine)")
			var wrong *proxy.FaultError
			if !errors.As(err, &wrong) || wrong.Field != "weather" || !slices.Equal(wrong.Allowed, names) {
				t.Errorf("a wrong parameter: %v, want it to allow %q", err, names)
			}
		})
	}
}

// Whatever is wrong with a parameter of any fault is said in one line that names it, with a hint, and by the control
// in the same words.
func TestWrongParametersOfEveryFault(t *testing.T) {
	client := controlOf(t)
	for _, f := range chaos.Faults() {
		for _, q := range f.Parameters {
			for _, value := range append([]string{""}, wrongValues[q.Type]...) {
				text := f.Name + "(" + q.Name + `="` + value + `")`
				_, err := chaos.ParseSpec(text)
				if err == nil {
					t.Errorf("%s is taken", text)
					continue
				}
				u := explainError(err)
				if !strings.Contains(u.problem, `fault "`+f.Name+`": `+q.Name) || u.hint == "" || strings.Contains(u.problem, "\n") {
					t.Errorf("%s: %s; %s", text, u.problem, u.hint)
				}
				if f.Layer != chaos.LayerWire {
					continue
				}
				_, err = client.Inject(t.Context(), text, 0)
				var answer *control.Error
				if !errors.As(err, &answer) || answer.Text != u.problem {
					t.Errorf("%s: the control says %v, want %s", text, err, u.problem)
				}
			}
		}
	}
}

// controlOf is a client of the control of a proxy in front of nothing.
func controlOf(t *testing.T) *control.Client {
	t.Helper()
	p, err := proxy.New("nats://127.0.0.1:1", proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() }) //nolint:errcheck // it gives none
	c := control.New(p, control.Options{})
	t.Cleanup(c.Close)
	server, err := c.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	client, err := control.NewClient(server.URL(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// The control takes every fault on the wire as it is listed, and says of any other that it is none of its own.
func TestControlTakesTheCatalogue(t *testing.T) {
	client := controlOf(t)
	for _, f := range chaos.Faults() {
		name := f.Name
		for _, q := range f.Parameters { // defaults may be written out
			if q.Default != "" {
				name = f.Name + "(" + q.Name + "=" + q.Default + ")"
				break
			}
		}
		made, err := client.Inject(t.Context(), name, 0)
		switch {
		case f.Layer == chaos.LayerWire && (err != nil || made.Once != f.Once || made.Fault != name):
			t.Errorf("%s: %+v, %v", name, made, err)
		case f.Layer != chaos.LayerWire:
			var answer *control.Error
			if !errors.As(err, &answer) || !strings.Contains(answer.Text, f.Name) || answer.Hint == "" {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
		_, err = client.Inject(t.Context(), f.Name+"(weather=fine)", 0)
		var answer *control.Error
		if !errors.As(err, &answer) || answer.Hint == "" {
			t.Errorf("%s with a wrong parameter: %v", f.Name, err)
		}
	}
}

// The demo takes every fault of the catalogue; one that cannot act there is refused with the reason.
func TestDemoTakesTheCatalogue(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]func(chaos.Fault) bool{
		"wire":    func(f chaos.Fault) bool { return f.Layer == chaos.LayerWire },
		"server":  func(f chaos.Fault) bool { return f.Layer == chaos.LayerServer && f.Name != "delete-stream" },
		"end":     func(f chaos.Fault) bool { return f.Name == "delete-stream" }, // no other finds anything after it
		"process": func(f chaos.Fault) bool { return f.Layer == chaos.LayerProcess && f.Name != "lose-store" },
		"reader":  func(f chaos.Fault) bool { return f.Layer == chaos.LayerReader && f.Name != "freeze-reader" },
		"store":   func(f chaos.Fault) bool { return f.Name == "lose-store" }, // the stream is gone behind it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := 100 * time.Millisecond
			args := []string{"watch", "--demo", "--json", "--wait-for-stream", "--retry-max", "500ms"}
			var names []string
			for _, f := range chaos.Faults() {
				if !part(f) {
					continue
				}
				if f.Clustered {
					refusedByDemo(t, f.Name)
					continue
				}
				text, step := f.Name+"@"+at.String(), 200*time.Millisecond
				if !f.Once {
					text += "+100ms"
				}
				if f.Layer != chaos.LayerWire {
					step = 2 * time.Second // a busy server needs its time
				}
				args, names, at = append(args, "--inject", text), append(names, f.Name), at+step
			}
			args = append(args, "--duration", (at + 3*time.Second).String())
			var stdout, stderr strings.Builder
			demo := exec.CommandContext(t.Context(), "nats-reader", args...) // urfave/cli keeps flags of its own for the whole process
			demo.Stdout, demo.Stderr = &stdout, &stderr
			if err := demo.Run(); err != nil {
				t.Errorf("%v\n%s%s", err, stdout.String(), stderr.String())
			}
			for _, name := range names {
				if !strings.Contains(stdout.String(), `"fault":"`+name+"@") {
					t.Errorf("%s did not fire", name)
				}
			}
			if strings.Contains(stdout.String(), `"phase":"failed"`) {
				t.Errorf("a fault failed:\n%s", stdout.String())
			}
		})
	}
}

func refusedByDemo(t *testing.T, fault string) {
	t.Helper()
	var stderr strings.Builder
	demo := exec.CommandContext(t.Context(), "nats-reader", "watch", "--demo", "--inject", fault+"@1s")
	demo.Stderr = &stderr
	_ = demo.Run() // its exit code is looked at
	code := demo.ProcessState.ExitCode()
	if want := fault + " needs a cluster"; code != exitCannotJudge || !strings.Contains(stderr.String(), want) {
		t.Errorf("%s: code %d, %q, want %q", fault, code, stderr.String(), want)
	}
}
