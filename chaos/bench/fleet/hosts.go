package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// host is a server of the lab.
type host struct {
	name   string
	server *lab.Server
	wanted *atomic.Bool // the end of its present run is ours
}

func (s *stage) startServers(ctx context.Context) error {
	if s.plan.Given {
		return nil
	}
	o := lab.Options{ServerBin: s.plan.ServerBin, MaxStart: serverTime}
	if s.plan.Nodes <= 1 {
		one, err := lab.Start(ctx, o)
		if err != nil {
			return err
		}
		s.url = one.URL()
		s.host(ctx, "nats-server", one)
		return nil
	}
	c, err := lab.StartCluster(ctx, lab.ClusterOptions{Nodes: s.plan.Nodes, Server: o})
	if err != nil {
		return err
	}
	s.cluster, s.url = c, c.URL()
	for _, n := range c.Nodes() {
		s.host(ctx, n.Name(), n.Server)
	}
	return nil
}

func (s *stage) host(ctx context.Context, name string, server *lab.Server) {
	h := &host{name: name, server: server}
	s.hosts = append(s.hosts, h)
	s.watch(ctx, h)
}

// watch ends the measurement when the present run of a server ends and nobody wanted that.
func (s *stage) watch(ctx context.Context, h *host) {
	wanted, gone := &atomic.Bool{}, h.server.Gone()
	h.wanted = wanted
	s.watching.Go(func() {
		select {
		case <-ctx.Done():
		case <-gone:
			if !wanted.Load() && ctx.Err() == nil {
				s.fail(fmt.Errorf("%s of the lab ended by itself: %s", h.name, h.server.LastExit()))
			}
		}
	})
}

// end ends a server by kill or stop.
func (h *host) end(ctx context.Context, how string) error {
	h.wanted.Store(true)
	if how == endStop {
		return h.server.Term(ctx)
	}
	return h.server.Kill(ctx)
}

// start starts a server that was ended, and waits until it is ready; in a cluster, until it has its place.
func (s *stage) start(ctx context.Context, h *host) error {
	if err := h.server.Start(ctx); err != nil {
		return err
	}
	s.watch(ctx, h)
	if s.cluster == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	return s.cluster.AwaitReady(limited)
}

// monitored adds up what each server of the lab says of itself.
func (s *stage) monitored(ctx context.Context, path string, into func(json.RawMessage) error) error {
	for _, h := range s.hosts {
		if err := h.monitor(ctx, path, into); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return nil
}

func (h *host) monitor(ctx context.Context, path string, into func(json.RawMessage) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.MonitorURL()+path, nil)
	if err != nil {
		return err
	}
	// A connection a request: none outlives it.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	var body json.RawMessage
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return into(body)
}

// serverMemory is what the servers of the lab have in RAM, in bytes; 0: a server of others.
func (s *stage) serverMemory(ctx context.Context) (all uint64, err error) {
	err = s.monitored(ctx, "/varz", func(body json.RawMessage) error {
		var v struct {
			Mem uint64 `json:"mem"`
		}
		err := json.Unmarshal(body, &v)
		all += v.Mem
		return err
	})
	return all, err
}

// requests is how many API requests were answered: by the lab's servers, or of the account where they are others'. The
// question itself counts there, and is counted in asked.
func (s *stage) requests(ctx context.Context) (all int64, err error) {
	if s.plan.Given {
		err = s.request(ctx, func(ctx context.Context) error {
			info, err := s.manage.AccountInfo(ctx)
			if err == nil {
				all = int64(info.API.Total)
			}
			return err
		})
		return all, err
	}
	err = s.monitored(ctx, "/jsz", func(body json.RawMessage) error {
		var v struct {
			API struct {
				Total int64 `json:"total"`
			} `json:"api"`
		}
		err := json.Unmarshal(body, &v)
		all += v.API.Total
		return err
	})
	return all, err
}
