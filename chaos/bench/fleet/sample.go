package fleet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Sample is one look at a run that is to stay as it is. Memory is what is kept after a collection.
type Sample struct {
	At            time.Duration `json:"at_ns"`
	Memory        uint64        `json:"heap_and_stack_bytes"`
	Resident      uint64        `json:"rss_bytes,omitempty"` // 0: the system does not tell
	Goroutines    int           `json:"goroutines"`
	Subscriptions int           `json:"subscriptions"`        // of the readers' connections, by the client
	OnServer      int           `json:"subscriptions_server"` // by the server; -1: it does not tell
	Consumers     int           `json:"consumers"`
	Stored        uint64        `json:"stored_bytes"`
	Read          uint64        `json:"read"`
}

// Samples are taken this often: so that there are enough of a short run, and few enough of a long one.
const (
	samplesOfRun   = 120
	shortestSample = 100 * time.Millisecond
	longestSample  = 5 * time.Second
)

// sampleEvery is how often a run of some length is looked at.
func sampleEvery(d time.Duration) time.Duration {
	return min(max(d/samplesOfRun, shortestSample), longestSample).Round(time.Millisecond)
}

// watchFor takes samples for a time, and for longer on a machine so slow that there are too few to be judged. read gives how many messages were read.
func (f *fleet) watchFor(ctx context.Context, r *Result, read func() uint64) error {
	r.For, r.Every = f.plan.For, sampleEvery(f.plan.For)
	began := time.Now()
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		s, err := f.sample(ctx, time.Since(began), read())
		if err != nil {
			return err
		}
		r.Samples = append(r.Samples, s)
		f.plan.Told(Progress{Text: "watching", Done: int(min(s.At, r.For) / time.Second), All: int(r.For / time.Second)})
		if s.At >= r.For && len(r.Samples) >= LeastSamples {
			return nil
		}
	}
}

func (f *fleet) sample(ctx context.Context, at time.Duration, read uint64) (Sample, error) {
	now := heldNow()
	s := Sample{At: at, Memory: now.bytes, Resident: now.resident, Goroutines: now.goroutines, Read: read}
	for _, js := range f.readers {
		s.Subscriptions += js.Conn().NumSubscriptions()
	}
	for _, name := range f.streams {
		info, err := f.info(ctx, name)
		if err != nil {
			return s, err
		}
		s.Consumers += info.State.Consumers
		s.Stored += info.State.Bytes
	}
	for _, js := range f.readers {
		n := f.subscriptionsOnServer(ctx, js)
		if n < 0 {
			s.OnServer = -1
			break
		}
		s.OnServer += n
	}
	return s, nil
}

// connz asks every server for the connections of our account, which any user may unless permissions forbid it.
const connz = "$SYS.REQ.ACCOUNT.PING.CONNZ"

// connzTime is how long the answer of the one server that holds the connection is waited for.
const connzTime = 2 * time.Second

// subscriptionsOnServer is how many subscriptions the server counts on a connection; -1: it does not tell.
func (f *fleet) subscriptionsOnServer(ctx context.Context, js jetstream.JetStream) int {
	ctx, cancel := context.WithTimeout(ctx, connzTime)
	defer cancel()
	id, err := js.Conn().GetClientID()
	if err != nil {
		return -1
	}
	server, nc := js.Conn().ConnectedServerId(), f.manage.Conn()
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err != nil {
		return -1
	}
	defer answers.Unsubscribe() //nolint:errcheck // the connection is gone, and it with it
	question, err := json.Marshal(map[string]any{"cid": id})
	if err != nil {
		return -1
	}
	if err := nc.PublishMsg(&nats.Msg{Subject: connz, Reply: inbox, Data: question}); err != nil {
		return -1
	}
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return -1
		}
		var answer struct {
			Server struct {
				ID string `json:"id"`
			} `json:"server"`
			Data struct {
				Connections []struct {
					ID            uint64 `json:"cid"`
					Subscriptions int    `json:"subscriptions"`
				} `json:"connections"`
			} `json:"data"`
		}
		if json.Unmarshal(m.Data, &answer) != nil || answer.Server.ID != server {
			continue
		}
		for _, c := range answer.Data.Connections {
			if c.ID == id {
				return c.Subscriptions
			}
		}
		return -1
	}
}
