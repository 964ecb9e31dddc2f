package proxy

var dropStatus = Entry{
	Name:  "drop-status",
	Where: "to the client, status messages",
	Words: "statuses are lost: those with a code or a text, or without either all but idle heartbeats",
	Undo:  "statuses arrive again",
	Parameters: append([]Parameter{
		{Name: "code", Type: Count, Words: "statuses with this code, 100 to 999"},
		{Name: "text", Type: Name, Words: "statuses whose text is this; * stands for any characters"},
		{Name: "subject", Type: Subject, Words: "statuses to an inbox that matches this"},
	}, frameSelection...),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		d := &statusDropper{
			selection: newSelection(a), subject: argument[pattern](a, "subject"),
			code: int(min(argument[uint64](a, "code"), 1000)), text: argument[glob](a, "text"),
		}
		if a.has("code") && (d.code < 100 || d.code > 999) {
			return nil, a.wrong("code", "want 100 to 999")
		}
		return d, nil
	},
}

// statusDropper drops statuses. Without code and text it drops all but idle heartbeats.
type statusDropper struct {
	*selection
	subject pattern
	code    int
	text    glob
}

func (d *statusDropper) judge(_ *applied, f *flow, fr *frame) verdict {
	if fr.verb != HMSG || !d.covers(f.c, fr) || !d.subject.matches(string(fr.subject)) {
		return pass
	}
	code, text := statusOf(fr.headers)
	switch {
	case code == 0, d.code != 0 && code != d.code, !d.text.matches(string(text)):
		return pass
	case d.code == 0 && d.text == "" && code == heartbeatCode:
		return pass
	}
	if !d.fires() {
		return pass
	}
	return verdict{fate: Dropped}
}
