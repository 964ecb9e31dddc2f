package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Errors of Gather to branch on; the text holds the server's own.
var (
	ErrStreamNotFound   = errors.New("stream not found")
	ErrConsumerNotFound = errors.New("consumer not found")
	ErrOptions          = errors.New("invalid options")
)

// Options say what Gather looks at. The zero value is every stream and consumer,
// watched for 6s.
type Options struct {
	Stream   string // empty: all that the account may list
	Consumer string // empty: all of the stream; needs Stream

	For     time.Duration // how long is watched, at least; 0: 6s
	Timeout time.Duration // for one answer; 0: 5s
	// LookOn is how much longer than For is looked at consumers whose readers may be
	// between two polls, at most: it ends when all are decided. 0: 30s if For is 0,
	// else not at all.
	LookOn time.Duration

	APIPrefix   string // of the JetStream API; empty: $JS.API.
	EventPrefix string // of advisories; empty: $JS.EVENT.

	// Listen subscribes to pulls for up to 3s. Meanwhile a pull for a consumer that
	// does not exist gets silence instead of 503, whoever sends it.
	Listen bool
	// Monitor is the URL of a server's monitoring port, http://HOST:8222; empty: none.
	Monitor string

	// System connects with credentials of the system account, by which every server
	// is asked what it holds as a replica; nil: none are asked. The connection is closed
	// at the end. Whether it can be made is among Facts.NotJudged.
	System func(context.Context) (*nats.Conn, error)

	// Progress is called, one call at a time, when something was done; nil: nobody is told.
	Progress func(Progress)
}

// Progress says what is being done.
type Progress struct {
	Step        string // in words
	Done, Total int    // consumers seen so far, of those known; or looks
}

const (
	defaultFor     = 6 * time.Second
	defaultTimeout = 5 * time.Second
	shortestFor    = 100 * time.Millisecond
	longestFor     = 24 * time.Hour
	// beyond is how much longer than asked for is watched: a consumer of nats.go's
	// default threshold of 5s has then outlived it after the default 6s.
	beyond      = 600 * time.Millisecond
	fewestLooks = 3
	mostLooks   = 61
	lookEvery   = 5 * time.Second
	longestEar  = 3 * time.Second
)

func (o *Options) fill() error {
	if o.For == 0 && o.LookOn == 0 {
		o.LookOn = longestOn
	}
	o.For, o.Timeout = cmp.Or(o.For, defaultFor), cmp.Or(o.Timeout, defaultTimeout)
	o.APIPrefix = strings.TrimSuffix(cmp.Or(o.APIPrefix, jetstream.DefaultAPIPrefix), ".") + "."
	o.EventPrefix = strings.TrimSuffix(cmp.Or(o.EventPrefix, "$JS.EVENT."), ".") + "."
	switch {
	case o.For < shortestFor || o.For > longestFor:
		return fmt.Errorf("%w: For: %s is not between %s and %s", ErrOptions, o.For, shortestFor, longestFor)
	case o.LookOn < 0 || o.LookOn > longestFor:
		return fmt.Errorf("%w: LookOn: %s is not between 0 and %s", ErrOptions, o.LookOn, longestFor)
	case o.Timeout <= 0:
		return fmt.Errorf("%w: Timeout: %s is not above 0", ErrOptions, o.Timeout)
	case o.Consumer != "" && o.Stream == "":
		return fmt.Errorf("%w: Consumer: %q needs a Stream", ErrOptions, o.Consumer)
	}
	for field, name := range map[string]string{"Stream": o.Stream, "Consumer": o.Consumer} {
		if strings.ContainsAny(name, " \t\r\n.*>/\\") {
			return fmt.Errorf("%w: %s: %q is no name: a subject is none", ErrOptions, field, name)
		}
	}
	return nil
}

// looks is how often consumers are looked at.
func (o *Options) looks() int {
	return min(max(fewestLooks, int(o.For/lookEvery)+1), mostLooks)
}

// gathering is one run of Gather.
type gathering struct {
	Options
	*desk
	f *Facts

	system     *desk  // of the system account; nil: there is none
	ownAccount string // as the servers call it; empty: not known
	nameless   bool   // and cannot be

	deafOurselves bool // our inboxes are denied

	seeing    sync.Mutex        // guards f and what follows while streams are looked at side by side
	streamAt  map[string]int    // index into f.Streams
	consumers map[[2]string]int // index into f.Consumers
	listed    map[string]int    // the look in which all consumers of a stream were last listed
	inLook    map[[2]string]int // the look in which a consumer was last seen
}

// Gather looks at a server with the credentials of a connection. The connection's
// asynchronous errors are taken over meanwhile. What cannot be seen is among
// NotJudged; an error is only what makes the whole pointless.
func Gather(ctx context.Context, nc *nats.Conn, o Options) (Facts, error) {
	if err := o.fill(); err != nil {
		return Facts{}, err
	}
	f := &Facts{
		Schema: FactsSchema, Stream: o.Stream, Consumer: o.Consumer, Watch: o.For, API: o.APIPrefix,
		Server: Server{Name: nc.ConnectedServerName(), Version: nc.ConnectedServerVersion(), Cluster: nc.ConnectedClusterName()},
	}
	g := &gathering{
		Options: o, desk: newDesk(nc, o.APIPrefix, o.Timeout), f: f,
		streamAt: map[string]int{}, consumers: map[[2]string]int{}, listed: map[string]int{}, inLook: map[[2]string]int{},
	}
	defer g.leave()
	reconnects := nc.Stats().Reconnects
	if err := g.run(ctx); err != nil {
		return Facts{}, err
	}
	f.Reconnected = nc.Stats().Reconnects != reconnects
	return *f, nil
}

func (g *gathering) run(ctx context.Context) error {
	g.tell("ask for the account", 0, 0)
	if err := g.account(ctx); err != nil {
		return err
	}
	g.askMonitor(ctx)
	if g.deafOurselves {
		g.dryRun(ctx)
		return nil
	}
	if g.f.JetStream.Off || g.f.JetStream.Error != nil && noJetStream(g.f.JetStream.Error) {
		return nil
	}
	if err := g.streams(ctx, true); err != nil {
		return err
	}
	defer g.dialSystem(ctx)()
	g.dryRun(ctx)
	told := g.advisories(ctx)
	defer told.end()
	if err := g.watch(ctx); err != nil {
		return err
	}
	g.f.Advisories = told.all(g.Options)
	g.leaders()
	return nil
}

// watch looks at consumers several times, and at everything else in between.
func (g *gathering) watch(ctx context.Context) error {
	n := g.looks()
	if err := g.look(ctx, 1, n); err != nil {
		return err
	}
	began := time.Now() // paces the looks only
	g.connections(ctx, true)
	g.witnesses(ctx, true)
	if g.Listen {
		g.listen(ctx, min(longestEar, g.For))
	} else {
		g.f.notJudged("pulls", "nobody listened: --listen hears them for up to 3s, and hides 503 answers from clients meanwhile", idAbsent, idLimits)
	}
	for i := 2; i <= n; i++ {
		due := began.Add((g.For + beyond) * time.Duration(i-1) / time.Duration(n-1))
		g.tell(fmt.Sprintf("watch: look %d of %d in %s", i, n, time.Until(due).Round(100*time.Millisecond)), i-1, n)
		if err := until(ctx, due); err != nil {
			return err
		}
		if i == n {
			g.matching(ctx)
		}
		if err := g.look(ctx, i, n); err != nil {
			return err
		}
	}
	g.missing(n)
	g.suspects(ctx)
	if err := g.lookOn(ctx, n); err != nil {
		return err
	}
	if err := g.streams(ctx, false); err != nil {
		return err
	}
	g.connections(ctx, false)
	g.witnesses(ctx, false)
	return context.Cause(ctx)
}

func until(ctx context.Context, due time.Time) error {
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gathering) tell(step string, done, total int) {
	if g.Progress != nil {
		g.Progress(Progress{step, done, total})
	}
}

// seen moves the facts' time to a look's.
func (f *Facts) seen(at time.Time) {
	if at.IsZero() {
		return
	}
	if f.Began.IsZero() || at.Before(f.Began) {
		f.Began = at
	}
	if at.After(f.Ended) {
		f.Ended = at
	}
}

// why says in words for the list of what is not judged why an ask came to nothing.
func why(err error) string {
	var denied *deniedError
	var api *APIError
	switch {
	case errors.As(err, &denied):
		return "permission denied for " + denied.subject
	case errors.As(err, &api):
		return api.String()
	default:
		return err.Error()
	}
}

// account asks what the account may use, and whether there is a JetStream at all.
func (g *gathering) account(ctx context.Context) error {
	var info Account
	err := g.ask(ctx, "INFO", nil, &info)
	var api *APIError
	var denied *deniedError
	switch {
	case errors.As(err, &denied) && denied.inbox:
		g.deafOurselves = true
		g.f.Blind = true
		g.f.notJudged("everything", why(err)+", so that we hear no answer: log in as a user that may subscribe to it, or name a prefix of inboxes that this one may: --inbox-prefix", "all checks but READER_019")
	case err == nil:
		info.Known = true
		g.f.Account = info
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errNoResponders):
		g.f.JetStream.Off = true
	case errors.As(err, &api):
		g.f.JetStream.Error = api
		g.f.notJudged("account", api.String(), "READER_018")
	default:
		g.f.JetStream.Silent = errors.Is(err, errSilent)
		g.f.notJudged("account", why(err), "READER_018")
	}
	return nil
}

func noJetStream(e *APIError) bool { return e.ErrCode == 10039 || e.ErrCode == 10076 }
