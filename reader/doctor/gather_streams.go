package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The err_codes that say that something does not exist.
const (
	codeConsumerNotFound = 10014
	codeStreamNotFound   = 10059
)

// streamAnswer is a stream as the API tells it.
type streamAnswer struct {
	Config struct {
		Name string `json:"name"`
		StreamConfig
	} `json:"config"`
	Created time.Time `json:"created"`
	State   struct {
		StreamState
		Subjects    map[string]uint64 `json:"subjects"`
		NumSubjects int               `json:"num_subjects"`
	} `json:"state"`
	Group *Group    `json:"cluster"`
	Time  time.Time `json:"ts"`
	Total int       `json:"total"`
	Limit int       `json:"limit"`
}

func (g *gathering) streams(ctx context.Context, first bool) error {
	g.tell("look at streams", 0, 0)
	if g.Stream != "" {
		return g.oneStream(ctx, first)
	}
	for offset := 0; ; {
		var page struct {
			Total   int            `json:"total"`
			Limit   int            `json:"limit"`
			Streams []streamAnswer `json:"streams"`
			Missing []string       `json:"missing"`
		}
		err := g.ask(ctx, "STREAM.LIST", map[string]int{"offset": offset}, &page)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			g.f.Blind = true
			g.f.notJudged("streams", why(err)+": name one stream, and what can be seen of it is judged", "all checks of streams and consumers")
			return nil
		}
		for _, answer := range page.Streams {
			g.sawStream(answer, first)
		}
		for _, name := range page.Missing {
			s := g.stream(name)
			s.Silent = true
		}
		offset += len(page.Streams)
		if len(page.Streams) == 0 || offset >= page.Total {
			return nil
		}
	}
}

func (g *gathering) oneStream(ctx context.Context, first bool) error {
	var answer streamAnswer
	err := g.ask(ctx, "STREAM.INFO."+g.Stream, nil, &answer)
	var api *APIError
	switch {
	case err == nil:
		answer.Config.Name = g.Stream
		g.sawStream(answer, first)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &api) && api.ErrCode == codeStreamNotFound && first:
		return fmt.Errorf("stream %q: %w (%d/%d)", g.Stream, ErrStreamNotFound, api.Code, api.ErrCode)
	case errors.As(err, &api) && api.ErrCode == codeStreamNotFound:
		return fmt.Errorf("stream %q was deleted during the watch: %w (%d/%d)", g.Stream, ErrStreamNotFound, api.Code, api.ErrCode)
	case errors.As(err, &api):
		g.stream(g.Stream).Error = api
	case errors.Is(err, errSilent):
		g.stream(g.Stream).Silent = true
	default:
		g.stream(g.Stream)
		g.f.notJudged("stream "+g.Stream, why(err), "READER_011", "READER_013", "READER_016", "READER_020")
	}
	return nil
}

// stream gives the facts of a stream, new where there are none.
func (g *gathering) stream(name string) *Stream {
	i, known := g.streamAt[name]
	if !known {
		i = len(g.f.Streams)
		g.f.Streams = append(g.f.Streams, Stream{Name: name})
		g.streamAt[name] = i
	}
	return &g.f.Streams[i]
}

func (g *gathering) sawStream(answer streamAnswer, first bool) {
	s := g.stream(answer.Config.Name)
	state := answer.State.StreamState
	state.Time = answer.Time
	if first {
		s.First = state
	}
	s.Created, s.Config, s.Last, s.Group, s.Error, s.Silent = answer.Created, answer.Config.StreamConfig, state, answer.Group, nil, false
	s.Config.Metadata = kept(s.Config.Metadata)
	s.subjects = answer.State.NumSubjects
	g.f.seen(answer.Time)
}

// What is counted to find out whether a consumer has passed over messages.
const (
	mostSubjects = 10_000 // of a stream whose messages are counted by subject
	mostCounts   = 64     // requests
)

// matching counts what the filters of consumers match, before they are looked at
// for the last time: what is published in between makes no consumer suspicious.
func (g *gathering) matching(ctx context.Context) {
	counts := map[[2]string]uint64{}
	asked := 0
	for i := range g.f.Consumers {
		c := &g.f.Consumers[i]
		filters := c.Config.Filters()
		if len(filters) == 0 || c.owner() != "" || c.Config.DeliverPolicy != "all" || len(c.Samples) == 0 || g.stream(c.Stream).subjects > mostSubjects {
			continue
		}
		sum, whole := uint64(0), true
		for _, filter := range filters {
			key := [2]string{c.Stream, filter}
			n, known := counts[key]
			if !known {
				if asked == mostCounts {
					g.f.notJudged("messages of every filter", fmt.Sprintf("more than %d filters: name one stream", mostCounts), "READER_012")
					return
				}
				asked++
				var err error
				if n, err = g.count(ctx, c.Stream, filter); err != nil {
					whole = false
					break
				}
				counts[key] = n
			}
			sum += n
		}
		if whole {
			c.Matching = &sum
		}
	}
}

// count says how many messages of a stream match a filter.
func (g *gathering) count(ctx context.Context, stream, filter string) (n uint64, err error) {
	for offset := 0; ; {
		var answer streamAnswer
		if err := g.ask(ctx, "STREAM.INFO."+stream, map[string]any{"subjects_filter": filter, "offset": offset}, &answer); err != nil {
			return 0, err
		}
		for _, messages := range answer.State.Subjects {
			n += messages
		}
		offset += len(answer.State.Subjects)
		if len(answer.State.Subjects) == 0 || offset >= answer.Total {
			return n, nil
		}
	}
}
