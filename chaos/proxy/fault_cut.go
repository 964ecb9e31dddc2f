package proxy

import "time"

var cutConnection = Entry{
	Name:       "cut",
	Where:      "whole connections",
	Words:      "the connection ends in order (FIN) towards the client and the server, between any two bytes",
	Undo:       "none: clients connect again",
	Once:       true,
	Parameters: []Parameter{connParameter},
	build: func(a *arguments) (effect, error) {
		return connectionCutter{conn: argument[glob](a, "conn")}, nil
	},
}

type connectionCutter struct{ conn glob }

func (x connectionCutter) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if c.named(x.conn) && c.cut() {
			c.ends(a)
		}
	}
}

// ends records that a fault ended the connection.
func (c *conn) ends(a *applied) {
	name, _ := c.know.name()
	c.p.fired(a, Frame{Time: time.Now(), Conn: c.id, Client: name, Fate: Dropped})
}
