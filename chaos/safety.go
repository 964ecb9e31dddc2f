package chaos

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrRefused marks a fault that the safety rules forbid here.
var ErrRefused = errors.New("refused")

// OwnerKey is the metadata key that every consumer a reader makes carries.
const OwnerKey = "nats-reader.owner"

// Ours says whether a consumer was made by a reader of nats-reader for itself: it
// carries the owner's metadata and is no durable.
func Ours(c jetstream.ConsumerConfig) bool {
	_, owned := c.Metadata[OwnerKey]
	return owned && c.Durable == ""
}

// Allow says whether the safety rules permit a fault here; the error wraps
// ErrRefused and says what would permit it. A consumer is looked at once more
// before it is touched.
func (e *Environment) Allow(s Spec) error {
	f, known := FindFault(s.Name)
	if !known {
		return s.Validate()
	}
	refuse := func(why string) error { return fmt.Errorf("fault %s: %w: %s", s.Name, ErrRefused, why) }
	switch {
	case f.Layer == LayerWire && e.Proxy == nil:
		return refuse("it acts in the proxy, and this connection has none")
	case f.Layer == LayerProcess && e.Lab == nil:
		return refuse("it acts on the process of the demo's own server: add --demo")
	case e.Lab != nil || f.Layer != LayerServer || !f.Destructive:
		return nil
	case !e.AllowServerFaults:
		return refuse("it destroys messages on a server that is not the demo's: --allow-server-faults and --target-name " + e.Stream + " permit it")
	case e.TargetName != e.Stream:
		return refuse(fmt.Sprintf("--target-name %q is not the stream %q", e.TargetName, e.Stream))
	default:
		return nil
	}
}

// mayTouch says whether a consumer may be deleted or paused.
func (e *Environment) mayTouch(c *jetstream.ConsumerInfo) error {
	if e.Lab != nil || e.AllowServerFaults || Ours(c.Config) {
		return nil
	}
	if c.Config.Durable != "" {
		return fmt.Errorf("%w: %s is a durable, which is never ours: --allow-server-faults permits it", ErrRefused, c.Name)
	}
	return fmt.Errorf("%w: consumer %s carries no %s metadata: it is not ours", ErrRefused, c.Name, OwnerKey)
}
