package plan

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Spec is the step's fault as the runner of faults takes it: At is the step's time where
// that is known, For how long it lasts.
func (s Step) Spec() (chaos.Spec, error) {
	spec, err := chaos.ParseSpec(s.Fault)
	if err != nil {
		return chaos.Spec{}, err
	}
	if s.When.Timed() {
		spec.At = s.When.Time
	}
	if s.For > 0 {
		spec.For = s.For
	}
	return spec, nil
}

// Length is how long the step's fault lasts; 0: it acts once.
func (s Step) Length() time.Duration {
	spec, err := s.Spec()
	fault, known := chaos.FindFault(spec.Name)
	switch {
	case err != nil || !known || fault.Once:
		return 0
	case spec.Length() > 0:
		return spec.Length()
	default:
		return DefaultLength
	}
}

// DefaultLength is how long a fault lasts where neither its step nor the catalogue says.
const DefaultLength = 10 * time.Second
