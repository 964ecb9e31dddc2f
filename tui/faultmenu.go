package tui

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
)

// manualLength is how long a fault lasts that is made by hand and has no length of its own.
const manualLength = 10 * time.Second

// faultKeys are the keys behind "!", by the fault's name.
var faultKeys = map[string]string{
	"drop-subscription": "b", "swallow-sub": "B", "api-timeout": "a", "lose-reply": "c", "api-error": "e", "delay-api": "z",
	"mute-heartbeats": "h", "drop-message": "g", "duplicate-message": "u", "reorder-messages": "o", "drop-status": "t",
	"forge-status": "T", "permission-denied": "n", "stale-connection": "i", "lame-duck": "m", "cut": "x", "reset": "k",
	"half-open": "w", "black-hole": "p", "latency": "l", "bandwidth": "v", "refuse": "f",
	"delete-consumer": "d", "pause-consumer": "P", "step-down-consumer": "j", "step-down-stream": "L", "fill-consumers": "F",
	"purge-stream": "S", "delete-stream": "X", "recreate-stream": "R",
	"stop-server": "q", "kill-server": "K", "freeze-server": "Z", "stop-node": "O", "kill-node": "N", "partition": "Y",
	"disable-jetstream": "J", "revoke-permission": "V", "lose-store": "W",
	"slow-reader": "s", "stalled-reader": "r", "freeze-reader": "E",
}

// menuEntry is a fault of the menu.
type menuEntry struct {
	chaos.Fault
	key string
}

// spec is the fault as a key makes it: at once, for its default length.
func (e menuEntry) spec() chaos.Spec {
	s := chaos.Spec{Name: e.Name}
	if !e.Once && e.Default == 0 {
		s.For = manualLength
	}
	return s
}

// lasts says for how long, in words.
func (e menuEntry) lasts() string {
	if e.Once {
		return "acts once"
	}
	return "for " + e.spec().Length().String()
}

// menu lists the catalogue in its order, with the keys.
func menu() []menuEntry {
	var all []menuEntry
	for _, f := range chaos.Faults() {
		all = append(all, menuEntry{f, faultKeys[f.Name]})
	}
	return all
}
