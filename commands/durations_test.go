package commands

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1d": day, "1D12h": day + 12*time.Hour, "2w": 14 * day, "1M": 30 * day, "1y1d": 366 * day, "1.5d": 36 * time.Hour, "-1d": -day, "0": 0, "3µs": 3 * time.Microsecond,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1", "1x", "1d ", "1d-2h", "1e3d", "1000000y", "200y200y", "soon", "1dd"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	// What Go reads is read as Go does.
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64().Draw(t, "d"))
		if got, err := parseDuration(want.String()); err != nil || got != want {
			t.Fatalf("%s is %s, %v", want, got, err)
		}
	})
}
