package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// mostHeard bounds what is kept of pulls and advisories.
const mostHeard = 10_000

// listen hears pulls for a while. It is the one thing here that others notice.
func (g *gathering) listen(ctx context.Context, length time.Duration) {
	g.tell("listen to pulls for "+length.String(), 0, 0)
	subject := g.prefix + "CONSUMER.MSG.NEXT."
	switch {
	case g.Consumer != "":
		subject += g.Stream + "." + g.Consumer
	case g.Stream != "":
		subject += g.Stream + ".>"
	default:
		subject += ">"
	}
	var mu sync.Mutex
	heard := map[Pulls]*Pulls{}
	sub, err := g.nc.Subscribe(subject, func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		g.hear(heard, m)
	})
	if err != nil {
		g.f.notJudged("pulls", err.Error(), idAbsent, idLimits)
		return
	}
	denied := g.subscribed(ctx)
	if denied == "" {
		until(ctx, time.Now().Add(length)) //nolint:errcheck // whoever waits next is told
	}
	sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	if denied != "" {
		g.f.notJudged("pulls", "permission denied for a subscription to "+subject, idAbsent, idLimits)
		return
	}
	g.nc.FlushWithContext(ctx) //nolint:errcheck // so that the server has forgotten it
	mu.Lock()
	defer mu.Unlock()
	g.f.Heard = &Heard{For: length}
	for _, p := range heard {
		g.f.Heard.Pulls = append(g.f.Heard.Pulls, *p)
	}
	slices.SortFunc(g.f.Heard.Pulls, func(a, b Pulls) int {
		return cmp.Or(strings.Compare(a.Stream, b.Stream), strings.Compare(a.Consumer, b.Consumer), strings.Compare(a.Inbox, b.Inbox))
	})
}

// subscribed waits until the server has taken the last subscription, and gives its
// words where it was denied.
func (g *gathering) subscribed(ctx context.Context) string {
	before := g.nc.LastError()
	within, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	if err := g.nc.FlushWithContext(within); err != nil {
		return err.Error()
	}
	err := g.nc.LastError()
	if operation, _ := violation(err); operation == "subscribe" && err != before { //nolint:errorlint // whether it is another value
		return err.Error()
	}
	return ""
}

// hear counts one pull. The last token of an inbox may be the pull's own.
func (g *gathering) hear(heard map[Pulls]*Pulls, m *nats.Msg) {
	tokens := strings.Split(strings.TrimPrefix(m.Subject, g.prefix), ".")
	if len(tokens) < 5 || len(heard) >= mostHeard {
		return
	}
	inbox := m.Reply
	if at := strings.LastIndexByte(inbox, '.'); at > 0 && strings.Count(inbox, ".") > 1 {
		inbox = inbox[:at+1] + "*"
	}
	key := Pulls{Stream: tokens[3], Consumer: tokens[4], Inbox: inbox}
	p := heard[key]
	if p == nil {
		p = &Pulls{Stream: key.Stream, Consumer: key.Consumer, Inbox: m.Reply, NoWait: true}
		heard[key] = p
	}
	var pull struct {
		Batch     int           `json:"batch"`
		MaxBytes  int           `json:"max_bytes"`
		Expires   time.Duration `json:"expires"`
		Heartbeat time.Duration `json:"idle_heartbeat"`
		NoWait    bool          `json:"no_wait"`
	}
	if json.Unmarshal(m.Data, &pull) != nil {
		pull.Batch, _ = strconv.Atoi(string(m.Data)) //nolint:errcheck // anything else is a pull of one
	}
	p.Count++
	p.Batch, p.MostBytes = max(p.Batch, pull.Batch, 1), max(p.MostBytes, pull.MaxBytes)
	p.Expires, p.Heartbeat = max(p.Expires, pull.Expires), max(p.Heartbeat, pull.Heartbeat)
	p.NoWait = p.NoWait && pull.NoWait
}

// ear hears advisories until its end.
type ear struct {
	sub *nats.Subscription
	mu  sync.Mutex
	got []Advisory
}

// advisories subscribes to what the servers tell by themselves.
func (g *gathering) advisories(ctx context.Context) *ear {
	e := &ear{}
	subject := g.EventPrefix + "ADVISORY.>"
	sub, err := g.nc.Subscribe(subject, e.hear)
	if err != nil {
		g.f.notJudged("advisories", err.Error(), idStorm, idOwners)
		return e
	}
	if denied := g.subscribed(ctx); denied != "" {
		sub.Unsubscribe() //nolint:errcheck // it never was one
		g.f.notJudged("advisories", "permission denied for a subscription to "+subject, idStorm, idOwners)
		return e
	}
	e.sub = sub
	return e
}

func (e *ear) end() {
	if e.sub != nil {
		e.sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	}
}

// hear keeps what checks look at.
func (e *ear) hear(m *nats.Msg) {
	var told struct {
		Type     string    `json:"type"`
		Time     time.Time `json:"timestamp"`
		Stream   string    `json:"stream"`
		Consumer string    `json:"consumer"`
		Action   string    `json:"action"`
		Subject  string    `json:"subject"`
		Response string    `json:"response"`
		Client   struct {
			ID   uint64 `json:"id"`
			Name string `json:"name"`
			User string `json:"user"`
		} `json:"client"`
	}
	if json.Unmarshal(m.Data, &told) != nil {
		return
	}
	a := Advisory{Time: told.Time, Kind: told.Type[strings.LastIndexByte(told.Type, '.')+1:], Action: told.Action, Stream: told.Stream, Consumer: told.Consumer}
	if a.Kind == "api_audit" {
		_, create, found := strings.Cut(told.Subject, ".API.CONSUMER.CREATE.")
		tokens := strings.Split(create, ".")
		if !found || len(tokens) < 2 || strings.Contains(told.Response, `"error":{`) {
			return
		}
		a.Action, a.Stream, a.Consumer, a.Subject = "create", tokens[0], tokens[1], told.Subject
		if told.Client.ID != 0 { // servers of early 2.10 do not tell who it was
			a.Client = Connection{ID: told.Client.ID, Name: told.Client.Name, User: told.Client.User}.String()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.got) < mostHeard {
		e.got = append(e.got, a)
	}
}

// all is what was heard about what was asked for.
func (e *ear) all(o Options) (some []Advisory) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.got {
		if o.Stream == "" || a.Stream == "" || a.Stream == o.Stream {
			some = append(some, a)
		}
	}
	return some
}
