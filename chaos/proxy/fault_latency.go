package proxy

import "time"

var latency = Entry{
	Name:  "latency",
	Where: "whole connections, new ones too",
	Words: "all bytes arrive later, in order; the rate is not limited",
	Undo:  "what is on its way arrives at once",
	Parameters: []Parameter{
		{Name: "delay", Type: Duration, Default: "100ms", Words: "for how long bytes are on their way, in each direction meant"},
		{Name: "jitter", Type: Duration, Words: "so much more or less, drawn for each read of the proxy; at most the delay"},
		directionParameter, connParameter,
	},
	build: func(a *arguments) (effect, error) {
		s := shape{delay: argument[time.Duration](a, "delay"), jitter: argument[time.Duration](a, "jitter")}
		if s.jitter > s.delay {
			return nil, a.wrong("jitter", "it is more than the delay")
		}
		return newShaper(a, s), nil
	},
}
