package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// reloadFailed begins what every version of nats-server logs when it refuses a
// reloaded config.
const reloadFailed = "Failed to reload server configuration: "

// Reload replaces Options.Config, but not what Amend added, with another text, sends SIGHUP and returns
// when the server has applied it. When the server refuses it, the error holds
// the server's words and the config is the one before.
func (s *Server) Reload(ctx context.Context, config string) error {
	return s.act(ctx, "reload", func(ctx context.Context) error {
		if !s.Running() {
			return ErrNotRunning
		}
		if s.Frozen() {
			return ErrFrozen
		}
		return s.reload(ctx, config, s.amendments)
	})
}

// reload has the running server apply a text and its amendments, or leaves both as
// they were.
func (s *Server) reload(ctx context.Context, config string, amendments []*func() string) error {
	r := s.hold.current()
	before, err := s.varz(ctx)
	if err != nil {
		return err
	}
	if err := s.writeConfig(amended(config, amendments)); err != nil {
		return err
	}
	mark := s.log.mark()
	if err := s.hold.signal(ctx, "HUP"); err != nil {
		return err
	}
	err = poll(ctx, r, func() (bool, error) {
		if refusal, refused := after(s.log.since(mark), reloadFailed); refused {
			if err := s.writeConfig(amended(s.config, s.amendments)); err != nil {
				return false, err
			}
			return false, fmt.Errorf("the server refuses the config: %s",
				strings.ReplaceAll(refusal, s.hold.dir+"/", ""))
		}
		now, err := s.varz(ctx)
		// A varz that is late says nothing against the reload: ask again.
		return err == nil && now.ConfigLoadTime.After(before.ConfigLoadTime), nil
	})
	if err != nil {
		return err
	}
	s.config, s.amendments = config, amendments
	return nil
}

// after returns the rest of the line that follows words in a text, once the
// whole line is there.
func after(text, words string) (string, bool) {
	_, rest, found := strings.Cut(text, words)
	if !found {
		return "", false
	}
	line, _, whole := strings.Cut(rest, "\n")
	return strings.TrimSpace(line), whole
}

// SetConfig replaces Options.Config of the stopped server, for what a reload
// cannot change; the next start uses it. Amendments stay. ErrRunning while the server runs.
func (s *Server) SetConfig(config string) error {
	return s.act(context.Background(), "configure", func(context.Context) error {
		if s.Running() {
			return ErrRunning
		}
		if err := s.writeConfig(amended(config, s.amendments)); err != nil {
			return err
		}
		s.config = config
		return nil
	})
}

// Version asks the running server for its version, such as "2.15.3".
func (s *Server) Version(ctx context.Context) (string, error) {
	if !s.Running() {
		return "", fmt.Errorf("version of nats-server: %w", ErrNotRunning)
	}
	v, err := s.varz(ctx)
	if err != nil {
		return "", fmt.Errorf("version of nats-server: %w", err)
	}
	return v.Version, nil
}

// varz is what the lab reads of the endpoint of that name.
type varz struct {
	Version        string    `json:"version"`
	ConfigLoadTime time.Time `json:"config_load_time"`
	JetStream      struct {
		Config *struct{} `json:"config"` // nil: it is off
	} `json:"jetstream"`
}

func (s *Server) varz(ctx context.Context) (varz, error) {
	var v varz
	body, err := s.monitor(ctx, "/varz")
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("/varz: %w", err)
	}
	return v, nil
}
