package commands

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/run"
)

// foreignServer is the server of the connection flags, for plans that connect; nil:
// there is none. done ends what belongs to it.
func (p *program) foreignServer(c *cli.Context, w runPlan) (foreign *run.Foreign, done func(), err error) {
	if !w.connects() {
		return nil, func() {}, nil
	}
	s, err := p.settingsOf(c)
	if err != nil {
		return nil, nil, err
	}
	if w.timeout > 0 {
		s.timeout = min(s.timeout, connectTimeout)
	}
	journal, err := journalOf(c, s)
	if err != nil {
		return nil, nil, err
	}
	config, first, err := upstreamTLS(s)
	if err != nil {
		return nil, nil, err
	}
	login, err := loginOf(s)
	if err != nil {
		return nil, nil, err
	}
	foreign = &run.Foreign{
		Servers: withoutLogin(s.servers()), Login: login,
		Connect: func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
			return p.connectWith(ctx, s, options...)
		},
		JetStream: s.jetStream,
		Proxy:     proxy.Options{APIPrefix: s.context.JSAPIPrefix(), UpstreamTLS: config, UpstreamTLSFirst: first, Dial: s.dial()},
		Inside:    []nats.Option{plainInside},

		AllowServerFaults: c.Bool(flagAllowServerFaults), TargetName: c.String(flagTargetName), Journal: journal,
	}
	return foreign, func() { p.closeJournal(journal) }, nil
}

// connectTimeout bounds a connection where --timeout means another thing.
const connectTimeout = 5 * time.Second

// playJobs plays every job, a few at a time, and reports.
func (p *program) playJobs(ctx context.Context, w runPlan, foreign *run.Foreign, shown *metrics) error {
	for _, j := range w.jobs {
		if err := w.options(j, foreign, 0).Check(); err != nil {
			return err
		}
	}
	show := p.showProgress(w)
	defer show.end()
	show.say(fmt.Sprintf("seed %d", w.seed))
	began := time.Now()
	runs := make([]result.Run, len(w.jobs))
	var playing sync.WaitGroup
	free := make(chan struct{}, w.parallel)
	for i, j := range w.jobs {
		free <- struct{}{}
		playing.Go(func() {
			defer func() { <-free }()
			runs[i] = w.play(ctx, j, foreign, began, show, shown)
		})
	}
	playing.Wait()
	show.end()
	code := exitOfRuns(ctx, runs)
	if err := w.reports.write(p.stdout, runs); err != nil {
		if code == exitGood {
			return err
		}
		printError(p.stderr, explainError(err)) // what was found stays found
	}
	return outcome{code}
}

// play plays one job. One that is not to begin any more is told as a run that was not judged.
func (w runPlan) play(ctx context.Context, j job, foreign *run.Foreign, began time.Time, show *progressShow, shown *metrics) (r result.Run) {
	var watch *runWatch
	defer func() { watch.over(r) }()
	defer func() {
		if v := recover(); v != nil {
			r = unplayed(j, fmt.Sprintf("a panic: %v", v), exitCannotJudge)
			fmt.Fprintf(show.trace(), "plan %s, target %s: %v\n%s\n", j.plan.Name, j.target.Name(), v, debug.Stack()) //nolint:errcheck // there is nobody else to tell
		}
	}()
	watch = shown.begins(j)
	left, in := w.timeLeft(began)
	switch {
	case ctx.Err() != nil:
		return unplayed(j, "interrupted before it began", exitInterrupted)
	case !in:
		return unplayed(j, fmt.Sprintf("the %s of --%s were over before it began", w.timeout, flagTimeout), exitCannotJudge)
	}
	o := w.options(j, foreign, left)
	tell := show.told(j)
	o.Progress = func(p run.Progress) {
		watch.progress(p)
		tell(p)
	}
	o.Opened = watch.opened
	o.Stderr = show.stderr()
	o.Trace = show.trace()
	r, err := run.Run(ctx, o)
	if err != nil {
		r = unplayed(j, explainError(err).problem, exitCannotJudge)
	}
	r.Command = j.again
	show.over(j, r)
	return r
}

// unplayed is the result of a run that did not begin.
func unplayed(j job, why string, code int) result.Run {
	now := time.Now().UTC()
	text, _ := j.plan.YAML() // it was resolved, and so it can be written
	r := result.Run{
		Schema: result.Schema, Name: j.plan.Name, Title: j.plan.Title, Why: j.plan.Why, Plan: string(text), Seed: j.plan.Seed, Target: j.target.Name(),
		Server:  result.Server{Version: j.plan.Server.Version, Nodes: j.plan.Server.Nodes, Replicas: j.plan.Server.Replicas, Storage: string(j.plan.Server.Storage)},
		Command: j.again, Began: now, Ended: now, Expected: expectedOf(j), ExitCode: code, Error: why,
	}
	r.Verdict = oracle.Verdict{Finding: oracle.Unknown, MeasuredBy: oracle.ByIDs, Orphans: oracle.NotCounted, Doubts: []string{why}}
	r.Met = r.Expected == oracle.Unknown
	return r
}

func expectedOf(j job) oracle.Finding { return j.plan.Expected(j.target.Name()) }

// exitOfRuns is the exit code of all: an interrupt, then the worst finding.
func exitOfRuns(ctx context.Context, runs []result.Run) int {
	code := exitGood
	for _, r := range runs {
		switch {
		case ctx.Err() != nil || r.ExitCode == exitInterrupted:
			return exitInterrupted
		case r.Verdict.Finding == oracle.Broken:
			code = exitCritical
		case r.Verdict.Finding != oracle.Held && code == exitGood:
			code = exitCannotJudge
		}
	}
	return code
}

// printPlanned tells what a run would do.
func (p *program) printPlanned(w runPlan) error {
	if w.reports.stdout == report.JSON {
		return printPlannedJSON(p.stdout, w)
	}
	lines := &printer{out: p.stdout, gone: func() {}}
	lines.print("dry run: nothing is started")
	lines.print(fmt.Sprintf("seed: %d", w.seed))
	for _, j := range w.jobs {
		text, err := j.plan.YAML()
		if err != nil {
			return fmt.Errorf("plan %s: %w", j.plan.Name, err)
		}
		lines.print("")
		lines.print(fmt.Sprintf("# %s with target %s", j.plan.Name, j.target.Name()))
		for _, s := range j.plan.Words() {
			lines.print("# " + s.Head)
			for _, sentence := range s.Lines {
				lines.print("#   " + sentence)
			}
		}
		lines.print(string(text))
	}
	return nil
}
