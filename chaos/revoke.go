package chaos

import (
	"context"
	"slices"
	"sync"
)

// revocations are the permissions that faults have taken away at the moment.
type revocations struct {
	mu    sync.Mutex
	specs []*Spec
}

// config denies all that is revoked: a later text about users replaces an earlier
// one as a whole, so that each revocation tells all of them.
func (r *revocations) config() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	specs := make([]Spec, len(r.specs))
	for i, s := range r.specs {
		specs[i] = *s
	}
	return userConfig(specs)
}

func (r *revocations) add(s *Spec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.specs = append(r.specs, s)
}

func (r *revocations) remove(s *Spec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.specs, s); i >= 0 {
		r.specs = slices.Delete(r.specs, i, i+1)
	}
}

// prepare makes an environment ready for faults to act on.
func (e *Environment) prepare() {
	if e.revoked == nil {
		e.revoked = &revocations{}
	}
}

// revoke takes a permission from the reader's user.
func (e *Environment) revoke(s Spec) onMachine {
	amend := amending(e.revoked.config)
	return onMachine{
		do: func(ctx context.Context, m machine) error {
			e.revoked.add(&s) // once for each server, and so it is removed
			err := amend.do(ctx, m)
			if err != nil {
				e.revoked.remove(&s)
			}
			return err
		},
		undo: func(ctx context.Context, m machine) error {
			e.revoked.remove(&s)
			return amend.undo(ctx, m)
		},
	}
}
