package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	if err := e.checkNodes(s); err != nil {
		return err
	}
	if f.Layer == LayerReader {
		return e.checkReader(s)
	}
	refuse := func(why string) error { return refusal(s, why) }
	switch {
	case f.Layer == LayerWire && e.Proxy == nil:
		return refuse("it acts in the proxy, and this connection has none")
	case f.Layer == LayerProcess && !e.ownServer():
		return refuse("it acts on the process of the demo's own server: add --demo")
	case s.Name == "revoke-permission" && !e.ReaderUser:
		return refuse("the reader has no user of its own on this server")
	case e.ownServer() || f.Layer != LayerServer || !f.OnStream:
		return nil
	}
	var needs []string
	if !e.AllowServerFaults {
		needs = append(needs, allowFlag)
	}
	if f.Destructive && e.TargetName != e.Stream {
		needs = append(needs, targetFlag(e.Stream))
	}
	switch {
	case len(needs) == 0, e.wanting(needs...):
		return nil
	case e.AllowServerFaults:
		return refuse(fmt.Sprintf("--target-name %q is not the stream %q: %s permits it", e.TargetName, e.Stream, targetFlag(e.Stream)))
	case f.Destructive:
		return refuse("it destroys messages on a server that is not the demo's: " + allowFlag + " and " + targetFlag(e.Stream) + " permit it")
	default:
		return refuse("it acts on a stream that is not the demo's, and so on all who use it: " + allowFlag + " permits it")
	}
}

func refusal(s Spec, why string) error {
	return fmt.Errorf("fault %s: %w: %s", s.Name, ErrRefused, why)
}

// The flags that permit more.
const allowFlag = "--allow-server-faults"

func targetFlag(name string) string { return "--target-name " + name }

// wanting notes what a preview would need, in place of a refusal.
func (e *Environment) wanting(flags ...string) bool {
	if e.needs == nil {
		return false
	}
	for _, f := range flags {
		if !slices.Contains(*e.needs, f) {
			*e.needs = append(*e.needs, f)
		}
	}
	return true
}

// mayTouch says whether a consumer may be deleted or paused.
func (e *Environment) mayTouch(c *jetstream.ConsumerInfo) error {
	switch {
	case e.ownServer() || e.AllowServerFaults || Ours(c.Config), e.wanting(allowFlag):
		return nil
	case c.Config.Durable != "":
		return fmt.Errorf("%w: %s is a durable, which is never ours: %s permits it", ErrRefused, c.Name, allowFlag)
	default:
		return fmt.Errorf("%w: consumer %s carries no %s metadata: it is not ours: %s permits it", ErrRefused, c.Name, OwnerKey, allowFlag)
	}
}

// mayDelete says whether a consumer that may be touched may be deleted: a
// durable's place is lost with it.
func (e *Environment) mayDelete(c *jetstream.ConsumerInfo) error {
	if e.ownServer() || c.Config.Durable == "" || e.TargetName == c.Name || e.wanting(targetFlag(c.Name)) {
		return nil
	}
	return fmt.Errorf("%w: durable %s would lose its place for good: %s permits it", ErrRefused, c.Name, targetFlag(c.Name))
}

// OursOn lists the consumers of ours on a stream.
func OursOn(ctx context.Context, js jetstream.JetStream, stream string) ([]*jetstream.ConsumerInfo, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", stream, err)
	}
	return consumersOf(ctx, s, Ours)
}

// consumersOf lists the consumers whose configuration is chosen.
func consumersOf(ctx context.Context, s jetstream.Stream, chosen func(jetstream.ConsumerConfig) bool) ([]*jetstream.ConsumerInfo, error) {
	var found []*jetstream.ConsumerInfo
	list := s.ListConsumers(ctx)
	for info := range list.Info() {
		if chosen(info.Config) {
			found = append(found, info)
		}
	}
	if err := list.Err(); err != nil {
		return found, fmt.Errorf("consumers of stream %s: %w", s.CachedInfo().Config.Name, err)
	}
	return found, nil
}
