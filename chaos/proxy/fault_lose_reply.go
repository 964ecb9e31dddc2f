package proxy

var loseReply = Entry{
	Name:  "lose-reply",
	Where: "to the client, answers of the JetStream API",
	Words: "the server does what a request asks and its answer is lost; pulls are not meant",
	Undo:  "answers arrive again",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Words: "answers to requests whose subject matches this: after the API prefix (CONSUMER.CREATE.>), or whole when it begins with $JS."},
	}, frameSelection...),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		return &replyLoser{selection: newSelection(a), subject: apiPattern{argument[pattern](a, "subject")}}, nil
	},
}

type replyLoser struct {
	*selection
	subject apiPattern
}

// judge goes by the exact reply subject of each request: many requests share one wildcard inbox.
func (l *replyLoser) judge(_ *applied, f *flow, fr *frame) verdict {
	if fr.request == "" || !l.covers(f.c, fr) {
		return pass
	}
	operation, _ := apiRequest(fr.request, f.c.know.apiPrefix)
	if !l.subject.matches(fr.request, operation) || !l.fires() {
		return pass
	}
	return verdict{fate: Dropped}
}
