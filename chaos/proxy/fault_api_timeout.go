package proxy

var apiTimeout = Entry{
	Name:  "api-timeout",
	Where: "to the server, JetStream API requests",
	Words: "requests never reach the server and are never answered",
	Undo:  "requests reach the server again",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Words: "requests whose subject matches this: after the API prefix (CONSUMER.>), or whole when it begins with $JS."},
		{Name: "pulls", Type: Bool, Default: "false", Words: "pulls (CONSUMER.MSG.NEXT) as well"},
	}, countSelection...),
	direction: Up,
	build: func(a *arguments) (effect, error) {
		return &requestSwallower{
			selection: newSelection(a),
			subject:   apiPattern{argument[pattern](a, "subject")},
			pulls:     argument[bool](a, "pulls"),
		}, nil
	},
}

type requestSwallower struct {
	*selection
	subject apiPattern
	pulls   bool
}

func (s *requestSwallower) judge(_ *applied, f *flow, fr *frame) verdict {
	if !fr.publication() || !s.covers(f.c, fr) {
		return pass
	}
	subject := string(fr.subject)
	operation, ok := apiRequest(subject, f.c.know.apiPrefix)
	if !ok || (isPull(operation) && !s.pulls) || !s.subject.matches(subject, operation) || !s.fires() {
		return pass
	}
	return verdict{fate: Dropped}
}
