package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// lameDuck lets a node in lame-duck mode end soon.
const lameDuck = "lame_duck_grace_period: 1s\nlame_duck_duration: 30s\n"

// startServers starts what the lab is to run, and gives where clients connect.
func (s *stage) startServers(ctx context.Context, o Options) (at string, err error) {
	options := lab.Options{Config: chaos.UserConfig() + lameDuck + o.Plan.Server.Config + "\n"}
	if options.ServerBin, err = serverBin(o); err != nil {
		return "", err
	}
	if o.Plan.Server.Nodes > 1 {
		if s.cluster, err = lab.StartCluster(ctx, lab.ClusterOptions{Nodes: o.Plan.Server.Nodes, Server: options}); err != nil {
			return "", err
		}
		s.onLeave(s.cluster.Close)
		return s.cluster.URL(), nil
	}
	if s.lab, err = lab.Start(ctx, options); err != nil {
		return "", err
	}
	s.onLeave(s.lab.Close)
	return s.lab.URL(), nil
}

// serverBin is the binary that a plan of the lab runs; "": the embedded server, or what
// the environment names.
func serverBin(o Options) (string, error) {
	version := o.Plan.Server.Version
	switch {
	case o.ServerBin != "":
		return o.ServerBin, nil
	case version == "":
		return "", nil
	}
	path, err := lab.CachedServer(version)
	if errors.Is(err, lab.ErrNotCached) && version == lab.EmbeddedVersion {
		return "", nil
	}
	return path, err
}

// gone says which server of the lab does not run, and how it ended; nil: all do.
func (s *stage) gone() error {
	dead := func(name string, server *lab.Server) error {
		if server.Running() {
			return nil
		}
		return fmt.Errorf("%s of the lab has ended: %s", name, server.LastExit())
	}
	switch {
	case s.lab != nil:
		return dead("the server", s.lab)
	case s.cluster != nil:
		var failures []error
		for _, n := range s.cluster.Nodes() {
			failures = append(failures, dead("node "+n.Name(), n.Server))
		}
		return errors.Join(failures...)
	}
	return nil
}

// serverGone gives what is closed when a server of the lab ends, before ctx does.
func (s *stage) serverGone(ctx context.Context, c *crew) <-chan struct{} {
	var servers []*lab.Server
	if s.lab != nil {
		servers = append(servers, s.lab)
	}
	if s.cluster != nil {
		for _, n := range s.cluster.Nodes() {
			servers = append(servers, n.Server)
		}
	}
	any := make(chan struct{})
	once := sync.OnceFunc(func() { close(any) })
	for _, server := range servers {
		gone := server.Gone()
		c.spawn("the watch of the server", func() {
			select {
			case <-gone:
				once()
			case <-ctx.Done():
			}
		})
	}
	return any
}
