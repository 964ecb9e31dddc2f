package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Amend adds a text to the end of the config, where it wins over what came before,
// and has the server apply it: see Reload. The text is asked for whenever the config is
// written, one call at a time. undo takes it out again; texts of several calls are in force together. A stopped server has it from its next start on,
// and undo works on a stopped or frozen server too.
func (s *Server) Amend(ctx context.Context, text func() string) (undo func(context.Context) error, err error) {
	added := &text
	err = s.act(ctx, "reload", func(ctx context.Context) error {
		return s.amend(ctx, append(slices.Clone(s.amendments), added))
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return s.act(ctx, "reload", func(ctx context.Context) error {
			left := slices.DeleteFunc(slices.Clone(s.amendments), func(a *func() string) bool { return a == added })
			return s.amend(ctx, left)
		})
	}, nil
}

func (s *Server) amend(ctx context.Context, amendments []*func() string) error {
	if s.Running() && !s.Frozen() {
		err := s.reload(ctx, s.config, amendments)
		if !errors.Is(err, errRunOver) {
			return err
		}
	}
	// Whoever is not there to apply it reads it at the next start, or when it thaws.
	if err := s.writeConfig(amended(s.config, amendments)); err != nil {
		return err
	}
	s.amendments = amendments
	if s.Frozen() {
		return s.hold.signal(ctx, "HUP")
	}
	return nil
}

// amended is the whole text of the user's config file.
func amended(config string, amendments []*func() string) string {
	text := config
	for _, a := range amendments {
		text = strings.TrimSuffix(text, "\n") + "\n" + (*a)()
	}
	return text
}
