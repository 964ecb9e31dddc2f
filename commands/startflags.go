package commands

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader"
)

const startFlagsCategory = "START"

// Where reading starts: at most one of them.
const (
	flagFrom           = "from"
	flagSince          = "since"
	flagNew            = "new"
	flagLast           = "last"
	flagLastPerSubject = "last-per-subject"
)

var startFlagNames = []string{flagFrom, flagSince, flagNew, flagLast, flagLastPerSubject}

func startFlags() []cli.Flag {
	return []cli.Flag{
		&cli.Uint64Flag{Name: flagFrom, Usage: "start at the stream sequence `SEQ`, from 1", Category: startFlagsCategory, DefaultText: "the first message"},
		&cli.StringFlag{Name: flagSince, Usage: "start with what was stored in the last `1h`, or since a time such as 2026-01-31T12:00:00Z", Category: startFlagsCategory},
		boolFlag(flagNew, startFlagsCategory, "start with what is published from now on"),
		boolFlag(flagLast, startFlagsCategory, "start with the last message"),
		boolFlag(flagLastPerSubject, startFlagsCategory, "start with the last message of each subject"),
	}
}

// startGiven lists the start flags of a command line, dashed.
func startGiven(c *cli.Context) []string {
	var given []string
	for _, name := range startFlagNames {
		if isBool := name == flagNew || name == flagLast || name == flagLastPerSubject; isBool && !c.Bool(name) {
			continue
		}
		if c.IsSet(name) {
			given = append(given, "--"+name)
		}
	}
	return given
}

// startOf gives where to start; without a flag at the first message.
func startOf(c *cli.Context, now time.Time) (reader.Start, error) {
	given := startGiven(c)
	if len(given) > 1 {
		return reader.Start{}, usage{problem: "flags " + strings.Join(given, " and ") + " exclude each other", hint: "give one place to start"}
	}
	if len(given) == 1 && c.String(flagDurable) != "" {
		return reader.Start{}, usage{
			problem: fmt.Sprintf("flags --%s and %s exclude each other", flagDurable, given[0]),
			hint:    "a durable goes on where it stands on the server",
		}
	}
	switch {
	case c.IsSet(flagFrom):
		n := c.Uint64(flagFrom)
		if n == 0 {
			return reader.Start{}, usage{problem: "flag --from: 0 is no stream sequence", hint: "the first message of a stream has 1; leave --from out to start with what the stream holds"}
		}
		return reader.FromSequence(n), nil
	case c.IsSet(flagSince):
		return since(c.String(flagSince), now)
	case c.Bool(flagNew):
		return reader.FromNew(), nil
	case c.Bool(flagLast):
		return reader.FromLast(), nil
	case c.Bool(flagLastPerSubject):
		return reader.FromLastPerSubject(), nil
	default:
		return reader.FromStart(), nil
	}
}

// since reads a duration before now or a time, neither in the future.
func since(text string, now time.Time) (reader.Start, error) {
	future := func(t time.Time) error {
		return usage{problem: fmt.Sprintf("flag --since: %q is in the future (%s)", text, t.UTC().Format(time.RFC3339)), hint: "--new starts with what is published from now on"}
	}
	if d, err := parseDuration(text); err == nil {
		if d < 0 {
			return reader.Start{}, future(now.Add(-d))
		}
		return reader.FromTime(now.Add(-d)), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		t, err := time.ParseInLocation(layout, text, time.Local)
		if err != nil {
			continue
		}
		if t.After(now) {
			return reader.Start{}, future(t)
		}
		return reader.FromTime(t), nil
	}
	return reader.Start{}, usage{problem: fmt.Sprintf("flag --since: %q is neither a duration nor a time", text), hint: "write 90s, 1h or 2026-01-31T12:00:00Z"}
}

// streamArguments reads STREAM [FILTER...]. A first word with a dot or a wildcard
// is no stream's name but a subject: the stream that stores it is found.
func streamArguments(c *cli.Context) (stream string, filters []string, err error) {
	args := c.Args().Slice()
	if len(args) == 0 {
		return "", nil, usage{problem: "a stream is missing", hint: "nats-reader " + c.Command.Name + " STREAM [FILTER...]"}
	}
	if !strings.ContainsAny(args[0], ".*>") {
		stream, args = args[0], args[1:]
		if stream == "" || strings.ContainsAny(stream, " \t\r\n/\\") {
			return "", nil, usage{problem: fmt.Sprintf("%q is no name of a stream", stream), hint: "a name has no blank and no slash; a subject, such as orders.>, finds the stream that stores it"}
		}
	}
	for _, f := range args {
		if err := checkSubject(f); err != nil {
			return "", nil, err
		}
	}
	return stream, args, nil
}

// checkSubject refuses what cannot be a filter.
func checkSubject(subject string) error {
	bad := func(why string) error {
		return usage{problem: fmt.Sprintf("filter %q is no subject: %s", subject, why)}
	}
	if strings.ContainsAny(subject, " \t\r\n") {
		return bad("it holds white space")
	}
	tokens := strings.Split(subject, ".")
	for i, t := range tokens {
		switch {
		case t == "":
			return bad("it has an empty part")
		case t == ">" && i < len(tokens)-1:
			return bad("> may only be its last part")
		}
	}
	return nil
}

// overlap says whether some subject matches both filters.
func overlap(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if as[i] == ">" || bs[i] == ">" {
			return true
		}
		if as[i] != bs[i] && as[i] != "*" && bs[i] != "*" {
			return false
		}
	}
	return len(as) == len(bs)
}
