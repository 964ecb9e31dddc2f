package proxy

import (
	"sync"
	"time"
)

var blackHole = Entry{
	Name:  "black-hole",
	Where: "whole connections, new ones too",
	Words: "connections stay open and nothing moves: the proxy does not read, so bytes wait in the sender's buffers",
	Undo:  "everything that waits arrives",
	Parameters: []Parameter{
		connParameter,
		{Name: "direction", Type: Word, Default: "both", Allowed: []string{"up", "down", "both"}, Words: "up stops what clients send, down what the server sends"},
	},
	build: func(a *arguments) (effect, error) {
		direction := argument[string](a, "direction")
		return &connectionHole{
			conn: argument[glob](a, "conn"), up: direction != Down.String(), down: direction != Up.String(),
			seen: make(map[*conn]struct{}),
		}, nil
	},
}

type connectionHole struct {
	conn     glob
	up, down bool

	mu   sync.Mutex
	seen map[*conn]struct{}
}

func (h *connectionHole) join(a *applied, c *conn) {
	if a.over.Load() || !c.named(h.conn) {
		return
	}
	if h.up {
		c.up.gate(a, true)
	}
	if h.down {
		c.down.gate(a, true)
	}
	h.mu.Lock()
	_, again := h.seen[c]
	h.seen[c] = struct{}{}
	h.mu.Unlock()
	if !again {
		name, _ := c.know.name()
		c.p.fired(a, Frame{Time: time.Now(), Conn: c.id, Client: name, Fate: Held})
	}
}

func (h *connectionHole) leave(a *applied, c *conn) {
	c.up.gate(a, false)
	c.down.gate(a, false)
}
