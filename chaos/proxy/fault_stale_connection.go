package proxy

var staleConnection = Entry{
	Name:       "stale-connection",
	Where:      "whole connections",
	Words:      "the server seems to give the client up as stale: -ERR 'Stale Connection' and the end (FIN), towards the server too",
	Undo:       "none: clients connect again",
	Once:       true,
	Parameters: []Parameter{connParameter},
	direction:  Down,
	build: func(a *arguments) (effect, error) {
		return connectionStaler{conn: argument[glob](a, "conn")}, nil
	},
}

const staleText = "'Stale Connection'"

type connectionStaler struct{ conn glob }

func (s connectionStaler) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if c.state() != open || !c.named(s.conn) {
			continue
		}
		c.down.put(injection{
			data: []byte("-ERR " + staleText + "\r\n"), facts: Frame{Verb: ERR, Text: staleText}, by: a,
			then: func() { c.cut() },
		})
	}
}
