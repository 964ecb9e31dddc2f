package proxy

import "time"

var dropMessage = Entry{
	Name:  "drop-message",
	Where: "to the client, JetStream deliveries",
	Words: "a message that the server counts as delivered is lost: the next one, the nth, the one with a stream sequence, or the last one before a quiet time (each message is held until the next shows that it was not the last)",
	Undo:  "messages arrive again; one that is held is passed on",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Words: "messages whose subject matches this"},
		{Name: "seq", Type: Count, Words: "the message with this stream sequence"},
		{Name: "last", Type: Duration, Words: "the last message of a subscription before it was quiet for so long"},
	}, withDefault(frameSelection, "limit", "1 unless every is given")...),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		if a.has("last") {
			for _, other := range []string{"seq", "nth", "every"} {
				if a.has(other) {
					return nil, a.wrong("last", "it does not go with "+other)
				}
			}
		}
		d := &messageDropper{
			selection: newSelection(a), subject: argument[pattern](a, "subject"),
			seq: argument[uint64](a, "seq"), last: argument[time.Duration](a, "last"),
		}
		if d.limit == 0 && d.every == 0 {
			d.limit = 1
		}
		return d, nil
	},
}

type messageDropper struct {
	*selection
	subject pattern
	seq     uint64
	last    time.Duration
}

func (d *messageDropper) judge(a *applied, f *flow, fr *frame) verdict {
	if !fr.message() || !isAck(fr.reply) || !d.covers(f.c, fr) || !d.subject.matches(string(fr.subject)) {
		return pass
	}
	if d.seq != 0 {
		if ack, ok := parseAck(string(fr.reply)); !ok || ack.streamSequence != d.seq {
			return pass
		}
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
