package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/an-open-reader/nats-reader/chaos"
)

// names are those of a stream that is read.
type names struct{ stream, subject string }

const (
	removeLimit = 10 * time.Second
	// What is sent at most before the server has stored it.
	fillMessages = 2000
	fillBytes    = 8 << 20
	fillSilence  = time.Minute // that the server may take for as much
	// stored is what a message takes in the store beside payload and subject, at most.
	stored = 64
	// storedOnce is what a store takes beside its messages, at most.
	storedOnce = 1 << 20
)

// makeStream makes the stream of a load. It says to the server how much it will hold, so that one that has no room
// refuses it at once.
func (b *bench) makeStream(ctx context.Context, l Load) (s names, remove func() error, err error) {
	id := nuid.Next()
	s = names{stream: "BENCH-" + id, subject: "bench." + id}
	config := jetstream.StreamConfig{
		Name: s.stream, Subjects: []string{s.subject}, Storage: b.plan.storage(), Discard: jetstream.DiscardNew,
		MaxBytes: int64(l.Size+len(s.subject)+stored)*int64(l.Count) + storedOnce,
	}
	undo, err := chaos.MakeStream(ctx, b.js, config, b.server.Journal)
	if undo != nil {
		remove = func() error {
			if b.server.ended != nil && b.server.ended() {
				return nil // the store goes with it
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
			defer cancel()
			ctx, done := b.denied.guard(ctx, s.subject)
			defer done()
			if err := because(ctx, undo(ctx)); err != nil {
				return fmt.Errorf("stream %s is left: %w", config.Name, err)
			}
			return nil
		}
	}
	return s, remove, noRoom(because(ctx, err))
}

// ErrNoRoom: the server has no room for the stream.
var ErrNoRoom = errors.New("no room for the stream")

// noRoom marks an error that says so.
func noRoom(err error) error {
	var refused *jetstream.APIError
	if errors.As(err, &refused) && slices.Contains([]jetstream.ErrorCode{insufficientStorage, insufficientMemory, insufficientResources, accountLimit}, refused.ErrorCode) {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return err
}

// The err_codes of a server or an account that has no room for the bytes a stream asks for.
const (
	accountLimit          jetstream.ErrorCode = 10002
	insufficientResources jetstream.ErrorCode = 10023
	insufficientMemory    jetstream.ErrorCode = 10028
	insufficientStorage   jetstream.ErrorCode = 10047
)

// fill publishes the messages of a load, each with its number.
func (b *bench) fill(ctx context.Context, s names, l Load) error {
	window := min(l.Count, fillMessages, fillBytes/l.Size+1)
	payloads := make([]byte, window*l.Size) // an answer that is late has its message sent again
	for i := range payloads {
		payloads[i] = '.'
	}
	b.at = Progress{Load: l, Done: b.at.Done}
	silence := time.NewTimer(fillSilence)
	defer silence.Stop()
	answers := make([]jetstream.PubAckFuture, 0, window)
	for from := 0; from < l.Count; from += window {
		b.at.Filled = from
		b.tell()
		answers = answers[:0]
		for i := range min(window, l.Count-from) {
			payload := payloads[i*l.Size : (i+1)*l.Size]
			number(payload, uint64(from+i+1))
			answer, err := b.js.PublishAsync(s.subject, payload)
			if err != nil {
				return fmt.Errorf("fill stream %s: message %d: %w", s.stream, from+i+1, err)
			}
			answers = append(answers, answer)
		}
		silence.Reset(fillSilence)
		for i, a := range answers {
			n := uint64(from + i + 1)
			select {
			case ack := <-a.Ok():
				if ack.Sequence != n {
					return fmt.Errorf("fill stream %s: message %d was stored as %d: somebody else writes to it", s.stream, n, ack.Sequence)
				}
			case err := <-a.Err():
				return fmt.Errorf("fill stream %s: message %d: %w", s.stream, n, err)
			case <-silence.C:
				return fmt.Errorf("fill stream %s: message %d was not acknowledged within %s", s.stream, n, fillSilence)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}
