package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
)

// injectServer makes a fault through the API of a live server, and undoes it.
func (p *program) injectServer(c *cli.Context, w injectPlan) error {
	env := &chaos.Environment{
		Stream: w.stream, Consumer: w.consumer,
		AllowServerFaults: c.Bool(flagAllowServerFaults), TargetName: c.String(flagTargetName),
	}
	if !w.dryRun { // which tells what is needed
		if err := env.Allow(w.fault); err != nil {
			return err
		}
	}
	s, err := p.settingsOf(c)
	if err != nil {
		return err
	}
	if env.Journal, err = journalOf(c, s); err != nil {
		return err
	}
	nc, err := p.connect(c.Context, s)
	if err != nil {
		return err
	}
	defer nc.Close()
	if env.JS, err = s.jetStream(nc); err != nil {
		return err
	}
	if err := aim(c.Context, env, w); err != nil {
		return err
	}
	if w.dryRun {
		would, err := env.Preview(c.Context, w.fault)
		if err != nil {
			return inFault(w, err)
		}
		return p.printDryRun(w, fmt.Sprintf("%s (nats-server %s)", withoutLogin(nc.ConnectedUrl()), nc.ConnectedServerVersion()), would)
	}
	defer p.closeJournal(env.Journal)
	return p.injectNow(c.Context, env, w)
}

// aim finds the stream, and the consumer where none is named.
func aim(ctx context.Context, env *chaos.Environment, w injectPlan) error {
	if _, err := env.JS.Stream(ctx, w.stream); errors.Is(err, jetstream.ErrStreamNotFound) {
		return streamNotFound(ctx, env.JS, w.stream, "check the name and the account", err)
	} else if err != nil {
		return fmt.Errorf("stream %s: %w", w.stream, err)
	}
	if w.entry.OnStream {
		return nil
	}
	if w.consumer != "" {
		return consumerThere(ctx, env, w)
	}
	ours, err := chaos.OursOn(ctx, env.JS, w.stream)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range ours {
		if _, filler := c.Config.Metadata[chaos.FillKey]; !filler {
			names = append(names, c.Name)
		}
	}
	switch len(names) {
	case 1:
		env.Consumer = names[0]
		return nil
	case 0:
		return usage{
			problem: fmt.Sprintf("stream %s has no consumer of ours", w.stream),
			hint:    fmt.Sprintf("name another: nats-reader inject %s %s CONSUMER --allow-server-faults", w.entry.Name, w.stream),
		}
	default:
		const shown = 5
		listed := strings.Join(names[:min(shown, len(names))], ", ")
		if len(names) > shown {
			listed += ", …"
		}
		return usage{problem: fmt.Sprintf("stream %s has %d consumers of ours: name one", w.stream, len(names)), hint: listed}
	}
}

// consumerThere tells a consumer that does not exist, with those that do. Where it
// cannot be looked for, the fault says why.
func consumerThere(ctx context.Context, env *chaos.Environment, w injectPlan) error {
	stream, err := env.JS.Stream(ctx, w.stream)
	if err != nil {
		return nil
	}
	if _, err = stream.Consumer(ctx, w.consumer); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil
	}
	const enough = 1000 // names to look at
	var names []string
	list := stream.ConsumerNames(ctx)
	for name := range list.Name() {
		if names = append(names, name); len(names) == enough {
			break
		}
	}
	otherwise := fmt.Sprintf("leave it out to aim at the one consumer of ours, or look with nats consumer ls %s", w.stream)
	if len(names) == 0 && list.Err() == nil {
		otherwise = fmt.Sprintf("stream %s has no consumer", w.stream)
	}
	return usage{
		problem: fmt.Sprintf("stream %s has no consumer %q (404/%d)", w.stream, w.consumer, codeConsumerNotFound),
		hint:    didYouMean(w.consumer, names, otherwise), cause: err,
	}
}

// injectNow makes the fault, waits for its end and undoes it.
func (p *program) injectNow(ctx context.Context, env *chaos.Environment, w injectPlan) error {
	lines := &printer{json: w.json, bare: true, out: p.stdout, gone: func() {}}
	runner, err := chaos.NewRunner(env, []chaos.Spec{w.fault}, func(f chaos.Firing) {
		if f.Phase != chaos.PhaseFailed { // told as the error it is
			lines.firing(f, -1)
		}
	})
	if err != nil {
		return err
	}
	runner.Run(ctx)
	if failed := runner.Failed(); len(failed) > 0 {
		return failed[0]
	}
	if ctx.Err() != nil {
		return outcome{exitInterrupted}
	}
	return nil
}

// inFault says which fault an error is about, where it does not say so itself.
func inFault(w injectPlan, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("fault %s: %w", w.fault.Fault(), err)
}
