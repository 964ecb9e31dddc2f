package proxy

import "time"

var dropMessage = Entry{
	Name:  "drop-message",
	Where: "to the client, JetStream deliveries",
	Words: "a message that the server counts as delivered is lost: the next one, the nth, the one with a stream sequence, or the last one before a quiet time (each message is held until the next shows that it was not the last)",
	Undo:  "messages arrive again; one that is held is passed on",
	Parameters: deliveryParameters(
		Parameter{Name: "last", Type: Duration, Words: "the last message of a subscription before it was quiet for so long"},
	),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		if a.has("last") {
			for _, other := range []string{"seq", "nth", "every"} {
				if a.has(other) {
					return nil, a.wrong("last", "it does not go with "+other)
				}
			}
		}
		return &messageDropper{deliveries: newDeliveries(a), last: argument[time.Duration](a, "last")}, nil
	},
}

type messageDropper struct {
	*deliveries
	last time.Duration
}

func (d *messageDropper) judge(a *applied, f *flow, fr *frame) verdict {
	if !d.means(f.c, fr) {
		return pass
	}
	if d.last == 0 {
		if d.fires() {
			return verdict{fate: Dropped}
		}
		return pass
	}
	f.free(string(fr.sid)) // what is held there was not the last
	if d.spent() {
		return pass
	}
	return verdict{fate: Held, due: time.Now().Add(d.last)}
}

// expire drops a held message: nothing followed it on its subscription for the quiet time.
func (d *messageDropper) expire(*applied, *parked) bool { return d.fires() }
