package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// stage is what a run happens on: the server, the proxy in front of it, the connections
// of those who do not read, and the names.
type stage struct {
	lab     *lab.Server  // nil: a cluster, or a server of others
	cluster *lab.Cluster // nil: a single server, or one of others
	foreign *Foreign     // nil: the lab's

	proxy   *proxy.Proxy
	url     string // of the proxy, with the login where one is needed
	manage  jetstream.JetStream
	publish jetstream.JetStream

	stream   string
	subjects []string // of the load, the first is that of writer 1

	mu     sync.Mutex
	latest *nats.Conn // of the target
	leave  []func() error
}

// Names within a server of the lab, where nobody else is.
const (
	labStream  = "CHAOS"
	labSubject = "chaos"
)

// Bounds of what is done on the stage.
const (
	connectLimit = 10 * time.Second
	closeLimit   = 10 * time.Second
	requestLimit = 5 * time.Second
)

// setStage makes the server, the connections and the proxy. What it made is on the
// stage also after an error: close it.
func setStage(ctx context.Context, o Options, px proxy.Options) (*stage, error) {
	s := &stage{foreign: o.Server, stream: labStream}
	prefix := labSubject
	if s.foreign != nil {
		id := nuid.Next()
		s.stream, prefix = labStream+"-"+id, labSubject+"."+id
		if s.foreign.TargetName != "" {
			s.stream = s.foreign.TargetName
		}
	}
	for n := range max(o.Plan.Load.Subjects, 1) {
		s.subjects = append(s.subjects, fmt.Sprintf("%s.%d", prefix, n+1))
	}
	var err error
	if s.foreign == nil {
		err = s.setLab(ctx, o, px)
	} else {
		err = s.setForeign(ctx, px)
	}
	return s, err
}

func (s *stage) setLab(ctx context.Context, o Options, px proxy.Options) error {
	at, err := s.startServers(ctx, o)
	if err != nil {
		return err
	}
	for _, js := range []*jetstream.JetStream{&s.manage, &s.publish} {
		nc, err := connect(ctx, at)
		if err != nil {
			return err
		}
		s.onLeave(func() error { nc.Close(); return nil })
		if *js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(requestLimit)); err != nil {
			return err
		}
	}
	if err := s.raiseProxy(at, px); err != nil {
		return err
	}
	s.url = withLogin(s.proxy.URL(), url.UserPassword(chaos.ReaderUser, chaos.ReaderPassword))
	return nil
}

// steadfast are the options of a connection that outlives every fault.
var steadfast = []nats.Option{
	nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.FlusherTimeout(2 * time.Second),
	nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
}

func (s *stage) setForeign(ctx context.Context, px proxy.Options) error {
	for _, js := range []*jetstream.JetStream{&s.manage, &s.publish} {
		nc, err := s.foreign.Connect(ctx, steadfast...)
		if err != nil {
			return err
		}
		s.onLeave(func() error { nc.Close(); return nil })
		if *js, err = s.foreign.JetStream(nc); err != nil {
			return err
		}
	}
	if err := s.raiseProxy(s.foreign.Servers, px); err != nil {
		return err
	}
	s.url = withLogin(s.proxy.URL(), s.foreign.Login)
	return nil
}

func (s *stage) raiseProxy(upstream string, px proxy.Options) error {
	p, err := proxy.New(upstream, px)
	if err != nil {
		return err
	}
	s.proxy = p
	s.onLeave(p.Close)
	_, err = p.Listen("127.0.0.1:0")
	return err
}

func withLogin(address string, login *url.Userinfo) string {
	u, err := url.Parse(address)
	if err != nil || login == nil {
		return address
	}
	u.User = login
	return u.String()
}

// connectTarget makes the target's connection, through the proxy.
func (s *stage) connectTarget(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
	dial := target.Dial(s.url)
	if s.foreign != nil {
		dial = func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
			options = append(slices.Clip(options), nats.SetCustomDialer(s.proxy.Dialer()))
			return s.foreign.Connect(ctx, append(options, s.foreign.Inside...)...)
		}
	}
	nc, err := dial(ctx, options...)
	if err == nil {
		s.mu.Lock()
		s.latest = nc
		s.mu.Unlock()
	}
	return nc, err
}

// connected names the server that the target is connected to; "": none at the moment.
func (s *stage) connected() string {
	s.mu.Lock()
	nc := s.latest
	s.mu.Unlock()
	if nc == nil {
		return ""
	}
	return nc.ConnectedServerName()
}

// connect makes a connection of ours within connectLimit.
func connect(ctx context.Context, at string) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectLimit, fmt.Errorf("no answer within %s", connectLimit))
	defer cancel()
	nc, err := target.Dial(at, steadfast...)(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", without(at), err)
	}
	return nc, nil
}

// without is a list of addresses without their logins.
func without(addresses string) string {
	all := strings.Split(addresses, ",")
	for i, a := range all {
		if u, err := url.Parse(a); err == nil {
			u.User = nil
			all[i] = u.String()
		}
	}
	return strings.Join(all, ",")
}

// onLeave has something done when the stage is left, in the reverse order.
func (s *stage) onLeave(do func() error) { s.leave = append(s.leave, do) }

// close leaves nothing of the stage.
func (s *stage) close() error {
	var failures []error
	for len(s.leave) > 0 {
		last := len(s.leave) - 1
		do := s.leave[last]
		s.leave = s.leave[:last]
		failures = append(failures, do())
	}
	return errors.Join(failures...)
}
