package commands

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{
		"nth", "watch", "read", "delete-consumer", "ORDERS", "EVENTS", "count", "json", "last", "last-per-subject", "from", "format",
		"server", "seed", "user",
	}
	for _, test := range []struct {
		word string
		want []string
	}{
		{"nht", []string{"nth"}},
		{"wacth", []string{"watch"}},
		{"del", []string{"delete-consumer"}},
		{"ORDRES", []string{"ORDERS"}},
		{"orders", []string{"ORDERS"}},
		{"cuont", []string{"count"}},
		{"form", []string{"from", "format"}},
		{"fromm", []string{"from"}},
		{"lsat", []string{"last"}},
		{"seever", []string{"server"}},
		{"plan", nil},
		{"x", nil},
		{"la", nil},
		{"", nil},
		{"zzzzzz", nil},
	} {
		if got := nearest(test.word, known); !slices.Equal(got, test.want) {
			t.Errorf("nearest(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}
