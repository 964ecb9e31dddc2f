package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

const (
	flagUntilEnd = "until-end"
	flagCount    = "count"
	flagResume   = "resume"
	flagFormat   = "format"
	flagJSON     = "json"
	flagNull     = "null"
)

const readDescription = `Messages go to stdout, notes to stderr; the output is flushed whenever no
message waits. When nothing can be read for 10 seconds, stderr says so, and
when it goes on.

--resume FILE keeps the position: it is written at the start and, as a whole,
after the output was flushed, ten times a second at most. Reading again after
a kill goes on from it: what was written in the last 100 ms, and the batch of
up to 256 messages under way, comes again; none is left out (at least once).
Where the file exists it says where to start, and a start flag is for the
first time only.

--durable NAME reads on a durable consumer and takes its messages from
whoever else reads it. A message is acked after the output was flushed (at
least once). --until-end does not wait for messages that were handed out
earlier and are not acknowledged: their number is told.`

var readExamples = []example{
	{line: "nats-reader read ORDERS --until-end | wc -l", about: "what the stream holds", needs: needServer},
	{line: "nats-reader read ORDERS 'orders.eu.>' --new", about: "follow a part of it", needs: needServer, until: "order"},
	{line: "nats-reader read ORDERS --since 1h --count 10 --format json", about: "the first ten of the last hour, with sequence and subject", needs: needServer},
	{line: "nats-reader read ORDERS --resume state.json --until-end", about: "go on exactly where the last run stopped, also after kill -9", needs: needServer},
	{line: "nats-reader read ORDERS --durable worker --count 10", about: "take ten messages from the durable worker, and ack them", needs: needServer},
	{line: "nats-reader read PAYMENTS --last-per-subject --until-end --context prod", about: "the last of each subject, on the server of a natscli context", needs: needServer | needContext},
}

func (p *program) readCommand() *cli.Command {
	flags := []cli.Flag{
		boolFlag(flagUntilEnd, "", "end with the last message that is in the stream at the start"),
		&cli.Uint64Flag{Name: flagCount, Aliases: []string{"n"}, Usage: "end after `N` messages", DefaultText: "no limit"},
		&cli.StringFlag{Name: flagResume, Usage: "keep the position in `FILE` and go on from it"},
		&cli.StringFlag{Name: flagFormat, Usage: "`raw|json|headers`: what of a message is written", Value: "raw", DefaultText: "raw"},
		boolFlag(flagJSON, "", "short for --format json"),
		boolFlag(flagNull, "", "end each message with NUL in place of a newline", "0"),
		metricsFlag(),
	}
	return &cli.Command{
		Name: "read", Usage: "write the messages of a stream to stdout, for pipes",
		ArgsUsage: "STREAM [FILTER...]", Description: readDescription,
		Flags:  append(append(flags, startFlags()...), readerFlags()...),
		Action: p.read,
	}
}

// reading is one run of the command read.
type reading struct {
	reader *reader.Reader
	out    *sink
	resume *resumeFile // nil: no position is kept
	limit  uint64      // messages to go; 0: no limit
	acks   bool        // a durable
	shown  *metrics    // nil: nobody is shown any
}

func (p *program) read(c *cli.Context) error {
	cfg, resume, err := readConfig(c, time.Now())
	if err != nil {
		return err
	}
	out, err := newSink(p.stdout, formatOf(c), c.Bool(flagNull))
	if err != nil {
		return err
	}
	s, err := p.settingsOf(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	shown, end, err := p.metricsOf(ctx, c)
	if err != nil {
		return err
	}
	defer end()
	// A pipe whose other end is gone ends us at once, not with the next message.
	unwatch := watchOutput(p.stdout, stop)
	defer unwatch()
	run := &reading{out: out, resume: resume, limit: c.Uint64(flagCount), acks: cfg.Durable != "", shown: shown}
	err = p.readAll(ctx, s, cfg, run)
	switch {
	case c.Context.Err() != nil:
		return context.Cause(c.Context)
	case ctx.Err() != nil:
		return nil // nobody reads the output any more
	default:
		return err
	}
}

// readAll connects, reads to the end, and leaves nothing on the server.
func (p *program) readAll(ctx context.Context, s settings, cfg reader.Config, run *reading) error {
	nc, err := p.connect(ctx, s)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := s.jetStream(nc)
	if err != nil {
		return err
	}
	notes := p.readNotes(s, cfg.WaitForStream)
	away := &outage{note: p.note}
	defer away.ends(false)
	cfg.Observer = func(e reader.Event) {
		notes(e)
		away.follows(e)
		run.resume.moves(e)
	}
	if err := run.shown.observe("", &cfg); err != nil {
		return err
	}
	p.warnFilters(ctx, js, cfg.Stream, cfg.Subjects)
	if run.reader, err = openReader(ctx, s, js, cfg); err != nil {
		return err
	}
	if err := run.shown.add("", cfg, run.reader); err != nil {
		return errors.Join(err, closeReader(ctx, run.reader))
	}
	if run.acks {
		p.note("warning: messages of durable %s are acked here: nobody else gets them", cfg.Durable)
	}
	err = run.all(ctx, p)
	if run.acks && cfg.StopAtEnd && err == nil && ctx.Err() == nil {
		p.warnOutstanding(ctx, js, run.reader.Status().Stream, cfg.Durable)
	}
	if closing := closeReader(ctx, run.reader); closing != nil && err == nil {
		p.note("warning: %v: what is left on the server lapses by itself", closing)
	}
	return err
}

// readConfig reads all that can be wrong without a server.
func readConfig(c *cli.Context, now time.Time) (reader.Config, *resumeFile, error) {
	cfg, err := readerConfig(c)
	if err != nil {
		return cfg, nil, err
	}
	if cfg.Start, err = startOf(c, now); err != nil {
		return cfg, nil, err
	}
	if cfg.Stream, cfg.Subjects, err = streamArguments(c); err != nil {
		return cfg, nil, err
	}
	if c.IsSet(flagCount) && c.Uint64(flagCount) == 0 {
		return cfg, nil, usage{problem: "flag --count: 0 messages are none", hint: "leave --count out to read without a limit"}
	}
	cfg.StopAtEnd = c.Bool(flagUntilEnd)
	if cfg.StopAtEnd && cfg.OnMissed == reader.OnMissedSkip {
		return cfg, nil, usage{problem: "flags --until-end and --on-missed skip exclude each other"}
	}
	resume, err := resumeOf(c, &cfg)
	return cfg, resume, err
}

func formatOf(c *cli.Context) string {
	if c.Bool(flagJSON) {
		return "json"
	}
	return c.String(flagFormat)
}

// batchSize is how many messages are written before the output is looked at again.
const batchSize = 256

// all reads and writes until the end, the limit, an error, or the end of ctx. What
// was handed out is flushed in any case.
func (r *reading) all(ctx context.Context, p *program) error {
	if err := r.resume.begin(r.reader); err != nil {
		return err
	}
	buffer := make([]reader.Message, batchSize)
	for {
		n, err := r.next(ctx, buffer)
		if err == nil || n > 0 {
			if werr := r.write(buffer[:n], n == len(buffer)); werr != nil {
				return werr
			}
			if r.limit > 0 {
				if r.limit -= uint64(n); r.limit == 0 {
					return r.settle(true)
				}
			}
		}
		var failure *reader.RecoveryError
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			if err = r.settle(true); err == nil {
				err = r.reader.Err()
			}
			return endError(err)
		case errors.Is(err, errSaveDue):
			if err := r.settle(true); err != nil {
				return err
			}
		case errors.As(err, &failure) && r.reader.Err() == nil && ctx.Err() == nil:
			p.note("warning: %v: the reader goes on healing", failure) // --on-error raise
		default:
			return errors.Join(r.settle(true), err)
		}
	}
}

// endError drops what only says that the reader was closed or came to its end.
func endError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, reader.ErrClosed) {
		return nil
	}
	return err
}

// errSaveDue: the position has to be written before the next message.
var errSaveDue = errors.New("position due")

// next waits for messages, at most until the position must be written.
func (r *reading) next(ctx context.Context, buffer []reader.Message) (int, error) {
	if r.limit > 0 && uint64(len(buffer)) > r.limit {
		buffer = buffer[:r.limit]
	}
	if r.resume == nil {
		return r.reader.NextBatch(ctx, buffer)
	}
	wait, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	if !r.resume.waiting(wake) {
		return 0, errSaveDue
	}
	if due, pending := r.resume.due(); pending {
		limited, cancel := context.WithDeadlineCause(wait, due, errSaveDue)
		defer cancel()
		wait = limited
	}
	n, err := r.reader.NextBatch(wait, buffer)
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		err = errSaveDue
	}
	return n, err
}

// write puts messages into the buffer of the output and, when nothing more waits,
// through to the other end.
func (r *reading) write(messages []reader.Message, more bool) error {
	for _, m := range messages {
		if err := r.out.write(m); err != nil {
			return err
		}
		if r.acks {
			r.out.unacked = append(r.out.unacked, m)
		}
	}
	if len(messages) > 0 {
		r.resume.reached(messages[len(messages)-1])
	}
	if more && !r.resume.overdue() {
		return nil
	}
	return r.settle(false)
}

// settle flushes the output, then acks and keeps what only now is safe.
func (r *reading) settle(now bool) error {
	if err := r.out.flush(); err != nil {
		return err
	}
	for _, m := range r.out.unacked {
		if err := m.Ack(); err != nil {
			return fmt.Errorf("ack of sequence %d: %w", m.Sequence, err)
		}
	}
	r.out.unacked = r.out.unacked[:0]
	if now || r.resume.overdue() {
		return r.resume.save(r.reader)
	}
	return nil
}

// readNotes tells on stderr what concerns the messages; with --trace every event.
// What ends Open is told by its error; only a stream that is waited for is missing
// before the first session and no end.
func (p *program) readNotes(s settings, waits bool) func(reader.Event) {
	return func(e reader.Event) {
		switch e.Kind {
		case session.KindMissed, session.KindSkipped, session.KindStreamReset, session.KindMessageTooLarge, session.KindPaused:
			p.note("warning: %s", plainEvent(e))
			return
		case session.KindStreamMissing, session.KindPermissionDenied:
			if e.Session > 0 || waits && e.Kind == session.KindStreamMissing {
				p.note("warning: %s", plainEvent(e))
				return
			}
		}
		p.trace(s, "%s", plainEvent(e))
	}
}
