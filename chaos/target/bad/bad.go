// Package bad makes a test's own executable read as badly as a test of the judge needs
// it: as a program outside, for the target exec:CMD.
//
//	func TestMain(m *testing.M) {
//		bad.Main()
//		os.Exit(m.Run())
//	}
//
//	t, err := target.Parse("exec:" + bad.Command(bad.Twice))
//
// Each program reads the stream from its start with a good reader, and prints as Good
// does up to message At.
package bad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// At is the number of the message at which a program goes wrong.
const At = 50

// Kind is what a program does wrong.
type Kind string

// The kinds.
const (
	Good     Kind = "good"     // nothing: it prints each id once, in order
	Skip     Kind = "skip"     // it leaves one id out
	Twice    Kind = "twice"    // it prints one id twice
	Swap     Kind = "swap"     // it prints two neighbours in the wrong order
	Invent   Kind = "invent"   // it prints an id that nobody published, beside the right ones
	Stop     Kind = "stop"     // it prints no more, and stays
	Exit     Kind = "exit"     // it exits with ExitCode and a line on stderr
	Die      Kind = "die"      // it ends by KILL
	Garbage  Kind = "garbage"  // it prints a line of arbitrary bytes beside the ids
	Nothing  Kind = "nothing"  // it prints nothing at all
	Flood    Kind = "flood"    // it prints other text without end, and as fast as it can
	Unending Kind = "unending" // it prints a line without end
	Stubborn Kind = "stubborn" // it does nothing wrong but ignore TERM
)

// ExitCode is that of Exit.
const ExitCode = 3

// Kinds lists all kinds, Good first.
func Kinds() []Kind {
	return []Kind{Good, Skip, Twice, Swap, Invent, Stop, Exit, Die, Garbage, Nothing, Flood, Unending, Stubborn}
}

// variable tells a process of which kind it is. A target's environment has no variable
// of that beginning but those that its command sets.
const variable = "NATS_READER_BAD"

// Command runs this executable as a program of a kind, by sh -c.
func Command(k Kind) string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return variable + "=" + string(k) + " exec '" + strings.ReplaceAll(self, "'", `'\''`) + "'"
}

// Main turns a process that was started by Command into that program, and never
// returns there. In every other process it returns at once.
func Main() {
	kind, asked := os.LookupEnv(variable)
	if !asked {
		return
	}
	fmt.Fprintln(os.Stderr, "bad:", run(Kind(kind)))
	os.Exit(1)
}

// run reads until something is wrong.
func run(k Kind) error {
	if !slices.Contains(Kinds(), k) {
		return fmt.Errorf("%s=%s: there is no such kind", variable, k)
	}
	if k == Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	url, stream := os.Getenv("NATS_URL"), os.Getenv("NATS_READER_STREAM")
	if url == "" || stream == "" {
		return errors.New("NATS_URL and NATS_READER_STREAM must say what to read")
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx := context.Background()
	r, err := reader.Open(ctx, js, reader.Config{
		Stream: stream, Subjects: strings.Fields(os.Getenv("NATS_READER_SUBJECT")), Durable: os.Getenv("NATS_READER_DURABLE"),
	})
	if err != nil {
		return err
	}
	p := printer{kind: k}
	for {
		m, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if err := p.message(string(m.Data)); err != nil {
			return err
		}
		if err := m.Ack(); err != nil && !errors.Is(err, reader.ErrNotDurable) {
			return err
		}
	}
}
