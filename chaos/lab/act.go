package lab

import (
	"context"
	"errors"
	"fmt"
)

// act takes a turn and does one thing with the server process. Close ends it.
func (s *Server) act(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
	err := s.takeTurn(ctx, do)
	if err == nil {
		return nil
	}
	if s.life.Err() != nil && !errors.Is(err, ErrClosed) {
		// Close pulled the process away from under it: that is the reason.
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return fmt.Errorf("%s nats-server: %w", what, err)
}

func (s *Server) takeTurn(ctx context.Context, do func(context.Context) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.life.Err() != nil {
		return ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return do(ctx)
}
