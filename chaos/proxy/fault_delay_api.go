package proxy

import "time"

var delayAPI = Entry{
	Name:  "delay-api",
	Where: "requests of the JetStream API on their way to the server, or answers on their way back",
	Words: "answers (or the requests themselves) are held back for a time; all else overtakes them",
	Undo:  "what is held goes on at once",
	Parameters: append([]Parameter{
		{Name: "delay", Type: Duration, Default: "1s", Words: "for how long"},
		{Name: "what", Type: Word, Default: "answer", Allowed: []string{"answer", "request"}, Words: "what is held: the answer to what the server has done, or the request"},
		{Name: "subject", Type: Subject, Words: "requests whose subject matches this: after the API prefix (CONSUMER.CREATE.>), or whole when it begins with $JS."},
		{Name: "pulls", Type: Bool, Default: "false", Words: "pulls (CONSUMER.MSG.NEXT) as well; they have no one answer, so with what=request only"},
	}, countSelection...),
	build: func(a *arguments) (effect, error) {
		d := &apiDelayer{
			selection: newSelection(a), subject: apiPattern{argument[pattern](a, "subject")},
			delay: argument[time.Duration](a, "delay"), pulls: argument[bool](a, "pulls"), way: Down,
		}
		if argument[string](a, "what") == "request" {
			d.way = Up
		}
		if d.pulls && d.way == Down {
			return nil, a.wrong("pulls", "it goes with what=request only")
		}
		return d, nil
	},
}

type apiDelayer struct {
	*selection
	subject apiPattern
	delay   time.Duration
	pulls   bool
	way     Direction
}

func (d *apiDelayer) direction() Direction { return d.way }

func (d *apiDelayer) judge(_ *applied, f *flow, fr *frame) verdict {
	request := fr.request
	if d.way == Up && fr.publication() {
		request = string(fr.subject)
	}
	if request == "" || !d.covers(f.c, fr) {
		return pass
	}
	operation, ok := apiRequest(request, f.c.know.apiPrefix)
	if !ok || (isPull(operation) && !d.pulls) || !d.subject.matches(request, operation) || !d.fires() {
		return pass
	}
	return verdict{fate: Held, due: time.Now().Add(d.delay), fires: true, loose: true}
}

// expire lets a frame go on whose time is over.
func (d *apiDelayer) expire(*applied, *parked) bool { return false }
