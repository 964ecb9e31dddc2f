package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Start runs a nats-server and returns when it is ready: /healthz says ok and
// the first JetStream request is answered. The error of a server that does not
// come up holds the server's own words. After an error nothing is left.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := newServer(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start nats-server: %w", err)
	}
	// Nobody else knows of s: its first start needs no turn.
	if err := s.firstLaunch(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start nats-server: %w", err), s.Close())
	}
	return s, nil
}

// newServer prepares all but the server process.
func newServer(ctx context.Context, o Options) (*Server, error) {
	if !mainCalled.Load() {
		return nil, ErrMainNotCalled
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	binary, err := serverBinary(o.ServerBin)
	if err != nil {
		return nil, err
	}
	held, err := holdPorts(o.Port)
	if err != nil {
		return nil, err
	}
	log := &tail{also: o.Log}
	hold, err := startKeeper(ctx, log)
	if err != nil {
		held.release()
		return nil, err
	}
	s := &Server{opts: o, binary: binary, hold: hold, log: log, ports: held, config: o.Config,
		turn: make(chan struct{}, 1)}
	s.life, s.close = context.WithCancel(context.Background())
	if err := s.prepareFolders(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) prepareFolders() error {
	s.storeDir = filepath.Join(s.hold.dir, tempStore)
	if s.opts.StoreDir != "" {
		var err error
		if s.storeDir, err = filepath.Abs(s.opts.StoreDir); err != nil {
			return fmt.Errorf("Options.StoreDir: %w", err)
		}
	}
	if err := os.MkdirAll(s.storeDir, 0o700); err != nil {
		return fmt.Errorf("make the store folder: %w", err)
	}
	if err := s.writeConfig(amended(s.config, s.amendments)); err != nil {
		return err
	}
	return writeFile(filepath.Join(s.hold.dir, mainConfig), s.mainText())
}

// mainText is the config file around the user's. What comes later in it wins:
// the user's text decides on JetStream, the lab on the place of the store. That
// these two are not flags has reasons: a flag for JetStream could not be
// overruled by a reload, and 2.10 forgets the flag for the store at a reload.
func (s *Server) mainText() string {
	var text strings.Builder
	if !s.opts.NoJetStream {
		text.WriteString("jetstream: enabled\n")
	}
	fmt.Fprintf(&text, "include %q\n", "./"+userConfig)
	fmt.Fprintf(&text, "store_dir: %q\n", s.storeDir)
	if s.opts.member != nil {
		text.WriteString(s.opts.member.config())
	}
	return text.String()
}

func (s *Server) writeConfig(text string) error {
	return writeFile(filepath.Join(s.hold.dir, userConfig), text)
}

// writeFile replaces a file as a whole: a server that reads it meanwhile never
// sees half.
func writeFile(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the server's config: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write the server's config: %w", err)
	}
	return nil
}

// arguments are the server's command line. These flags win over the config
// file, at every reload too.
func (s *Server) arguments() []string {
	return []string{
		"-c", filepath.Join(s.hold.dir, mainConfig),
		"-a", loopback,
		"-p", strconv.Itoa(s.ports.client.port),
		"-m", strconv.Itoa(s.ports.monitor.port),
	}
}

// firstLaunch may move to other ports: nobody knows them yet.
func (s *Server) firstLaunch(ctx context.Context) error {
	ctx, cancel := s.startLimit(ctx)
	defer cancel()
	for {
		err := s.launch(ctx)
		if s.opts.Port != 0 || s.opts.member != nil || !errors.Is(err, errPortTaken) {
			return err
		}
		held, holdErr := holdPorts(0)
		if holdErr != nil {
			return errors.Join(err, holdErr)
		}
		s.ports.release()
		s.ports = held
	}
}

// Start starts the stopped server again, on the same ports and the same store,
// and returns when it is ready. After an error it is stopped, as before.
func (s *Server) Start(ctx context.Context) error {
	return s.act(ctx, "start", func(ctx context.Context) error {
		if s.Running() {
			return ErrRunning
		}
		return s.relaunch(ctx)
	})
}

// Restart ends the server with TERM when it runs and starts it again, on the
// same ports and the same store; it returns when the server is ready.
func (s *Server) Restart(ctx context.Context) error {
	return s.act(ctx, "restart", func(ctx context.Context) error {
		if s.Running() {
			if err := s.end(ctx, "TERM"); err != nil {
				return err
			}
		}
		return s.relaunch(ctx)
	})
}

// relaunch insists on the ports, which clients know: a passing user of one is
// waited for.
func (s *Server) relaunch(ctx context.Context) error {
	ctx, cancel := s.startLimit(ctx)
	defer cancel()
	const pause = 100 * time.Millisecond
	for {
		err := s.launch(ctx)
		if !errors.Is(err, errPortTaken) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Server) startLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := s.opts.MaxStart
	if limit == 0 {
		limit = defaultMaxStart
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready after %s", limit))
}

// errPortTaken: somebody else listens on one of the server's ports.
var errPortTaken = errors.New("address already in use")

// launch starts the process and waits until it is ready, or leaves none.
func (s *Server) launch(ctx context.Context) error {
	s.setFrozen(false)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r, err := s.hold.startServer(s.binary, s.arguments())
	if err != nil {
		return fmt.Errorf("%s: %w", s.name(), err)
	}
	err = s.awaitReady(ctx, r)
	if err == nil {
		return nil
	}
	if errors.Is(err, errRunOver) {
		words := s.words(r.mark)
		if strings.Contains(words, errPortTaken.Error()) || strings.Contains(words, "Only one usage of each socket address") {
			return fmt.Errorf("%w: %s", errPortTaken, words)
		}
		return fmt.Errorf("%s ended before it was ready (%s): %s", s.name(), r.exit, words)
	}
	if killed := s.finish(context.WithoutCancel(ctx), r); killed != nil {
		err = errors.Join(err, killed)
	}
	return err
}

// finish kills a run and waits for its end.
func (s *Server) finish(ctx context.Context, r *run) error {
	if err := s.hold.signal(ctx, "KILL"); err != nil && !r.over() {
		return err
	}
	return s.awaitGone(ctx, r)
}

// name is what runs, for errors.
func (s *Server) name() string {
	if s.binary == "" {
		return "the embedded nats-server"
	}
	return s.binary
}
