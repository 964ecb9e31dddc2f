package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// action is what a fault of the server's API will do: settled, and not done yet.
type action struct {
	on    target
	steps []string // what do asks for, a request each
	undo  []string // what entry's Undo asks for
	entry *Entry   // how it is undone; nil: there is nothing to undo
	do    func(context.Context) error
}

// Preview is what a fault would do, and what permits it.
type Preview struct {
	Does  []string // what it asks the server for, a request each
	Ends  []string // what its end asks for
	Needs []string // the flags that the safety rules ask for and that are not set
}

// Preview says what a fault would do. Nothing is changed. What the safety rules would
// refuse is told with what permits it.
func (e *Environment) Preview(ctx context.Context, s Spec) (Preview, error) {
	if err := s.Validate(); err != nil {
		return Preview{}, err
	}
	var p Preview
	asking := *e
	asking.needs = &p.Needs
	if err := asking.Allow(s); err != nil {
		return Preview{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	a, err := asking.plan(ctx, s)
	p.Does, p.Ends = a.steps, a.undo
	return p, err
}

// plan settles what a fault does to which target.
func (e *Environment) plan(ctx context.Context, s Spec) (action, error) {
	switch s.Name {
	case "delete-consumer":
		return e.deleteConsumer(ctx)
	case "pause-consumer":
		return e.pauseConsumer(ctx, s)
	case "step-down-consumer":
		return e.stepDownConsumer(ctx)
	}
	stream, err := e.JS.Stream(ctx, e.Stream)
	if err != nil {
		return action{}, fmt.Errorf("stream %s: %w", e.Stream, err)
	}
	a := action{on: target{"stream", e.Stream}}
	switch s.Name {
	case "step-down-stream":
		return e.stepDownStream(a, stream.CachedInfo())
	case "fill-consumers":
		return e.fillConsumers(ctx, a, stream, s)
	case "purge-stream":
		return e.purgeStream(a, stream, s)
	case "delete-stream":
		return e.deleteStream(a, stream.CachedInfo())
	case "recreate-stream":
		return e.recreateStream(a, stream.CachedInfo(), s)
	default:
		return action{}, fmt.Errorf("fault %s acts nowhere", s.Name)
	}
}

// subject is the subject of an API request as this connection addresses it.
func (e *Environment) subject(request string) string {
	options := e.JS.Options()
	switch {
	case options.Domain != "":
		return "$JS." + options.Domain + ".API." + request
	case options.APIPrefix != "":
		return strings.TrimSuffix(options.APIPrefix, ".") + "." + request
	default:
		return jetstream.DefaultAPIPrefix + request
	}
}

func (e *Environment) deleteConsumer(ctx context.Context) (action, error) {
	c, err := e.consumer(ctx)
	if err == nil {
		err = e.mayDelete(c)
	}
	if err != nil {
		return action{}, err
	}
	return action{
		on:    target{"consumer", c.Name},
		steps: []string{e.subject("CONSUMER.DELETE."+e.Stream+"."+c.Name) + " (" + inWords(c) + ")"},
		do: func(ctx context.Context) error {
			err := e.JS.DeleteConsumer(ctx, e.Stream, c.Name)
			if gone(err) && e.ofReader() || folderLeft(err) {
				return nil // the reader let go of it, or it lapsed, a moment before
			}
			return err
		},
	}, nil
}

// folderLeft says whether a server deleted a consumer, which was writing its state into its
// folder at that moment: it tells that the folder is not empty (seen of 2.10.7, err_code 10051).
func folderLeft(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.Code == 500 && strings.Contains(refused.Description, "directory not empty")
}

func (e *Environment) pauseConsumer(ctx context.Context, s Spec) (action, error) {
	// An older server takes the request for a wrong subject and does not answer.
	if version := e.JS.Conn().ConnectedServerVersion(); !atLeast(version, 2, 11) {
		return action{}, fmt.Errorf("nats-server %s cannot pause a consumer: 2.11 or later can", version)
	}
	c, err := e.consumer(ctx)
	if err != nil {
		return action{}, err
	}
	until := time.Now().Add(s.Length())
	entry := e.entryOf(s, until)
	entry.Consumer = c.Name
	back := "resumed"
	if before := c.Config.PauseUntil; c.Paused && before != nil {
		entry.PausedUntil = before
		back = "paused until " + stamp(*before) + ", as before"
	}
	request := e.subject("CONSUMER.PAUSE." + e.Stream + "." + c.Name)
	return action{
		on:    target{"consumer", c.Name},
		steps: []string{request + " until " + stamp(until) + " (" + inWords(c) + ")"},
		undo:  []string{request + " (" + back + ")"},
		entry: entry,
		do: func(ctx context.Context) error {
			_, err := e.JS.PauseConsumer(ctx, e.Stream, c.Name, entry.Until)
			return err
		},
	}, nil
}

func (e *Environment) stepDownConsumer(ctx context.Context) (action, error) {
	c, err := e.consumer(ctx)
	if err != nil {
		return action{}, err
	}
	leader, err := replaceable("consumer "+c.Name, c.Cluster)
	if err != nil {
		return action{}, err
	}
	request := e.subject("CONSUMER.LEADER.STEPDOWN." + e.Stream + "." + c.Name)
	return action{
		on:    target{"consumer", c.Name},
		steps: []string{request + " (" + inWords(c) + ", led by " + leader + ")"},
		do:    func(ctx context.Context) error { return e.ask(ctx, request) },
	}, nil
}

func (e *Environment) stepDownStream(a action, info *jetstream.StreamInfo) (action, error) {
	leader, err := replaceable("stream "+e.Stream, info.Cluster)
	request := e.subject("STREAM.LEADER.STEPDOWN." + e.Stream)
	a.steps = []string{request + " (led by " + leader + ")"}
	a.do = func(ctx context.Context) error { return e.ask(ctx, request) }
	return a, err
}

// replaceable gives the leader, where another node could take over from it.
func replaceable(what string, c *jetstream.ClusterInfo) (leader string, err error) {
	if c == nil || len(c.Replicas) == 0 {
		return "", fmt.Errorf("%s has one replica: there is no other node to lead it", what)
	}
	return c.Leader, nil
}

func (e *Environment) purgeStream(a action, stream jetstream.Stream, s Spec) (action, error) {
	var options []jetstream.StreamPurgeOpt
	what := counted(stream.CachedInfo().State.Msgs, "message")
	if subject := s.Params["subject"]; subject != "" {
		options = append(options, jetstream.WithPurgeSubject(subject))
		what = "those of its " + what + " with subject " + subject
	}
	if keep := s.count("keep"); keep > 0 {
		options = append(options, jetstream.WithPurgeKeep(keep))
		what += fmt.Sprintf(", but for the newest %d", keep)
	}
	a.steps = []string{e.subject("STREAM.PURGE."+e.Stream) + " (" + what + ")"}
	a.do = func(ctx context.Context) error { return stream.Purge(ctx, options...) }
	return a, nil
}

func (e *Environment) deleteStream(a action, info *jetstream.StreamInfo) (action, error) {
	a.steps = []string{fmt.Sprintf("%s (%s, %s)", e.subject("STREAM.DELETE."+e.Stream), counted(info.State.Msgs, "message"), counted(info.State.Consumers, "consumer"))}
	a.do = func(ctx context.Context) error { return e.deleteStreamSoon(ctx) }
	return a, nil
}

func (e *Environment) recreateStream(a action, info *jetstream.StreamInfo, s Spec) (action, error) {
	a, err := e.deleteStream(a, info)
	config := info.Config
	if first := s.count("first"); first > 0 {
		config.FirstSeq = first
	}
	a.entry = e.entryOf(s, time.Now().Add(s.Length()))
	a.entry.Config = &config
	a.undo = []string{fmt.Sprintf("%s (empty, the configuration of before, first sequence %d)", e.subject("STREAM.CREATE."+e.Stream), max(config.FirstSeq, 1))}
	return a, err
}

// attemptTimeout bounds one attempt at a request that an election may swallow.
const attemptTimeout = 2 * time.Second

// deleteStreamSoon deletes the stream. In a cluster it asks again where there is no answer:
// the one who was to give it may not lead any more. A stream that is gone by then was deleted.
func (e *Environment) deleteStreamSoon(ctx context.Context) error {
	if e.Cluster == nil {
		return e.JS.DeleteStream(ctx, e.Stream)
	}
	for asked := false; ; asked = true {
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		err := e.JS.DeleteStream(attempt, e.Stream)
		cancel()
		switch {
		case err == nil, asked && gone(err):
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("delete stream %s: no answer, asked again every %s: %w", e.Stream, attemptTimeout, context.Cause(ctx))
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders) && !noQuorum(err):
			return err
		}
		wait(ctx, consumerLook)
	}
}

// noQuorum says whether the cluster has nobody at the moment who could do it.
func noQuorum(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.Code == 503
}

// ask sends a request without a body and reads whether the server refused it.
func (e *Environment) ask(ctx context.Context, subject string) error {
	m, err := e.JS.Conn().RequestWithContext(ctx, subject, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	var answer struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %w", subject, answer.Error)
	}
	return nil
}

// inWords says whose consumer it is, for a dry run.
func inWords(c *jetstream.ConsumerInfo) string {
	switch {
	case c.Config.Durable != "":
		return fmt.Sprintf("a durable, %d pending", c.NumPending)
	case Ours(c.Config):
		return fmt.Sprintf("ours, %d pending", c.NumPending)
	default:
		return fmt.Sprintf("not ours, %d pending", c.NumPending)
	}
}

// counted is a number of things, in words.
func counted[N uint64 | int](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// gone says whether what should be undone is no longer there.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)
}
