package oracle

import (
	"strconv"
	"strings"
	"time"
)

// ID is the payload of a publisher's n-th message, from 1: "<writer>-<n>".
func ID(writer string, n uint64) string { return writer + "-" + strconv.FormatUint(n, 10) }

// maxID bounds what a stray payload can make the oracle remember.
const maxID = 1 << 28

func splitID(id string) (writer string, n uint64, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(id[i+1:], 10, 64)
	return id[:i], n, err == nil && n > 0 && n < maxID
}

// published is what became of one id.
type published struct {
	attempted    time.Time
	acknowledged time.Time // zero: never, so nobody knows whether it is stored
	sequence     uint64    // of the acknowledgement
	reads        int
	readAt       time.Time
	readSequence uint64
}

// writer is one publisher's ids in the order they were published. What is
// acknowledged and read is forgotten from the front, so that a long run does not
// grow without end.
type writer struct {
	base       uint64      // ids up to it are acknowledged, read, and forgotten
	sequence   uint64      // highest stream sequence among the forgotten
	ids        []published // id n at n-base-1
	highest    uint64      // read so far
	duplicated uint64
	disordered uint64
	keep       int          // ids to have before it is worth looking for done ones again
	waits      []deafPeriod // of forgotten ids that waited longer than a reader may be deaf
}

// forgetAt is how many ids are kept before those that are done are forgotten.
const forgetAt = 1 << 14

// at gives what is known of an id; nil: it is done and forgotten.
func (w *writer) at(n uint64) *published {
	if n <= w.base {
		return nil
	}
	for uint64(len(w.ids)) < n-w.base {
		w.ids = append(w.ids, published{})
	}
	return &w.ids[n-w.base-1]
}

// forget lets go of the ids at the front that are done.
func (w *writer) forget(allowed time.Duration) {
	if len(w.ids) < max(forgetAt, w.keep) {
		return
	}
	done := 0
	for done < len(w.ids) && w.ids[done].reads > 0 && !w.ids[done].acknowledged.IsZero() && !w.ids[done].attempted.IsZero() {
		p := &w.ids[done]
		w.sequence = max(w.sequence, p.readSequence)
		if wait := p.waited(); wait.to.Sub(wait.from) > allowed {
			w.waits = append(w.waits, wait)
		}
		done++
	}
	w.base += uint64(done)
	w.ids = append([]published(nil), w.ids[done:]...)
	w.keep = 2 * len(w.ids) // one that is never read must not make every look a long one
}

// waited is how long a stored message waited until it was read.
func (p *published) waited() deafPeriod {
	if p.reads == 0 || p.acknowledged.IsZero() || p.readAt.Before(p.acknowledged) {
		return deafPeriod{}
	}
	return deafPeriod{from: p.acknowledged, to: p.readAt}
}

// read counts one reading of an id. The same id under another stream sequence was
// stored twice; that is not the reader's doing and must be read as well.
func (w *writer) read(n uint64, d Delivery) {
	p := w.at(n)
	if p == nil {
		if d.Sequence <= w.sequence {
			w.duplicated++
		}
		return
	}
	p.reads++
	switch {
	case p.reads > 1 && p.readSequence == d.Sequence:
		w.duplicated++
	case p.reads == 1 && n < w.highest:
		w.disordered++
	}
	if p.reads == 1 {
		p.readAt, p.readSequence = d.Time, d.Sequence
	}
	w.highest = max(w.highest, n)
}

// lost counts acknowledged ids that were not read, and those of them whose loss
// is accounted for: told by the reader, or destroyed on purpose.
func (w *writer) lost(told []span, destroyed []destruction) (lost, accounted uint64) {
	for i := range w.ids {
		p := &w.ids[i]
		if p.acknowledged.IsZero() || p.reads > 0 {
			continue
		}
		if covered(told, p.sequence) || destroyedBy(destroyed, p) {
			accounted++
			continue
		}
		lost++
	}
	return lost, accounted
}

func (w *writer) unexpectedReads() (n uint64) {
	for i := range w.ids {
		if p := &w.ids[i]; p.reads > 0 && p.attempted.IsZero() {
			n++
		}
	}
	return n
}

// destruction is a fault that destroyed messages: those published between the
// destruction before and its own end, behind what the reader had accepted.
type destruction struct {
	after, until time.Time
	cursor       uint64
}

func destroyedBy(all []destruction, p *published) bool {
	for _, d := range all {
		if p.attempted.After(d.after) && p.attempted.Before(d.until) && p.sequence > d.cursor {
			return true
		}
	}
	return false
}

// span is a range of stream sequences, both ends included.
type span struct{ from, to uint64 }

func covered(spans []span, sequence uint64) bool {
	for _, s := range spans {
		if s.from <= sequence && sequence <= s.to {
			return true
		}
	}
	return false
}
