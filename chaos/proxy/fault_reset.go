package proxy

var resetConnection = Entry{
	Name:       "reset",
	Where:      "whole connections",
	Words:      "the connection is reset (RST) towards the client and the server, between any two bytes; what was on its way is lost",
	Undo:       "none: clients connect again",
	Once:       true,
	Parameters: []Parameter{connParameter},
	build: func(a *arguments) (effect, error) {
		return connectionResetter{conn: argument[glob](a, "conn")}, nil
	},
}

type connectionResetter struct{ conn glob }

func (r connectionResetter) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if c.state() == open && c.named(r.conn) && c.reset() {
			c.ends(a)
		}
	}
}
