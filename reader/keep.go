package reader

import (
	"encoding/json"
	"time"
)

// defaultAckWait is the server's.
const defaultAckWait = 30 * time.Second

// noteDurable keeps the configuration of the durable as the server holds it, to
// make it again as it was, and begins to keep buffered messages in progress.
func (r *Reader) noteDurable(config json.RawMessage) {
	if r.cfg.Durable == "" || len(config) == 0 {
		return
	}
	var l consumerLimits
	if err := json.Unmarshal(config, &l); err != nil {
		return // decode has read it already
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.durable, r.ackWait = config, or(l.AckWait, defaultAckWait)
	if r.keep == nil && r.over == nil {
		r.keep = time.AfterFunc(r.ackWait/4, r.keepBuffered)
	}
}

// keepBuffered tells the server that messages which wait here for the caller
// longer than ack_wait/2 are not lost: it would send them again.
func (r *Reader) keepBuffered() {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over != nil {
		return
	}
	now := r.now()
	for _, waiting := range [][]Message{r.batch[r.at:], r.ready} {
		for i := range waiting {
			if m := &waiting[i]; now-m.arrived >= r.ackWait/2-r.ackWait/4 {
				m.arrived = now
				again := *m
				r.enqueue(job{run: func() { _ = again.InProgress() }}) // a lost one is a redelivery
			}
		}
	}
	r.keep.Reset(r.ackWait / 4)
}
