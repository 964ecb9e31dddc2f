package commands

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// explainError gives the one line and the hint of any error that ends a command.
func explainError(err error) usage {
	var u usage
	var fault *proxy.FaultError
	switch {
	case errors.As(err, &u):
		return u
	case errors.As(err, &fault):
		return explainFault(fault)
	case errors.Is(err, chaos.ErrRefused):
		return usage{problem: err.Error(), hint: refusedHint(err)}
	}
	return usage{problem: configProblem(err), hint: readerHint(err), cause: err}
}

// configFlags are the flags that set the fields of a reader's Config.
var configFlags = map[string]string{
	"Name": flagName, "Durable": flagDurable, "OnError": flagOnError, "OnMissed": flagOnMissed, "OnReset": flagOnReset,
	"Pull.MaxMessages": flagBatch, "Pull.Expires": flagExpires, "Pull.Heartbeat": flagHeartbeat,
	"Retry.Max": flagRetryMax, "Retry.TotalTimeout": flagRetryTimeout,
}

// flagOfOption says in the words of the command line what asks for a permission.
var flagOfOption = strings.NewReplacer(
	"StopAtEnd needs ", "flag --"+flagUntilEnd+" needs ", "StopAtEnd of a durable needs ", "flag --"+flagUntilEnd+" of a durable needs ",
	"FromLastPerSubject needs ", "flag --"+flagLastPerSubject+" needs ")

// configProblem says a configuration error in the words of the command line: the
// flag in place of the field, and what is missing in the hint alone.
func configProblem(err error) string {
	text := flagOfOption.Replace(err.Error())
	if !errors.Is(err, reader.ErrConfig) {
		return text
	}
	if before, after, found := strings.Cut(text, reader.ErrConfig.Error()+": "); found {
		switch field, rest, found := strings.Cut(after, ": "); {
		case found && field == "Subjects":
			return before + "argument FILTER: " + rest
		case found && configFlags[field] != "":
			return before + "flag --" + configFlags[field] + ": " + rest
		}
	}
	return strings.TrimSuffix(text, needsDurable)
}

// needsDurable is how the reader says that only a durable can read the stream.
const needsDurable = ": set Durable"

// explainFault suggests the nearest of what a fault allows.
func explainFault(e *proxy.FaultError) usage {
	short := *e
	short.Allowed = nil
	if strings.ContainsFunc(e.Fault+e.Field+e.Value, foreignBlank) || strings.Contains(e.Problem, `\u00a0`) {
		return usage{problem: short.Error(), hint: "there is a no-break or invisible blank in it: write a plain one, or none", cause: e}
	}
	if e.Field == "@" || e.Field == "+" {
		return usage{problem: e.Error(), hint: "write FAULT@5s+10s: at 5s from the start, for 10s", cause: e}
	}
	u := usage{problem: short.Error(), cause: e}
	_, known := chaos.FindFault(e.Fault)
	switch near := e.Suggestions(); {
	case len(near) > 0:
		u.hint = "did you mean " + strings.Join(near, " or ") + "?"
	case len(e.Allowed) > 0 && known:
		u.hint = "known: " + strings.Join(e.Allowed, ", ")
	case known:
		u.hint = "nats-reader explain " + e.Fault + " tells its parameters"
	default:
		u.hint = "nats-reader chaos list lists all faults"
	}
	return u
}

// foreignBlank is a blank or an invisible character that no keyboard types by itself:
// text that was copied from a page has them.
func foreignBlank(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
}

// refusedHint says how to see what a refused fault would do.
func refusedHint(err error) string {
	if strings.Contains(err.Error(), "--"+flagAllowServerFaults) || strings.Contains(err.Error(), "--"+flagTargetName) {
		return "nats-reader inject FAULT STREAM --dry-run shows what it would do, and what it needs"
	}
	return "nats-reader explain FAULT tells what a fault does"
}

// readerHint says what to do about an error of the reader.
func readerHint(err error) string {
	var failure *reader.RecoveryError
	switch {
	case errors.Is(err, reader.ErrConfig) && strings.HasSuffix(err.Error(), needsDurable):
		return "read it with --durable NAME: messages are then acked, and taken from whoever else reads that durable"
	case errors.Is(err, reader.ErrConfig) && strings.Contains(err.Error(), "durable "):
		return "choose another --durable NAME: one that does not exist is made as it must be"
	case errors.Is(err, reader.ErrStreamNotFound):
		return hintNoStream
	case errors.Is(err, reader.ErrStreamReset):
		return "--on-reset restart reads the new stream from its start"
	case errors.Is(err, reader.ErrPermission):
		return "ask for permission on that subject, or connect as another user"
	case errors.Is(err, reader.ErrJetStreamNotEnabled):
		return "enable JetStream for the server and the account, or set --js-domain or --js-api-prefix"
	case errors.Is(err, session.ErrNoResponders):
		return "look whether the server runs with JetStream and its cluster has leaders; --js-domain or --js-api-prefix name another place"
	case errors.Is(err, reader.ErrConsumerLimit):
		return "raise max_consumers, or delete a consumer that nobody uses"
	case errors.Is(err, reader.ErrNameInUse):
		return "another reader uses the name; what a killed reader left lapses by itself within its inactive threshold"
	case errors.Is(err, reader.ErrGaveUp):
		return "raise or leave out --retry-timeout"
	case errors.Is(err, reader.ErrConnectionClosed):
		return "the server closed the connection for good: check the login"
	case codeHint(err) != "":
		return codeHint(err)
	case errors.Is(err, context.DeadlineExceeded):
		return "the server did not answer in time: --timeout gives it more"
	case errors.As(err, &failure):
		return "--on-error wait, the default, waits until it is healed"
	default:
		return ""
	}
}

// hintNoStream is what a reader can do about a stream that is missing.
const hintNoStream = "check the name; --wait-for-stream waits until the stream exists"

// streamNotFound adds the nearest names to the error about a missing stream, where
// the server lets us list them; otherwise is the hint where none is near.
func streamNotFound(ctx context.Context, js jetstream.JetStream, stream, otherwise string, err error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	const enough = 1000 // names to look at
	var names []string
	list := js.StreamNames(ctx)
	for name := range list.Name() {
		if names = append(names, name); len(names) == enough {
			break
		}
	}
	if bound, e := js.StreamNameBySubject(ctx, stream); e == nil && !slices.Contains(names, stream) {
		return usage{
			problem: fmt.Sprintf("stream %q not found%s", stream, serverCode(err)), cause: err,
			hint: fmt.Sprintf("the subject %s is stored in stream %s: nats-reader read %s %s", stream, bound, bound, stream),
		}
	}
	return usage{
		problem: fmt.Sprintf("stream %q not found%s", stream, serverCode(err)), cause: err,
		hint: didYouMean(stream, names, otherwise),
	}
}

// codeHint says what to do about the server's own err_code.
func codeHint(err error) string {
	code := apiCode.FindStringSubmatch(err.Error())
	if code == nil {
		return ""
	}
	for _, e := range codeEntries() {
		if e.Word == code[1] && e.Do != nothing {
			return strings.ToLower(e.Do[:1]) + strings.TrimSuffix(e.Do[1:], ".") + "; nats-reader explain " + e.Word + " tells more"
		}
	}
	return ""
}

// apiCode is how a server's error is written: (code/err_code).
var apiCode = regexp.MustCompile(`\(\d+/(\d+)\)`)

// serverCode is the server's code in an error, with a blank before it, or nothing.
func serverCode(err error) string {
	if code := apiCode.FindString(err.Error()); code != "" {
		return " " + code
	}
	return ""
}
