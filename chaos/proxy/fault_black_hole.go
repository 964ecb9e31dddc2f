package proxy

var blackHole = Entry{
	Name:  "black-hole",
	Where: "whole connections, new ones too",
	Words: "connections stay open and nothing moves: the proxy does not read, so bytes wait in the sender's buffers",
	Undo:  "everything that waits arrives",
	Parameters: []Parameter{
		connParameter,
		directionParameter,
		{Name: "new", Type: Bool, Default: "true", Words: "new connections too; false: only those that are open when it comes, so that a client that connects again gets through"},
	},
	build: func(a *arguments) (effect, error) {
		direction := argument[string](a, "direction")
		return &connectionHole{
			conn: argument[glob](a, "conn"), up: direction != Down.String(), down: direction != Up.String(),
			late: argument[bool](a, "new"),
		}, nil
	},
}

type connectionHole struct {
	conn     glob
	up, down bool
	late     bool // connections that come later, too
	seen     seenConns
}

func (h *connectionHole) join(a *applied, c *conn) {
	if a.over.Load() || !c.named(h.conn) || !h.late && c.id > a.latest {
		return
	}
	if h.up {
		c.up.gate(a, true)
	}
	if h.down {
		c.down.gate(a, true)
	}
	h.seen.first(a, c)
}

func (h *connectionHole) leave(a *applied, c *conn) {
	c.up.gate(a, false)
	c.down.gate(a, false)
}
