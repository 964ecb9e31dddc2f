package chaos

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func TestSpecPrintsAndParsesBack(t *testing.T) {
	for text, want := range map[string]string{
		"delete-consumer":                     "delete-consumer@0s+0s",
		"delete-consumer@3s":                  "delete-consumer@3s+0s",
		"kill-server@19s+1s":                  "kill-server@19s+1s",
		" drop-message(nth=3)@5s+0s ":         "drop-message(nth=3)@5s+0s",
		"drop-message( nth = 3 )@1m":          "drop-message(nth=3)@1m0s+0s",
		`drop-message(conn="a,b)@=\"c")@5s`:   `drop-message(conn="a,b)@=\"c")@5s+0s`,
		"api-timeout(for=3s)@11s":             "api-timeout@11s+3s",
		"api-timeout(for=3s)@11s+3s":          "api-timeout@11s+3s",
		"purge-stream(keep=3,subject=a.*)@1s": "purge-stream(keep=3,subject=a.*)@1s+0s",
		"recreate-stream(first=1000)@1s+2s":   "recreate-stream(first=1000)@1s+2s",
		"cut()@100ms":                         "cut@100ms+0s",
	} {
		s, err := ParseSpec(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.String(); got != want {
			t.Errorf("%q prints as %q, want %q", text, got, want)
		}
		again, err := ParseSpec(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q does not parse back: %v, %v", s, again, err)
		}
	}
}

func TestSpecRefusedByField(t *testing.T) {
	for text, field := range map[string]string{
		"":                               "",
		"delete-consumr@1s":              "",
		"delete-consumer@":               "@",
		"delete-consumer@x":              "@",
		"delete-consumer@-1s":            "@",
		"delete-consumer@1s+1s":          "+",
		"kill-server@1s+":                "+",
		"kill-server@1s+-1s":             "+",
		"kill-server(signal=9)@1s":       "signal",
		"purge-stream(keep=0)@1s":        "keep",
		"purge-stream(keep=1":            "keep",
		"purge-stream(keep)@1s":          "",
		"purge-stream(subject=)@1s":      "subject",
		"purge-stream(keep=1,keep=2)@1s": "keep",
		"api-timeout(for=3s)@1s+4s":      "+",
		"api-timeout(for=0s)@1s":         "for",
		"drop-message(nht=3)@1s":         "nht",
	} {
		_, err := ParseSpec(text)
		var fault *proxy.FaultError
		if !errors.As(err, &fault) {
			t.Errorf("%q: got %v, want a fault error", text, err)
			continue
		}
		if fault.Field != field {
			t.Errorf("%q: field %q in %q, want %q", text, fault.Field, err, field)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"cut@1s", `drop-message(conn="a,b",nth=3)@5s+1s`, "purge-stream(keep=1)@1s", "api-timeout(for=1s)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		// On the wire it is the proxy's fault, with a schedule behind it.
		if fault, schedule := splitSchedule(strings.TrimSpace(text)); schedule == "" {
			_, other := proxy.ParseFault(fault)
			name, _, _ := strings.Cut(fault, "(")
			if f, known := FindFault(strings.TrimSpace(name)); known && f.Layer == LayerWire && (other == nil) != (err == nil) {
				t.Errorf("%q: %v, and the proxy says %v", text, err, other)
			}
		}
		if err != nil {
			return
		}
		again, err := ParseSpec(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q prints as %q, which parses to %v, %v", text, s, again, err)
		}
	})
}

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Faults() {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Does == "" || f.Undo == "" || f.Where == "" || f.Layer == "" || f.Danger == "" {
			t.Errorf("%s lacks a part: %+v", f.Name, f)
		}
		if f.Reversible == f.Destructive {
			t.Errorf("%s must be reversible or destructive", f.Name)
		}
		if f.Once && f.Default > 0 {
			t.Errorf("%s acts once and has a duration", f.Name)
		}
	}
	for _, name := range []string{
		"drop-subscription", "api-timeout", "lose-reply", "drop-message", "cut", "half-open", "black-hole", "delete-consumer",
		"pause-consumer", "step-down-consumer", "step-down-stream", "fill-consumers", "purge-stream", "delete-stream", "recreate-stream", "stop-server", "kill-server", "freeze-server",
		"kill-node", "stop-node", "partition", "disable-jetstream", "revoke-permission", "lose-store",
	} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestLength(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"kill-server@1s": time.Second, "kill-server@1s+3s": 3 * time.Second, "delete-consumer@1s": 0, "api-timeout@1s": 0,
	} {
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Length(); got != want {
			t.Errorf("%s lasts %s, want %s", text, got, want)
		}
	}
}
