package oracle

// writer is one publisher's ids in the order in which they were published.
type writer struct {
	name   string
	store  store
	latest uint64 // attempted
	lowest uint64 // read; 0: none
	// highest is the highest number read, sequence the highest stream sequence of what was read.
	highest, sequence uint64
	// again are the stream sequences under which an id was read that is stored more than once.
	again map[uint64][]uint64
	// copies are the ids that may be stored more than once.
	copies copies
}

// repeats says whether one reading of an id is a repetition. The same id under another stream sequence was
// stored twice; that is not the reader's doing and must be read as well.
func (w *writer) repeats(n uint64, r record, forgotten bool, d Delivery) bool {
	if forgotten {
		return d.Sequence <= w.sequence
	}
	if !r.read {
		return false
	}
	for _, read := range w.again[n] {
		if read == d.Sequence {
			return true
		}
	}
	if r.readSequence == d.Sequence {
		return true
	}
	if w.again == nil {
		w.again = map[uint64][]uint64{}
	}
	w.again[n] = append(w.again[n], d.Sequence)
	return false
}

// read notes that an id was read for the first time, and which ones are passed over by that.
func (w *writer) read(n uint64, at int64, sequence uint64) {
	for i := w.highest + 1; i < n; i++ {
		if r, forgotten := w.store.at(i); !forgotten && r.attempted != 0 && !r.read {
			r.readAt = at
			w.store.put(i, r)
		}
	}
	if w.lowest == 0 {
		w.lowest = n
	}
	w.lowest = min(w.lowest, n)
	w.highest, w.sequence = max(w.highest, n), max(w.sequence, sequence)
}
