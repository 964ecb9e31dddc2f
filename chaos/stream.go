package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// runKey is the metadata key by which a stream that was made for one run is known again.
const runKey = "nats-reader.run"

// madeStream is the name of the journal's entry for such a stream.
const madeStream = "made-stream"

// MakeStream makes a stream for one run, on a server of others. It is in the journal
// before it is there, and until it is removed: chaos clear removes what a killed process
// has left. A stream of that name that exists is an error, and stays. remove is nil where
// there is nothing to remove; with an error it may not be.
func MakeStream(ctx context.Context, js jetstream.JetStream, config jetstream.StreamConfig, j *Journal) (remove func(context.Context) error, err error) {
	e := Entry{
		ID: nuid.Next(), Fault: "the stream of a run", Name: madeStream, Time: time.Now().UTC(), Stream: config.Name, Tag: nuid.Next(),
	}
	if config.Metadata == nil {
		config.Metadata = map[string]string{}
	}
	config.Metadata[runKey] = e.Tag
	switch _, err := js.Stream(ctx, config.Name); {
	case err == nil:
		return nil, fmt.Errorf("stream %s exists: a run makes its own and removes it at the end: name another", config.Name)
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, fmt.Errorf("stream %s: %w", config.Name, err)
	}
	if err := j.add(e); err != nil {
		return nil, err
	}
	remove = func(ctx context.Context) error {
		if err := e.Undo(ctx, js); err != nil {
			return fmt.Errorf("remove stream %s: %w", config.Name, err)
		}
		return j.remove(e.ID)
	}
	// A create that nobody answered may have been done.
	if _, err := js.CreateStream(ctx, config); err != nil {
		return remove, fmt.Errorf("make stream %s: %w", config.Name, err)
	}
	return remove, nil
}

// removeStream removes the stream of a run. One of that name that somebody else made
// meanwhile is theirs.
func (e *Entry) removeStream(ctx context.Context, js jetstream.JetStream) error {
	s, err := js.Stream(ctx, e.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.CachedInfo().Config.Metadata[runKey] != e.Tag {
		return nil
	}
	err = js.DeleteStream(ctx, e.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return err
}
