package oracle

import (
	"iter"
	"maps"
	"slices"
	"time"
)

// record is what became of one id. Times are nanoseconds of the Unix epoch; 0: never.
type record struct {
	attempted    int64
	acknowledged int64 // never: nobody knows whether it is stored
	sequence     uint64
	readAt       int64 // of one not read: when the first message behind it was read
	readSequence uint64
	read         bool
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// done says whether nothing more is to come of it that is no repetition.
func (r *record) done() bool { return r.attempted != 0 && r.acknowledged != 0 && r.read }

// waits says whether it is stored and not read.
func (r *record) waits() bool { return r.acknowledged != 0 && !r.read }

// passed is when a message behind it was read; 0: it was not passed over.
func (r *record) passed() int64 {
	if r.read {
		return 0
	}
	return r.readAt
}

// Records are kept in blocks. A block whose ids are all done is forgotten; one with few that are not keeps
// those alone, so that a lost message does not keep its neighbours.
const (
	blockSize  = 1 << 10
	sparseSize = 1 << 6
)

type block struct {
	records []record          // all of them; nil: it is sparse, or all are done
	sparse  map[uint64]record // by their place in the block
}

func (b *block) at(place uint64) (record, bool) {
	if b.records != nil {
		return b.records[place], true
	}
	r, kept := b.sparse[place]
	return r, kept
}

func (b *block) put(place uint64, r record) {
	switch {
	case b.records != nil:
		b.records[place] = r
	case r.done():
		delete(b.sparse, place)
	default:
		b.sparse[place] = r
	}
}

// settle keeps only what is not done, where that is little.
func (b *block) settle() {
	if b.records == nil {
		return
	}
	left := 0
	for i := range b.records {
		if !b.records[i].done() && b.records[i] != (record{}) {
			left++
		}
	}
	if left > sparseSize {
		return
	}
	sparse := make(map[uint64]record, left)
	for i, r := range b.records {
		if !r.done() && r != (record{}) {
			sparse[uint64(i)] = r
		}
	}
	b.records, b.sparse = nil, sparse
}

// store are the records of one writer by their numbers.
type store struct {
	blocks map[uint64]*block
	dense  []uint64            // blocks that may be settled yet
	gone   map[uint64]struct{} // blocks whose ids are all done
	newest uint64              // block
	look   uint64              // when newest comes to it the dense ones are looked through
}

// at gives the record of a number. forgotten: it is done, and no more is known.
func (s *store) at(n uint64) (r record, forgotten bool) {
	b := s.blocks[n/blockSize]
	if b == nil {
		_, forgotten = s.gone[n/blockSize]
		return record{}, forgotten
	}
	r, kept := b.at(n % blockSize)
	return r, !kept
}

// put keeps a record. In a block that was settled one that is done is forgotten.
func (s *store) put(n uint64, r record) {
	number := n / blockSize
	b := s.blocks[number]
	if b == nil {
		if s.blocks == nil {
			s.blocks, s.gone = map[uint64]*block{}, map[uint64]struct{}{}
		}
		if _, gone := s.gone[number]; gone {
			return
		}
		b = &block{records: make([]record, blockSize)}
		s.blocks[number] = b
		s.dense = append(s.dense, number)
		if s.newest = max(s.newest, number); s.newest >= s.look {
			s.settle()
		}
	}
	b.put(n%blockSize, r)
	if b.records == nil && len(b.sparse) == 0 {
		s.forget(number)
	}
}

func (s *store) forget(number uint64) {
	delete(s.blocks, number)
	s.gone[number] = struct{}{}
}

// settle looks through the dense blocks but the newest two. The more are left, the later it looks again.
func (s *store) settle() {
	s.dense = slices.DeleteFunc(s.dense, func(number uint64) bool {
		if number+1 >= s.newest {
			return false
		}
		b := s.blocks[number]
		b.settle()
		if b.records == nil && len(b.sparse) == 0 {
			s.forget(number)
		}
		return b.records == nil
	})
	s.look = s.newest + max(1, uint64(len(s.dense))/4)
}

// all gives the records that are kept, in the order of their numbers.
func (s *store) all() iter.Seq2[uint64, record] {
	return func(yield func(uint64, record) bool) {
		for _, number := range slices.Sorted(maps.Keys(s.blocks)) {
			b := s.blocks[number]
			for i, r := range b.records {
				if r != (record{}) && !yield(number*blockSize+uint64(i), r) {
					return
				}
			}
			for _, place := range slices.Sorted(maps.Keys(b.sparse)) {
				if !yield(number*blockSize+place, b.sparse[place]) {
					return
				}
			}
		}
	}
}
