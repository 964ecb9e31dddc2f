package simulate

import "slices"

// Shrink drops steps and readers' whims of a failing plan for as long as it still
// breaks the same promise, and gives the shortest plan found with its failure.
func Shrink(p *Plan, f *Failure) (*Plan, *Failure) {
	fails := func(q *Plan) bool {
		g := Run(q)
		if g == nil || g.Promise != f.Promise {
			return false
		}
		p, f = q, g
		return true
	}
	for again := true; again; {
		again = false
		// Whole runs of steps first, then single ones.
		for n := len(p.Steps) / 2; n > 0; n /= 2 {
			for i := 0; i+n <= len(p.Steps); {
				if fails(p.without(i, n)) {
					again = true
					continue
				}
				i++
			}
		}
		for _, simpler := range simplifications {
			if q := p.copied(); simpler(q) && fails(q) {
				again = true
			}
		}
	}
	return p, f
}

// simplifications take one whim out of a plan; they say whether it was there.
var simplifications = []func(p *Plan) bool{
	func(p *Plan) bool { return drop(&p.Large) },
	func(p *Plan) bool { return drop(&p.MaxMessages) },
	func(p *Plan) bool { return drop(&p.MaxBatch) },
	func(p *Plan) bool { return drop(&p.MaxExpires) },
	func(p *Plan) bool { return drop(&p.MaxBytes) },
	func(p *Plan) bool { return drop(&p.MaxInactive) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.Slow) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.Filter) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.Memory) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.OnError) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.OnMissed) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.OnReset) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.StopAtEnd) }) },
	func(p *Plan) bool { return dropOfAll(p, func(r *Reader) bool { return drop(&r.Name) }) },
	func(p *Plan) bool {
		more := len(p.Readers) > 1
		p.Readers = p.Readers[:1]
		for i := range p.Steps {
			p.Steps[i].Reader = 0
		}
		return more
	},
}

// dropOfAll keeps the readers of one durable alike.
func dropOfAll(p *Plan, drop func(r *Reader) bool) (was bool) {
	for i := range p.Readers {
		was = drop(&p.Readers[i]) || was
	}
	return was
}

func drop[T comparable](v *T) bool {
	var zero T
	was := *v
	*v = zero
	return was != zero
}

func (p *Plan) copied() *Plan {
	q := *p
	q.Steps, q.Readers = slices.Clone(p.Steps), slices.Clone(p.Readers)
	return &q
}

func (p *Plan) without(i, n int) *Plan {
	q := p.copied()
	q.Steps = slices.Delete(q.Steps, i, i+n)
	return q
}
