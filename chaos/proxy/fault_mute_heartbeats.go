package proxy

var muteHeartbeats = Entry{
	Name:  "mute-heartbeats",
	Where: "to the client, status 100 Idle Heartbeat",
	Words: "idle heartbeats are lost, messages and all other statuses arrive",
	Undo:  "heartbeats arrive again",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Words: "heartbeats to an inbox that matches this"},
	}, frameSelection...),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		return &statusDropper{
			selection: newSelection(a), subject: argument[pattern](a, "subject"), code: heartbeatCode, text: heartbeatText,
		}, nil
	},
}
