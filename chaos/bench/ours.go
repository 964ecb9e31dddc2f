package bench

import (
	"context"

	"github.com/an-open-reader/nats-reader/reader"
)

// batchRoom is how many messages a call of NextBatch has room for.
const batchRoom = 256

// envelope is what a message takes of Pull.MaxBytes beside its payload: subject and reply.
const envelope = 512

// open opens this module's reader.
func (r *reading) open(ctx context.Context) (*reader.Reader, error) {
	cfg := reader.Config{Stream: r.stream}
	if r.pulls == Equal {
		// As much room as the others take: they have no limit of bytes.
		cfg.Pull = reader.Pull{MaxMessages: r.batch, MaxBytes: r.batch * (r.size + envelope)}
	}
	opened, err := reader.Open(ctx, r.js, cfg)
	if err == nil {
		r.close = opened.Close
	}
	return opened, err
}

// taken takes one message of this module's reader, and says whether it is the last one.
func (r *reading) taken(ctx context.Context, m *reader.Message) bool {
	last := r.count(m.Data)
	if last || r.metadata {
		r.at(m.Sequence)
	}
	if r.each > 0 {
		r.do(ctx)
	}
	return last
}

func readNext(ctx context.Context, r *reading) error {
	opened, err := r.open(ctx)
	if err != nil {
		return err
	}
	for {
		m, err := opened.Next(ctx)
		if err != nil {
			return err
		}
		if r.taken(ctx, &m) {
			return nil
		}
	}
}

func readNextBatch(ctx context.Context, r *reading) error {
	opened, err := r.open(ctx)
	if err != nil {
		return err
	}
	room := make([]reader.Message, batchRoom)
	for {
		n, err := opened.NextBatch(ctx, room)
		if err != nil {
			return err
		}
		for i := range room[:n] {
			if r.taken(ctx, &room[i]) {
				return nil
			}
		}
	}
}

func readIterator(ctx context.Context, r *reading) error {
	opened, err := r.open(ctx)
	if err != nil {
		return err
	}
	for m, err := range opened.Messages(ctx) {
		if err != nil {
			return err
		}
		if r.taken(ctx, &m) {
			return nil
		}
	}
	return errEnded
}
