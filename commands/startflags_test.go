package commands

import (
	"strings"
	"testing"
	"time"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, text := range []string{"1h", "0s", "2026-01-31T11:00:00Z", "2026-01-31T12:00:00Z", "2026-01-29"} {
		if _, err := since(text, now); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, problem := range map[string]string{
		"-1h": "is in the future", "2026-01-31T12:00:01Z": "is in the future", "2027-01-01": "is in the future",
		"yesterday": "neither a duration nor a time", "": "neither a duration nor a time",
	} {
		if _, err := since(text, now); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: got %v, want %q", text, err, problem)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a.c", false}, {"a.*", "a.b", true}, {"a.>", "a.b.c", true}, {"a.>", "a", false},
		{"*.b", "a.*", true}, {">", "a", true}, {"a", "a.b", false}, {"a.*", "a.b.c", false}, {"a.b", "*.c", false},
	} {
		if got := overlap(test.a, test.b); got != test.want {
			t.Errorf("overlap(%q, %q) = %t", test.a, test.b, got)
		}
		if got := overlap(test.b, test.a); got != test.want {
			t.Errorf("overlap(%q, %q) = %t", test.b, test.a, got)
		}
	}
}

func TestCheckSubject(t *testing.T) {
	for _, good := range []string{"a", "a.b", "a.*", "a.>", ">", "*", "*.b"} {
		if err := checkSubject(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a..b", ".a", "a.", "a b", "a.>.b"} {
		if checkSubject(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
