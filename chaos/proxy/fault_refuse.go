package proxy

import "time"

var refuse = Entry{
	Name:       "refuse",
	Where:      "new connections",
	Words:      "connections are closed as soon as they are accepted (RST), or, with conn, as soon as the client says its name; the Dialer refuses them. Open ones go on",
	Undo:       "connections are accepted again",
	Parameters: countSelection,
	build: func(a *arguments) (effect, error) {
		return &refuser{selection: newSelection(a)}, nil
	},
}

type refuser struct{ *selection }

// refuses tells whether a connection that nothing is known of is turned away.
func (r *refuser) refuses() bool { return r.conn == "" && r.fires() }

// join turns a connection away whose name is one that is meant.
func (r *refuser) join(a *applied, c *conn) {
	if r.conn == "" || c.id <= a.latest || a.over.Load() || c.state() != open || !c.named(r.conn) {
		return
	}
	if r.fires() && c.reset() {
		c.ends(a)
	}
}

func (r *refuser) leave(*applied, *conn) {}

// turnedAway records the connection attempt that a fault refuses, if one does.
func (p *Proxy) turnedAway() bool {
	p.mu.Lock()
	inForce := append([]*applied(nil), p.applied...)
	p.mu.Unlock()
	for _, a := range inForce {
		if r, ok := a.effect.(*refuser); ok && !a.over.Load() && r.refuses() {
			p.fired(a, Frame{Time: time.Now(), Fate: Dropped})
			return true
		}
	}
	return false
}
