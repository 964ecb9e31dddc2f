package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader"
)

const readerFlagsCategory = "READER"

// The reader's flags, the same in every command that reads.
const (
	flagHeartbeat     = "heartbeat"
	flagExpires       = "expires"
	flagBatch         = "batch"
	flagOnError       = "on-error"
	flagOnMissed      = "on-missed"
	flagOnReset       = "on-reset"
	flagWaitForStream = "wait-for-stream"
	flagRetryMax      = "retry-max"
	flagRetryTimeout  = "retry-timeout"
	flagName          = "name"
	flagDurable       = "durable"
)

// The reader's own defaults, where a flag must be judged beside one that is not set.
const (
	defaultHeartbeat      = 2 * time.Second
	defaultExpires        = 30 * time.Second
	defaultAttemptTimeout = 2 * time.Second
	defaultRetryMax       = 2 * time.Second
)

// The words of the policies, in the order they are shown.
var (
	onErrorWords  = words[reader.OnError]{{"wait", reader.OnErrorWait}, {"raise", reader.OnErrorRaise}, {"finish", reader.OnErrorFinish}}
	onMissedWords = words[reader.OnMissed]{{"replay", reader.OnMissedReplay}, {"skip", reader.OnMissedSkip}}
	onResetWords  = words[reader.OnReset]{{"restart", reader.OnResetRestart}, {"follow-new", reader.OnResetFollowNew}, {"fail", reader.OnResetFail}}
)

// words are the values of a flag that takes one of a few.
type words[T comparable] []struct {
	word  string
	value T
}

func (w words[T]) names() []string {
	var names []string
	for _, x := range w {
		names = append(names, x.word)
	}
	return names
}

// word gives the word of a value.
func (w words[T]) word(value T) string {
	for _, x := range w {
		if x.value == value {
			return x.word
		}
	}
	return ""
}

// parse gives the value of a word; an empty one means the first.
func (w words[T]) parse(flag, word string) (T, error) {
	word = strings.ReplaceAll(word, "_", "-")
	for _, x := range w {
		if x.word == word || word == "" {
			return x.value, nil
		}
	}
	var none T
	all := w.names()
	return none, usage{
		problem: fmt.Sprintf("flag --%s: %q is not one of %s", flag, word, strings.Join(all, ", ")),
		hint:    didYouMean(word, all, ""),
	}
}

func readerFlags() []cli.Flag {
	length := func(name, text, value string) cli.Flag {
		return &cli.DurationFlag{Name: name, Usage: text, Category: readerFlagsCategory, DefaultText: value}
	}
	text := func(name, usage string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Category: readerFlagsCategory}
	}
	choice := func(name, usage string, all []string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: "`" + strings.Join(all, "|") + "`: " + usage, Category: readerFlagsCategory, DefaultText: all[0]}
	}
	return []cli.Flag{
		length(flagHeartbeat, "idle heartbeat of a pull; silence is twice this", "2s"),
		length(flagExpires, "life of one pull on the server, at least twice the heartbeat", "30s"),
		&cli.IntFlag{Name: flagBatch, Usage: "`MESSAGES` read ahead of the output", Category: readerFlagsCategory, DefaultText: "4096, of a durable 100"},
		choice(flagOnError, "what a failure does: wait for the healing, tell it and go on, or end", onErrorWords.names()),
		choice(flagOnMissed, "after a failure go on at the next message, or at the end of the stream", onMissedWords.names()),
		choice(flagOnReset, "read a re-created stream from its start, follow what is new, or end", onResetWords.names()),
		boolFlag(flagWaitForStream, readerFlagsCategory, "wait for a stream that does not exist"),
		length(flagRetryMax, "longest pause between attempts to recover", "2s"),
		length(flagRetryTimeout, "give up a recovery after this", "never"),
		text(flagName, "exact consumer `NAME`, for tight permissions (default: a unique name per session)"),
		text(flagDurable, "bind or create the durable consumer `NAME`: explicit acks, at least once"),
	}
}

// readerConfig turns the reader's flags into a Config and tells what cannot be,
// by the flag's name.
func readerConfig(c *cli.Context) (reader.Config, error) {
	cfg := reader.Config{
		Durable: c.String(flagDurable), Name: c.String(flagName), WaitForStream: c.Bool(flagWaitForStream),
		Pull: reader.Pull{
			MaxMessages: c.Int(flagBatch), Expires: c.Duration(flagExpires), Heartbeat: c.Duration(flagHeartbeat),
		},
		Retry: reader.RetryPolicy{Max: c.Duration(flagRetryMax), TotalTimeout: c.Duration(flagRetryTimeout)},
	}
	if m := cfg.Retry.Max; m > 0 && m < 200*time.Millisecond {
		cfg.Retry.Initial = m // the first pause is not longer than the longest
	}
	var err error
	if cfg.OnError, err = onErrorWords.parse(flagOnError, c.String(flagOnError)); err != nil {
		return cfg, err
	}
	if cfg.OnMissed, err = onMissedWords.parse(flagOnMissed, c.String(flagOnMissed)); err != nil {
		return cfg, err
	}
	if cfg.OnReset, err = onResetWords.parse(flagOnReset, c.String(flagOnReset)); err != nil {
		return cfg, err
	}
	return cfg, checkReaderFlags(c, cfg)
}

func checkReaderFlags(c *cli.Context, cfg reader.Config) error {
	for _, name := range []string{flagHeartbeat, flagExpires, flagRetryMax, flagRetryTimeout} {
		if d := c.Duration(name); c.IsSet(name) && d <= 0 {
			return usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", name, d)}
		}
	}
	if c.IsSet(flagBatch) && cfg.Pull.MaxMessages < 1 {
		return usage{problem: fmt.Sprintf("flag --%s: %d is not above 0", flagBatch, cfg.Pull.MaxMessages)}
	}
	heartbeat, expires := heartbeatOf(cfg), expiresOf(cfg)
	if heartbeat > expires/2 {
		return usage{
			problem: fmt.Sprintf("flag --%s: %s is more than half of --%s, which is %s", flagHeartbeat, heartbeat, flagExpires, expires),
			hint:    fmt.Sprintf("--%s %s allows --%s up to %s", flagExpires, expires, flagHeartbeat, expires/2),
		}
	}
	switch {
	case cfg.Durable != "" && cfg.Name != "":
		return usage{problem: "flags --durable and --name exclude each other", hint: "a durable has its own name"}
	case cfg.Durable != "" && cfg.OnMissed == reader.OnMissedSkip:
		return usage{problem: "flags --durable and --on-missed skip exclude each other", hint: "a durable's position is the server's: it skips nothing"}
	}
	return errors.Join(checkName(flagName, cfg.Name), checkName(flagDurable, cfg.Durable))
}

// longestName is how long the name of a consumer may be on any server.
const longestName = 255

// checkName refuses what no consumer can be called; empty: none is given.
func checkName(flag, name string) error {
	switch {
	case strings.ContainsAny(name, " \t\r\n.*>/\\"):
		return usage{problem: fmt.Sprintf("flag --%s: %q is no name of a consumer", flag, name), hint: "a name has no blank, dot, slash or wildcard"}
	case len(name) > longestName:
		return usage{problem: fmt.Sprintf("flag --%s: a name of %d bytes is longer than the %d that a server takes", flag, len(name), longestName)}
	}
	return nil
}

func heartbeatOf(cfg reader.Config) time.Duration {
	if cfg.Pull.Heartbeat > 0 {
		return cfg.Pull.Heartbeat
	}
	return defaultHeartbeat
}

func expiresOf(cfg reader.Config) time.Duration {
	if cfg.Pull.Expires > 0 {
		return cfg.Pull.Expires
	}
	return defaultExpires
}
