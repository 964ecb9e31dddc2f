package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// dryRun tries what a reader does, in a way that changes nothing: on a consumer
// that does not exist, or with a body that the server refuses. Only whether the
// server lets it pass counts.
func (g *gathering) dryRun(ctx context.Context) {
	stream := g.Stream
	if stream == "" && len(g.f.Streams) > 0 {
		stream = g.f.Streams[0].Name
	}
	if stream == "" && !g.deafOurselves {
		return
	}
	g.tell("try permissions", 0, 0)
	name := "reader-doctor-" + strings.TrimPrefix(nats.NewInbox(), nats.InboxPrefix)
	inbox := g.nc.NewInbox()
	g.trySubscribe(ctx, DryRun{What: "hears the answers to its pulls", Operation: "subscribe", Subject: inbox + ".1.*", Needed: true})
	if stream == "" {
		return
	}
	for _, d := range []struct {
		DryRun
		body string
	}{
		{DryRun{What: "makes a consumer", Subject: g.prefix + "CONSUMER.CREATE." + stream + "." + name, Needed: g.Consumer == ""}, "{"},
		{DryRun{What: "pulls", Subject: g.prefix + "CONSUMER.MSG.NEXT." + stream + "." + name, Needed: true}, `{"batch":1,"no_wait":true}`},
		{DryRun{What: "asks about its consumer", Subject: g.prefix + "CONSUMER.INFO." + stream + "." + name}, ""},
		{DryRun{What: "asks about its stream", Subject: g.prefix + "STREAM.INFO." + stream}, ""},
		{DryRun{What: "deletes a consumer of its own", Subject: g.prefix + "CONSUMER.DELETE." + stream + "." + name}, ""},
		{DryRun{What: "acknowledges, with a durable", Subject: "$JS.ACK." + stream + "." + name + ".1.1.1.1.0"}, ""},
	} {
		d.Operation = "publish"
		g.tryPublish(ctx, d.DryRun, inbox, d.body)
	}
}

// trySubscribe and tryPublish ask the server to answer a PING behind the attempt:
// by then it has told what it denied.
func (g *gathering) trySubscribe(ctx context.Context, d DryRun) {
	sub, err := g.nc.SubscribeSync(d.Subject)
	if err != nil {
		return
	}
	d.Denied = g.subscribed(ctx)
	sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	g.f.Dry = append(g.f.Dry, d)
}

func (g *gathering) tryPublish(ctx context.Context, d DryRun, reply, body string) {
	before := g.nc.LastError()
	within, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	if g.nc.PublishRequest(d.Subject, reply, []byte(body)) != nil || g.nc.FlushWithContext(within) != nil {
		return
	}
	err := g.nc.LastError()
	if operation, _ := violation(err); operation == "publish" && err != before { //nolint:errorlint // whether it is another value
		d.Denied = err.Error()
	}
	g.f.Dry = append(g.f.Dry, d)
}

// askMonitor asks the monitoring port, where one is named.
func (g *gathering) askMonitor(ctx context.Context) {
	if g.Monitor == "" {
		return
	}
	g.tell("ask the monitoring port", 0, 0)
	m := Monitor{URL: withoutLogin(g.Monitor)}
	var health struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	var jsz struct {
		Disabled bool `json:"disabled"`
		Config   struct {
			MaxMemory  int64 `json:"max_memory"`
			MaxStorage int64 `json:"max_storage"`
		} `json:"config"`
		Memory  uint64 `json:"memory"`
		Storage uint64 `json:"storage"`
	}
	var varz struct {
		Name          string `json:"server_name"`
		SlowConsumers int64  `json:"slow_consumers"`
	}
	for path, into := range map[string]any{"/healthz": &health, "/jsz": &jsz, "/varz": &varz} {
		if err := fetch(ctx, strings.TrimSuffix(g.Monitor, "/")+path, g.Timeout, into); err != nil {
			g.f.notJudged("monitoring port "+m.URL, err.Error(), "a part of READER_018")
			return
		}
	}
	if health.Status != "ok" {
		m.Health = strings.TrimSpace(health.Status + " " + health.Error)
	}
	m.Name, m.Disabled, m.MaxMemory, m.MaxStorage, m.Memory, m.Storage, m.Slow = varz.Name, jsz.Disabled, jsz.Config.MaxMemory, jsz.Config.MaxStorage, jsz.Memory, jsz.Storage, varz.SlowConsumers
	g.f.Monitor = &m
}

// fetch reads one document of a monitoring port. An unhealthy server answers 503
// with a document.
func fetch(ctx context.Context, from string, timeout time.Duration, into any) error {
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(within, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	const most = 256 << 20    // what a server holds of 100,000 consumers
	if err := json.NewDecoder(io.LimitReader(answer.Body, most)).Decode(into); err != nil {
		return fmt.Errorf("%s answers %s with no document of a nats-server", withoutLogin(from), answer.Status)
	}
	return nil
}

func withoutLogin(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}
