//go:build !long

package reader_test

import (
	"testing"
	"time"
)

// With scaled clocks what counts is that every message is read, once and in order.
func TestThirteenFaults(t *testing.T) {
	t.Parallel()
	l := lengths{pace: 2 * time.Millisecond, before: 50, after: 250, api: 1500 * time.Millisecond, missing: 300 * time.Millisecond, denied: time.Second}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			o := under(t, f, hasty(quick()), l)
			t.Log(o)
			if o.lost+o.twice+o.disordered != 0 {
				t.Fatal(o)
			}
		})
	}
}
