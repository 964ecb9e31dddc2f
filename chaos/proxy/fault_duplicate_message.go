package proxy

var duplicateMessage = Entry{
	Name:       "duplicate-message",
	Where:      "to the client, JetStream deliveries",
	Words:      "a message that the server sends once arrives twice, one right behind the other: the next one, the nth, or the one with a stream sequence",
	Undo:       "messages arrive once",
	Parameters: deliveryParameters(),
	direction:  Down,
	build: func(a *arguments) (effect, error) {
		return &messageDoubler{newDeliveries(a)}, nil
	},
}

type messageDoubler struct{ *deliveries }

func (d *messageDoubler) judge(_ *applied, f *flow, fr *frame) verdict {
	if !d.means(f.c, fr) || !d.fires() {
		return pass
	}
	return verdict{fate: Passed, twice: true}
}
