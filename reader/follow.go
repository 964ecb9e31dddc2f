package reader

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// follow does what the rules say; mu is held. What touches the reader's own state
// is done here, what calls nats.go goes to the worker, in order.
func (r *Reader) follow() {
	for _, e := range r.rules.Effects() {
		switch e.Do {
		case session.DoEvent:
			r.observe(e.Event)
		case session.DoAcceptHeld:
			r.acceptHeld(e.Attempt)
		case session.DoDropHeld:
			delete(r.held, e.Attempt)
		case session.DoOpened:
			r.start, r.born = e.Start, r.rules.Created()
			r.opened <- e.Err
		case session.DoReplaced:
			if c := r.wishes[e.Ticket]; c != nil {
				delete(r.wishes, e.Ticket)
				c <- e.Err
			}
		case session.DoRaise:
			r.raised = e.Err
			r.rouse()
		case session.DoEnd:
			r.finish(e.Err)
		case session.DoGiveBack:
			r.givesBack = true
			r.giveBackAll()
		case session.DoDone:
			r.quit = true
			for _, cancel := range r.cancels {
				cancel()
			}
			r.enqueue(job{run: func() {}}) // the worker settles behind its last job
		default:
			r.enqueue(job{effect: e})
		}
	}
	r.rearm()
}

// rearm sets the timer to the rules' next deadline; mu is held.
func (r *Reader) rearm() {
	at, ok := r.rules.Wake()
	if !ok || r.quit {
		return
	}
	if r.timed && r.timerAt <= at {
		return
	}
	r.timed, r.timerAt = true, at
	wait := max(at-r.now(), 0)
	if r.timer == nil {
		r.timer = time.AfterFunc(wait, r.tick)
		return
	}
	r.timer.Reset(wait)
}

func (r *Reader) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timed = false
	if r.quit {
		return
	}
	r.rules.Tick(r.now())
	r.follow()
}

// finish notes that nothing more will be accepted; mu is held. Closing forgets
// what is buffered, every other end hands it out first.
func (r *Reader) finish(err error) {
	if r.over != nil {
		return
	}
	r.over = endOf(err)
	r.ending.Store(true)
	if r.over == ErrClosed {
		r.closed.Store(true)
	}
	close(r.ended)
	go r.emptied()
	if r.keep != nil {
		r.keep.Stop()
	}
}
