package proxy

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	faults := append(Names(), "delete-consumer", "delete-stream", "pause-consumer", "fill-consumers", "kill-server", "stop-server")
	parameters := []string{"code", "text", "headers", "on", "subject", "conn", "nth", "every", "limit", "for"}
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"drop-msg", faults, "drop-message"},
		{"drop-mesage", faults, "drop-message"},
		{"drop_message", faults, "drop-message"},
		{"Drop-Message(nth=3)", faults, "drop-message"},
		{"drop-message nth=3", faults, "drop-message"},
		{"dropmessage", faults, "drop-message"},
		{"drop-sub", faults, "drop-subscription"},
		{"dup-msg", faults, "duplicate-message"},
		{"reorder", faults, "reorder-messages"},
		{"heartbeat", faults, "mute-heartbeats"},
		{"blackhole", faults, "black-hole"},
		{"delete", faults, "delete-consumer delete-stream"},
		{"del-cons", faults, "delete-consumer"},
		{"kill", faults, "kill-server"},
		{"kill-srv", faults, "kill-server"},
		{"stop-servers", faults, "stop-server"},
		{"puase-consumer", faults, "pause-consumer"},
		{"disconnect", faults, "cut"},
		{"forge-satus", faults, "forge-status"},
		{"status", faults, "drop-status forge-status"},
		{"cut", faults, "cut"},
		{"ctu", faults, "cut"},
		{"", faults, ""},
		{"a", []string{"thirteen-a-consumer-deleted", "field-consumer-reaped-behind-a-dead-link"}, ""},
		{"d", faults, ""},
		{"f2", []string{"thirteen-f2-one-slot-inbox-lost", "thirteen-f-one-slot"}, "thirteen-f2-one-slot-inbox-lost"},
		{"(nth=3)", faults, ""},
		{"x", faults, ""},
		{"lose-store", faults, ""},
		{"weather", faults, ""},
		{"status", parameters, "code"},
		{"nht", parameters, "nth"},
		{"duration", parameters, "for"},
		{"header", parameters, "headers"},
		{"sub", parameters, "subject"},
		{"sid", parameters, ""},
	} {
		if got := strings.Join(Nearest(c.word, c.known), " "); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	for word, means := range synonyms {
		for _, m := range means {
			known := slices.Contains(append(faults, "freeze-server", "first"), m)
			for _, e := range Catalogue() {
				known = known || m == durationField || e.parameter(m) != nil
			}
			if !known {
				t.Errorf("%s stands for %s, which is no fault or parameter", word, m)
			}
		}
	}
}
