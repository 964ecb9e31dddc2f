package plan

import (
	"fmt"
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

// at is when the nth repetition of a step with a time comes, from 0.
func (s Step) at(n int) time.Duration { return s.When.Time + time.Duration(n)*s.Every }

// last is when a step's last fault may be over, as far as it is known before the run.
func (p Plan) last(s Step) time.Duration {
	repeats := time.Duration(max(s.Count, 1)-1) * s.Every
	end := repeats + s.Length()
	switch s.When.Kind {
	case At:
		return s.When.Time + end
	case Drawn:
		return s.When.Until + end
	case Quiet:
		if n := s.When.Number; n >= 1 && n <= uint64(len(p.Quiet)) {
			return p.Quiet[n-1].From + end
		}
	}
	return s.When.After + end
}

// withNode is a fault's parameters with a node.
func withNode(params map[string]string, node string) map[string]string {
	with := map[string]string{"node": node}
	for name, value := range params {
		with[name] = value
	}
	return with
}

// olderThan says whether a version is older than major.minor; an empty one is not.
func olderThan(version string, major, minor int) bool {
	var a, b int
	if n, err := fmt.Sscanf(version, "%d.%d", &a, &b); n < 2 || err != nil {
		return false
	}
	return a < major || a == major && b < minor
}
