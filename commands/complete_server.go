package commands

import (
	"context"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/urfave/cli/v2"
)

// How long somebody who pressed a key waits for a server, and how much is looked at.
const (
	completionTime = time.Second
	mostNames      = 1000
)

// atServer asks the server that the line names so far. Whatever fails there is silent:
// nothing is completed then.
func (p *program) atServer(ctx context.Context, u unfinished, ask func(context.Context, jetstream.JetStream)) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	app := p.app()
	args, given := u.connectionOnly()
	app.Metadata = map[string]any{givenFlags: given}
	for _, one := range leavesOf(app.Commands) {
		one.command.Action = func(c *cli.Context) error {
			s, err := p.settingsOf(c)
			if err != nil {
				return err
			}
			s.timeout = min(s.timeout, completionTime)
			nc, err := p.connect(ctx, s, nats.NoReconnect())
			if err != nil {
				return err
			}
			defer nc.Close()
			js, err := s.jetStream(nc)
			if err != nil {
				return err
			}
			ask(ctx, js)
			return nil
		}
	}
	_ = app.RunContext(ctx, slices.Concat([]string{app.Name, "read"}, args, []string{"--"})) // silent
}

// streamsOf are the names of the streams there.
func (p *program) streamsOf(ctx context.Context, u unfinished) (names []string) {
	p.atServer(ctx, u, func(ctx context.Context, js jetstream.JetStream) {
		for name := range js.StreamNames(ctx).Name() {
			if names = append(names, name); len(names) == mostNames {
				return
			}
		}
	})
	slices.Sort(names)
	return names
}

// consumersOf are the names of a stream's consumers, or of its durables.
func (p *program) consumersOf(ctx context.Context, u unfinished, stream string, durable bool) (names []string) {
	if stream == "" {
		return nil
	}
	p.atServer(ctx, u, func(ctx context.Context, js jetstream.JetStream) {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return
		}
		for one := range s.ListConsumers(ctx).Info() {
			if durable && one.Config.Durable == "" {
				continue
			}
			if names = append(names, one.Name); len(names) == mostNames {
				return
			}
		}
	})
	slices.Sort(names)
	return names
}

// subjectsOf are the subjects that a stream listens to, and some that it holds.
func (p *program) subjectsOf(ctx context.Context, u unfinished, stream string) (names []string) {
	if stream == "" {
		return nil
	}
	p.atServer(ctx, u, func(ctx context.Context, js jetstream.JetStream) {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return
		}
		names = append(names, s.CachedInfo().Config.Subjects...)
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
		if err != nil {
			return
		}
		for subject := range info.State.Subjects {
			if names = append(names, subject); len(names) == mostNames {
				return
			}
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
