package proxy

import "sync"

var halfOpen = Entry{
	Name:       "half-open",
	Where:      "whole connections",
	Words:      "the connection ends (FIN) towards the client and stays open towards the server, which goes on sending into the void",
	Undo:       "the server's side of those connections is closed",
	Parameters: []Parameter{connParameter},
	build: func(a *arguments) (effect, error) {
		return &halfOpener{conn: argument[glob](a, "conn")}, nil
	},
}

type halfOpener struct {
	conn glob

	mu    sync.Mutex
	conns []*conn
}

func (h *halfOpener) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if !c.named(h.conn) || !c.halfOpen() {
			continue
		}
		h.mu.Lock()
		h.conns = append(h.conns, c)
		h.mu.Unlock()
		c.ends(a)
	}
	if a.over.Load() {
		h.stop(a)
	}
}

func (h *halfOpener) stop(*applied) {
	h.mu.Lock()
	conns := h.conns
	h.conns = nil
	h.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
}
