package session

import "time"

// toServer is what the client sends: lost with the connection, late while the
// server is frozen.
func (w *world) toServer(do func()) {
	epoch := w.epoch
	w.at(w.now+wire, func() {
		if w.frozen > w.now {
			w.at(w.frozen, func() {
				if epoch == w.epoch {
					do()
				}
			})
			return
		}
		if epoch == w.epoch {
			do()
		}
	})
}

func (w *world) toClient(do func()) {
	epoch := w.epoch
	w.at(w.now+wire, func() {
		if epoch == w.epoch && w.up {
			do()
			w.perform()
		}
	})
}

func (w *world) request(e Effect) {
	w.requests++
	w.open[e.Request] = true
	w.m.Sent(w.now, e.Request)
	if w.apiDown > w.now {
		return
	}
	w.toServer(func() {
		a, ok := Answer{Err: &APIError{503, 10008, "JetStream system temporarily unavailable"}}, true
		if w.apiError <= w.now {
			a, ok = w.server.api(e)
		}
		if !ok || w.apiLost > w.now {
			return
		}
		w.toClient(func() {
			if w.open[e.Request] {
				delete(w.open, e.Request)
				w.note("answer %d %v", e.Request, a.Err)
				w.m.Answer(w.now, e.Request, a)
			}
		})
	})
}

// disconnect cuts the connection; a server that is not told goes on sending into
// the void until it notices.
func (w *world) disconnect(d time.Duration, told bool) {
	if !w.up {
		return
	}
	w.note("FAULT disconnected for %v told=%v", d, told)
	w.up = false
	w.epoch++
	if told {
		w.server.interest = map[int]bool{}
	}
	for a := range w.draining {
		delete(w.clientOn, a) // a drain is not taken up again
	}
	w.m.Disconnected(w.now)
	w.perform()
	w.at(w.now+d, func() {
		w.note("connected again")
		w.up = true
		w.epoch++
		w.server.interest = map[int]bool{}
		for a := range w.clientOn {
			w.server.interest[a] = true
		}
		w.m.Reconnected(w.now)
		w.perform()
	})
}
