package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/urfave/cli/v2"
)

// The exit codes. DESIGN: the code says what was found, not how it was found.
const (
	exitGood        = 0   // all went well; the contract held
	exitWarning     = 1   // something to look at
	exitCritical    = 2   // a deaf reader found, the contract broken
	exitCannotJudge = 3   // usage, no connection, stream missing, a crash of ours
	exitInterrupted = 130 // a signal; everything was undone
)

// program is what every command is given: the outside of the process.
type program struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	version string

	turnedAway atomic.Bool // it was told that the server refuses our login
}

// Main runs one command line, without the program's name, and returns the exit
// code of the process. The end of ctx is an interrupt. It never calls os.Exit.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, version string) (code int) {
	results := &output{to: stdout}
	p := &program{stdin: stdin, stdout: results, stderr: stderr, version: versionOf(version)}
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprint(stderr, redact(fmt.Sprintf("nats-reader: error: a bug of nats-reader: %v\n%s", v, debug.Stack())))
			code = exitCannotJudge
		}
	}()
	err := p.run(ctx, args)
	if failed := results.failure(); failed != nil {
		err = unwritten(failed, err)
	}
	if err == nil {
		return exitGood
	}
	if interrupted(ctx, err) {
		return exitInterrupted
	}
	var done outcome
	if errors.As(err, &done) {
		return done.code
	}
	printError(stderr, explainError(err))
	return exitCannotJudge
}

// unwritten is the end of a command whose results did not arrive: not a good one,
// unless nobody reads any more, who then has what was wanted.
func unwritten(failed, err error) error {
	var done outcome
	good := err == nil || errors.As(err, &done) && done.code == exitGood
	switch {
	case outputGone(failed) && (good || outputGone(err)):
		return nil
	case good:
		return failed
	default:
		return err
	}
}

// outcome is the end of a command that has told its result itself.
type outcome struct{ code int }

func (o outcome) Error() string { return fmt.Sprintf("exit code %d", o.code) }

// interrupted says whether a signal ended the command, not a fault of its own.
func interrupted(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	var done outcome
	return errors.Is(err, context.Canceled) || errors.As(err, &done) && done.code == exitInterrupted
}

func (p *program) run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == completeWord {
		return p.complete(ctx, args[1:])
	}
	args = withoutHelpWord(args)
	app := p.app()
	if asksForModel(args) {
		return p.introspect(app)
	}
	line, err := normalise(app, args)
	if err == nil {
		app.Metadata = map[string]any{givenFlags: line.given}
		err = readDurations(app.Commands)
	}
	if err == nil {
		err = app.RunContext(ctx, append([]string{app.Name}, line.args...))
	}
	return withHint(err, func() string { return typed(readUnfinished(p.app(), args, "").name) })
}

// app is the whole command line as a table.
func (p *program) app() *cli.App {
	commands := []*cli.Command{
		p.watchCommand(), p.readCommand(), p.chaosCommand(), p.proxyCommand(), p.injectCommand(), p.doctorCommand(), p.benchCommand(),
		p.explainCommand(), p.completionCommand(), p.manCommand(), p.versionCommand(),
	}
	for _, c := range leavesOf(commands) {
		c.command.Flags = append(c.command.Flags, connectionFlagsOf(c.name)...)
		// A stream may be called "help".
		c.command.HideHelpCommand = true
		c.command.OnUsageError = usageError
	}
	return &cli.App{
		Name:      "nats-reader",
		HelpName:  "nats-reader",
		Usage:     "an open reader reads: a JetStream reader that cannot go deaf",
		UsageText: "nats-reader COMMAND [FLAGS] [STREAM [FILTER...]]",
		Version:   p.version,
		Commands:  commands,
		// "help" is rewritten before the line is read.
		HideHelpCommand: true,
		Writer:          p.stdout,
		ErrWriter:       p.stderr,
		// A fault's parameters hold commas.
		DisableSliceFlagSeparator: true,
		// Only Main turns an error into an exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
	}
}

// usageError is what urfave/cli refuses by itself: a variable of the environment
// that its flag cannot hold.
func usageError(_ *cli.Context, err error, _ bool) error {
	return usage{problem: err.Error(), hint: "see nats-reader --help"}
}
