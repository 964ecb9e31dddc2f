package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// consumerAnswer is a consumer as the API tells it.
type consumerAnswer struct {
	Stream  string         `json:"stream_name"`
	Name    string         `json:"name"`
	Created time.Time      `json:"created"`
	Config  ConsumerConfig `json:"config"`
	Group   *Group         `json:"cluster"`
	Sample
	failed *APIError // instead of all that
}

// look looks at all consumers once; page by page, some streams side by side.
func (g *gathering) look(ctx context.Context, n, of int) error {
	g.tell(fmt.Sprintf("look %d of %d at consumers", n, of), n-1, of)
	if g.Consumer != "" {
		return g.oneConsumer(ctx, g.Stream, g.Consumer, n)
	}
	var names []string
	for _, s := range g.f.Streams {
		names = append(names, s.Name)
	}
	work := make(chan string)
	failed := make([]error, mostAsks)
	var done sync.WaitGroup
	for i := range mostAsks {
		done.Go(func() {
			for name := range work {
				if err := g.listConsumers(ctx, name, n); err != nil {
					failed[i] = err
				}
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	done.Wait()
	return errors.Join(failed...)
}

// mostMissing is how many of the consumers that a list leaves out, for their leader
// did not answer, are asked for by name: an election may be over by then.
const mostMissing = 4

func (g *gathering) listConsumers(ctx context.Context, stream string, n int) error {
	for offset := 0; ; {
		var page struct {
			Total     int              `json:"total"`
			Consumers []consumerAnswer `json:"consumers"`
			Missing   []string         `json:"missing"`
		}
		err := g.ask(ctx, "CONSUMER.LIST."+stream, map[string]int{"offset": offset}, &page)
		var denied *deniedError
		var api *APIError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &denied):
			g.blind()
			g.note("consumers of streams", why(err)+": name one consumer, and it is judged", "all checks of consumers")
			return nil
		case errors.As(err, &api) && api.ErrCode == codeStreamNotFound:
			return nil // deleted meanwhile
		case err != nil:
			g.blind()
			g.note("consumers of stream "+stream, why(err))
			return nil
		}
		for _, a := range page.Consumers {
			a.Stream = stream
			g.sawConsumer(a, n)
		}
		for i, name := range page.Missing {
			if i >= mostMissing { // the server waited for them already
				g.sawConsumer(consumerAnswer{Stream: stream, Name: name}, n)
				continue
			}
			if err := g.oneConsumer(ctx, stream, name, n); err != nil && !errors.Is(err, ErrConsumerNotFound) {
				return err
			}
		}
		offset += len(page.Consumers) + len(page.Missing)
		if len(page.Consumers) == 0 || offset >= page.Total {
			g.listedAll(stream, n)
			return nil
		}
	}
}

// oneConsumer asks for one consumer by its name.
func (g *gathering) oneConsumer(ctx context.Context, stream, name string, n int) error {
	var a consumerAnswer
	err := g.ask(ctx, "CONSUMER.INFO."+stream+"."+name, nil, &a)
	var api *APIError
	switch {
	case err == nil:
		a.Stream, a.Name = stream, name
		g.sawConsumer(a, n)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &api) && api.ErrCode == codeConsumerNotFound:
		if n == 1 && name == g.Consumer {
			return fmt.Errorf("consumer %q on stream %s: %w (%d/%d)", name, stream, ErrConsumerNotFound, api.Code, api.ErrCode)
		}
		if name == g.Consumer {
			g.listedAll(stream, n)
		}
		return nil
	case errors.As(err, &api) && api.ErrCode == codeStreamNotFound && n == 1:
		return fmt.Errorf("stream %q: %w (%d/%d)", stream, ErrStreamNotFound, api.Code, api.ErrCode)
	case errors.As(err, &api) || errors.Is(err, errSilent):
		g.sawConsumer(consumerAnswer{Stream: stream, Name: name, failed: api}, n)
		return nil
	default:
		g.note("consumer "+stream+" "+name, why(err), "all checks of this consumer")
		return nil
	}
}

// note, blind and listedAll are for what is done side by side.
func (g *gathering) note(what, why string, checks ...string) {
	g.seeing.Lock()
	defer g.seeing.Unlock()
	g.f.notJudged(what, why, checks...)
}

func (g *gathering) blind() {
	g.seeing.Lock()
	defer g.seeing.Unlock()
	g.f.Blind = true
}

func (g *gathering) listedAll(stream string, n int) {
	g.seeing.Lock()
	defer g.seeing.Unlock()
	g.listed[stream] = n
}

// sawConsumer keeps one look. One without a time was not answered, or with an error.
func (g *gathering) sawConsumer(a consumerAnswer, n int) {
	g.seeing.Lock()
	defer g.seeing.Unlock()
	key := [2]string{a.Stream, a.Name}
	if g.inLook[key] == n {
		return // pages shift when consumers come and go
	}
	i, known := g.consumers[key]
	if !known {
		i = len(g.f.Consumers)
		g.f.Consumers = append(g.f.Consumers, Consumer{Stream: a.Stream, Name: a.Name})
		g.consumers[key] = i
	}
	c := &g.f.Consumers[i]
	g.inLook[key] = n
	if a.Time.IsZero() {
		c.Silent, c.Error = a.failed == nil, a.failed
		return
	}
	if !c.Created.Equal(a.Created) {
		c.Samples, c.LeaderChanged = nil, false // deleted and made again: another one
	} else if c.Group != nil && a.Group != nil && c.Group.Leader != a.Group.Leader {
		c.LeaderChanged = true
	}
	c.Created, c.Config, c.Group, c.Silent, c.Error = a.Created, a.Config, a.Group, false, nil
	c.Config.Metadata = kept(c.Config.Metadata)
	c.Samples = append(c.Samples, a.Sample)
	g.f.seen(a.Time)
}

// kept is the part of a consumer's or stream's metadata that checks look at; the rest is
// its owner's own, and no business of a bundle.
func kept(all map[string]string) map[string]string {
	var some map[string]string
	for k, v := range all {
		if strings.HasPrefix(k, "nats-reader.") || strings.HasPrefix(k, "io.nats.monitor.") || strings.HasPrefix(k, "_nats.") {
			if some == nil {
				some = map[string]string{}
			}
			some[k] = v
		}
	}
	return some
}

// missing marks the consumers that the last look did not find any more, where it
// found all.
func (g *gathering) missing(last int) {
	for key, i := range g.consumers {
		c := &g.f.Consumers[i]
		if g.inLook[key] < last && g.listed[c.Stream] == last {
			c.Gone = true
		}
	}
}

// leaders marks the consumers of which a leader was elected during the watch.
func (g *gathering) leaders() {
	for _, a := range g.f.Advisories {
		if a.Kind != "consumer_leader_elected" {
			continue
		}
		if i, known := g.consumers[[2]string{a.Stream, a.Consumer}]; known {
			g.f.Consumers[i].LeaderChanged = true
		}
	}
}

// What is looked at of consumers that may be deaf: how long their next message has
// waited, and whether it is large enough that pulls with a limit in bytes may be
// refused because of it.
const (
	mostSuspects = 20
	largeMessage = 64 << 10
)

func (g *gathering) suspects(ctx context.Context) {
	asked := 0
	for i := range g.f.Consumers {
		c := &g.f.Consumers[i]
		if len(c.Samples) == 0 || !c.still() {
			continue
		}
		if asked++; asked > mostSuspects {
			return
		}
		filter := ">"
		if all := c.Config.Filters(); len(all) == 1 {
			filter = all[0]
		} else if len(all) > 1 {
			continue
		}
		var answer struct {
			Message struct {
				Data    []byte    `json:"data"`
				Headers []byte    `json:"hdrs"`
				Time    time.Time `json:"time"`
			} `json:"message"`
		}
		body := map[string]any{"seq": c.last().Delivered.Stream + 1, "next_by_subj": filter}
		if err := g.ask(ctx, "STREAM.MSG.GET."+c.Stream, body, &answer); err != nil {
			continue // a comfort: the finding says the same without it
		}
		if !answer.Message.Time.IsZero() {
			c.NextTime = &answer.Message.Time
		}
		if size := len(answer.Message.Data) + len(answer.Message.Headers); size >= largeMessage {
			c.NextSize = size
		}
	}
}
