package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Term sends SIGTERM, which shuts the server down in order (a waiting pull is
// answered 409 Server Shutdown), and returns when the process is gone.
func (s *Server) Term(ctx context.Context) error {
	return s.act(ctx, "stop", func(ctx context.Context) error { return s.end(ctx, "TERM") })
}

// Kill sends SIGKILL and returns when the process is gone; frozen or not.
func (s *Server) Kill(ctx context.Context) error {
	return s.act(ctx, "kill", func(ctx context.Context) error { return s.end(ctx, "KILL") })
}

// LameDuck sends SIGUSR2: the server takes no new client, gives its leaderships away, asks its clients to
// move, closes those that stay (lame_duck_duration and lame_duck_grace_period in Options.Config say how
// soon) and ends. LameDuck returns when the process is gone. Windows has no such signal, and an error says so.
func (s *Server) LameDuck(ctx context.Context) error {
	return s.act(ctx, "lame-duck", func(ctx context.Context) error { return s.end(ctx, "USR2") })
}

// end signals the running server and waits until it is gone.
func (s *Server) end(ctx context.Context, signal string) error {
	r := s.hold.current()
	if r == nil || r.over() {
		return ErrNotRunning
	}
	if s.Frozen() && signal != "KILL" {
		return ErrFrozen
	}
	if err := s.hold.signal(ctx, signal); err != nil && !r.over() {
		return err
	}
	return s.awaitGone(ctx, r)
}

func (s *Server) awaitGone(ctx context.Context, r *run) error {
	select {
	case <-r.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pid %d is still there: %w", r.pid, context.Cause(ctx))
	}
}

// Freeze sends SIGSTOP: the process stands still, its connections stay open and
// nothing is answered. On Linux it returns when every thread stands still.
// Windows has no such signal, and an error says so.
func (s *Server) Freeze() error {
	return s.act(context.Background(), "freeze", func(ctx context.Context) error {
		if !s.Running() {
			return ErrNotRunning
		}
		if s.Frozen() {
			return ErrFrozen
		}
		if err := s.hold.signal(ctx, "STOP"); err != nil {
			return err
		}
		s.setFrozen(true)
		return nil
	})
}

// Thaw sends SIGCONT to a frozen server, which goes on where it stood. On one
// that is not frozen it does nothing.
func (s *Server) Thaw() error {
	return s.act(context.Background(), "thaw", func(ctx context.Context) error {
		if !s.Running() {
			return ErrNotRunning
		}
		if err := s.hold.signal(ctx, "CONT"); err != nil {
			return err
		}
		s.setFrozen(false)
		return nil
	})
}

// storeName is the folder that nats-server makes in its store_dir, unless that
// has this name itself.
const storeName = "jetstream"

// LoseStore empties the JetStream store of the stopped server; ErrRunning while
// it runs. In a folder of Options.StoreDir only what nats-server keeps there,
// the folder "jetstream", is removed.
func (s *Server) LoseStore() error {
	return s.act(context.Background(), "lose the store of", func(context.Context) error {
		if s.Running() {
			return ErrRunning
		}
		dir := s.storeDir
		if filepath.Base(dir) != storeName {
			dir = filepath.Join(dir, storeName)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.MkdirAll(s.storeDir, 0o700)
	})
}

// Close kills the server, frozen or not, removes the temporary folder and frees
// the ports. It ends every method under way, which return ErrClosed, and
// returns when there is no process left. Calling it again returns the same.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.close()
		// Before the turn is taken: with the keeper gone nothing under way can wait
		// for it any more.
		err := s.hold.end()
		s.turn <- struct{}{} // never given back
		s.ports.release()
		if err != nil {
			s.closeErr = fmt.Errorf("close nats-server: %w", err)
		}
	})
	return s.closeErr
}
