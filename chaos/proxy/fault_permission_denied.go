package proxy

import "strconv"

var permissionDenied = Entry{
	Name:  "permission-denied",
	Where: "to the server, PUB and SUB",
	Words: "publications and subscriptions never reach the server, which seems to refuse them: -ERR 'Permissions Violation for …'",
	Undo:  "they reach the server again; a subscription that was refused stays so until the client subscribes anew",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Default: "$JS.API.>", Words: "what is published to, or subscribed to, and matches this"},
		{Name: "verb", Type: Word, Default: "both", Allowed: []string{"publish", "subscribe", "both"}, Words: "what is refused"},
	}, countSelection...),
	direction: Up,
	build: func(a *arguments) (effect, error) {
		verb := argument[string](a, "verb")
		return &permissionDenier{
			selection: newSelection(a), subject: argument[pattern](a, "subject"),
			publish: verb != "subscribe", subscribe: verb != "publish",
		}, nil
	},
}

type permissionDenier struct {
	*selection
	subject            pattern
	publish, subscribe bool
}

func (d *permissionDenier) judge(_ *applied, f *flow, fr *frame) verdict {
	switch {
	case fr.publication() && d.publish:
	case fr.verb == SUB && d.subscribe:
	default:
		return pass
	}
	if !d.covers(f.c, fr) || !d.subject.matches(string(fr.subject)) || !d.fires() {
		return pass
	}
	text := "'" + violation(fr) + "'"
	f.after(func() {
		f.c.down.put(injection{data: []byte("-ERR " + text + "\r\n"), facts: Frame{Verb: ERR, Text: text}})
	})
	return verdict{fate: Dropped, answered: true}
}

// violation says as a server does what was refused. A verbose connection gets no +OK beside it.
func violation(fr *frame) string {
	subject := strconv.Quote(string(fr.subject))
	switch {
	case fr.verb != SUB:
		return "Permissions Violation for Publish to " + subject
	case len(fr.queue) > 0:
		return "Permissions Violation for Subscription to " + subject + " using queue " + strconv.Quote(string(fr.queue))
	default:
		return "Permissions Violation for Subscription to " + subject
	}
}
