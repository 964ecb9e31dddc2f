package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/bench"
)

// runBench measures, and tells what came of it.
func (p *program) runBench(c *cli.Context, w benchPlan) error {
	server, done, err := p.benchServer(c, w)
	if err != nil {
		return err
	}
	show := p.benchShow(w.quiet)
	r, err := bench.Run(c.Context, server, w.plan, show.told)
	show.end()
	err = errors.Join(err, done())
	r.Made.Program = p.version
	hideSecrets(r)
	if err != nil && !r.Measured() {
		return benchProblem(err, w)
	}
	if printing := printBench(p.stdout, w, r); printing != nil {
		return printing
	}
	switch {
	case c.Context.Err() != nil:
		p.note("interrupted: what was measured until then is told; the stream is removed")
		return outcome{exitInterrupted}
	case err != nil:
		return benchProblem(err, w)
	default:
		return outcome{exitOfBench(r)}
	}
}

// hideSecrets takes the secrets out of what readers and their connections said.
func hideSecrets(r bench.Result) {
	for _, s := range r.Series {
		for i := range s.Entries {
			e := &s.Entries[i]
			e.Stopped = redact(oneLine(e.Stopped))
			for k := range e.Readings {
				one := &e.Readings[k]
				one.Error = redact(oneLine(one.Error))
				for n := range one.Said {
					one.Said[n] = redact(oneLine(one.Said[n]))
				}
			}
		}
	}
}

// exitOfBench is the exit code of a whole bench: what was read wrongly, then what was not read.
func exitOfBench(r bench.Result) int {
	code := exitGood
	for _, s := range r.Series {
		for _, e := range s.Entries {
			if !e.Sound() {
				return exitCritical
			}
			if e.Stopped != "" {
				code = exitCannotJudge
			}
		}
	}
	return code
}

// benchProblem says what to do about what ended a bench.
func benchProblem(err error, w benchPlan) error {
	var payload *bench.PayloadError
	u := explainError(err)
	switch {
	case errors.As(err, &payload):
		u = usage{problem: fmt.Sprintf("flag --%s: %v", flagSize, err), hint: "choose smaller messages, or raise max_payload in the server's config", cause: err}
	case errors.Is(err, bench.ErrNoRoom):
		u.hint = fmt.Sprintf("lower --%s or --%s, or choose another --%s", flagCount, flagSize, flagStorage)
	}
	u.cause = err
	return u
}

// benchServer is where it is measured; done ends what belongs to it.
func (p *program) benchServer(c *cli.Context, w benchPlan) (bench.Server, func() error, error) {
	if !w.foreign {
		return bench.StartLab(c.Context, w.binary)
	}
	s, err := p.settingsOf(c)
	if err != nil {
		return bench.Server{}, nil, err
	}
	journal, err := journalOf(c, s)
	if err != nil {
		return bench.Server{}, nil, err
	}
	return bench.Server{
		Foreign: true, Journal: journal,
		Connect: func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
			return p.connectWith(ctx, s, append([]nats.Option{nats.Timeout(s.timeout)}, options...)...)
		},
		JetStream: s.jetStream,
		Legacy:    s.legacy,
	}, func() error { p.closeJournal(journal); return nil }, nil
}

// legacy gives the older JetStream API as the settings address it.
func (s settings) legacy(nc *nats.Conn) (nats.JetStreamContext, error) {
	options := []nats.JSOpt{nats.MaxWait(s.timeout)}
	switch {
	case s.context.JSAPIPrefix() != "":
		options = append(options, nats.APIPrefix(s.context.JSAPIPrefix()))
	case s.context.JSDomain() != "":
		options = append(options, nats.Domain(s.context.JSDomain()))
	}
	return nc.JetStream(options...)
}

// benchShow tells how far a bench is: on a terminal in one line that is written over and over, else in a line for each
// round. Nothing is drawn while a reader is measured.
type benchShow struct {
	*doctorShow
	note  func(string, ...any) // where there is no terminal; nil: nobody is told
	last  string
	began time.Time // of the first reading of a load
	first int       // readings before it
}

func (p *program) benchShow(quiet bool) *benchShow {
	s := &benchShow{doctorShow: p.doctorProgress(quiet)}
	if s.to == nil && !quiet {
		s.note = p.note
	}
	return s
}

func (s *benchShow) told(at bench.Progress) {
	head := fmt.Sprintf("%d x %d B", at.Load.Count, at.Load.Size)
	if at.Reader == "" {
		s.began = time.Time{}
		s.line(head+": filling the stream", fmt.Sprintf(", %d so far", at.Filled))
		return
	}
	if s.began.IsZero() {
		s.began, s.first = time.Now(), at.Done
	}
	more := fmt.Sprintf(": %s, %d of %d", at.Reader, at.Done, at.All)
	if left := timeLeftOf(s.began, at.Done-s.first, at.All-s.first); left > 0 {
		more += ", about " + left.String()
	}
	s.line(fmt.Sprintf("%s, %s, round %d", head, at.Pulls, at.Round), more)
}

// line tells where it is; more is for a terminal alone.
func (s *benchShow) line(text, more string) {
	s.write(text + more)
	if s.note != nil && text != s.last {
		s.note("%s", text)
	}
	s.last = text
}
