package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Place says which server a fault acts on, so that another process can find it.
// It holds no login.
type Place struct {
	Servers   string `json:"servers"`
	Context   string `json:"context,omitempty"` // of natscli, by name
	APIPrefix string `json:"api_prefix,omitempty"`
	Domain    string `json:"domain,omitempty"`
}

// Entry is all that is needed to undo one fault on a server, by this process or by
// another one later.
type Entry struct {
	ID       string    `json:"id"`
	Fault    string    `json:"fault"` // as it prints
	Name     string    `json:"name"`
	Time     time.Time `json:"time"`
	Until    time.Time `json:"until"` // when it was to end
	Place    Place     `json:"place"`
	Stream   string    `json:"stream"`
	Consumer string    `json:"consumer,omitempty"`

	PausedUntil *time.Time              `json:"paused_until,omitempty"` // how long the consumer was paused before
	Fill        string                  `json:"fill,omitempty"`         // the tag of the consumers that were made
	Config      *jetstream.StreamConfig `json:"config,omitempty"`       // of the stream that was deleted
	Tag         string                  `json:"tag,omitempty"`          // in the metadata of the stream that was made
}

func (e *Environment) entryOf(s Spec, until time.Time) *Entry {
	return &Entry{ID: nuid.Next(), Fault: s.Fault(), Name: s.Name, Time: time.Now().UTC(), Until: until.UTC(), Stream: e.Stream}
}

// Undo undoes the fault. What is gone needs no undoing, and doing it again is
// harmless.
func (e *Entry) Undo(ctx context.Context, js jetstream.JetStream) error {
	switch e.Name {
	case "pause-consumer":
		return e.resume(ctx, js)
	case "fill-consumers":
		return empty(ctx, js, e.Stream, e.Fill)
	case "recreate-stream":
		if e.Config == nil {
			return fmt.Errorf("the journal has no configuration of stream %s", e.Stream)
		}
		_, err := js.CreateStream(ctx, *e.Config)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil // somebody made it already
		}
		return err
	case madeStream:
		return e.removeStream(ctx, js)
	default:
		return fmt.Errorf("nobody knows how to undo fault %s", e.Fault)
	}
}

// resume ends the pause, or gives the consumer the longer one it had before. A
// pause that somebody made meanwhile is theirs.
func (e *Entry) resume(ctx context.Context, js jetstream.JetStream) error {
	info, err := consumerInfo(ctx, js, e.Stream, e.Consumer)
	if gone(err) {
		return nil // the reader has another meanwhile
	}
	if err != nil {
		return fmt.Errorf("consumer %s: %w", e.Consumer, err)
	}
	if until := info.Config.PauseUntil; info.Paused && until != nil && !until.Equal(e.Until) {
		return nil
	}
	switch {
	case e.PausedUntil != nil && e.PausedUntil.After(time.Now()):
		_, err = js.PauseConsumer(ctx, e.Stream, e.Consumer, *e.PausedUntil)
	case info.Paused:
		_, err = js.ResumeConsumer(ctx, e.Stream, e.Consumer)
	}
	if gone(err) {
		return nil
	}
	return err
}

// String says what is undone, in words.
func (e *Entry) String() string {
	switch e.Name {
	case "pause-consumer":
		return fmt.Sprintf("resume consumer %s of stream %s", e.Consumer, e.Stream)
	case "fill-consumers":
		return fmt.Sprintf("delete the consumers that fill stream %s", e.Stream)
	case "recreate-stream":
		return fmt.Sprintf("make stream %s again", e.Stream)
	case madeStream:
		return fmt.Sprintf("remove stream %s", e.Stream)
	default:
		return "undo " + e.Fault
	}
}
