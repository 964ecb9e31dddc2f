package chaos

import (
	"strings"
	"testing"
)

func TestCheckSchedule(t *testing.T) {
	for text, want := range map[string]string{
		"freeze-server@1s+1s kill-server@2s+1s":              "",
		"kill-server@2s+1s freeze-server@1s+1s":              "",
		"freeze-server@1s+2s kill-server@2s+1s":              "fault kill-server@2s+1s begins before the end of freeze-server@1s+2s, .*@3s",
		"kill-server@2s+1s freeze-server@1s+2s":              "fault kill-server@2s+1s begins before the end of freeze-server@1s+2s",
		"stop-server stop-server":                            "fault stop-server@0s+0s begins before the end of stop-server@0s+0s, .*@1s",
		"cut@1s cut@1s black-hole@1s+1s black-hole@1s+1s":    "",
		"freeze-server@1s+2s cut@2s delete-consumer@2s":      "",
		"freeze-server@1s kill-server@8s stop-server@5500ms": "fault stop-server@5.5s+0s begins before the end of freeze-server@1s+0s, .*@6s",
	} {
		var specs []Spec
		for word := range strings.FieldsSeq(text) {
			s, err := ParseSpec(word)
			if err != nil {
				t.Fatal(err)
			}
			specs = append(specs, s)
		}
		err := CheckSchedule(specs)
		got := ""
		if err != nil {
			got = err.Error()
		}
		before, after, _ := strings.Cut(want, ".*")
		if !strings.HasPrefix(got, before) || !strings.HasSuffix(strings.TrimSuffix(got, " or later"), after) || (got == "") != (want == "") {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
