package commands

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How our connections behave: they come back for ever, soon at first, spread
// when many come back at once, and no call of nats.go blocks for long behind a
// server that stands still.
const (
	flusherTimeout = 2 * time.Second
	firstReconnect = 50 * time.Millisecond
	slowReconnect  = 2 * time.Second
)

// reconnectDelay doubles from firstReconnect to slowReconnect, less up to half
// of it by chance.
func reconnectDelay(attempts int) time.Duration {
	d := firstReconnect << min(max(attempts-1, 0), 10)
	d = min(d, slowReconnect)
	return d - time.Duration(rand.Int64N(int64(d)/2))
}

// connect makes one connection within the time-out of each server, or says why not. extra
// options win; a goroutine closes a connection that comes too late.
func (p *program) connect(ctx context.Context, s settings, extra ...nats.Option) (*nats.Conn, error) {
	return p.connectWith(ctx, s, append(p.connectionOptions(s), extra...)...)
}

// connectWith is connect with these options alone, beside the login and the name.
func (p *program) connectWith(ctx context.Context, s settings, options ...nats.Option) (*nats.Conn, error) {
	login, err := s.natsOptions()
	if err != nil {
		return nil, err
	}
	servers := s.servers()
	type answer struct {
		nc  *nats.Conn
		err error
	}
	made := make(chan answer, 1)
	go func() {
		nc, err := nats.Connect(servers, append(append(login, nats.Name(s.name)), options...)...)
		made <- answer{nc, err}
	}()
	late := func() {
		if a := <-made; a.nc != nil {
			a.nc.Close()
		}
	}
	// Each server has the time that nats.Timeout gives it.
	limit := time.NewTimer(s.timeout * time.Duration(1+strings.Count(servers, ",")))
	defer limit.Stop()
	select {
	case a := <-made:
		if a.err != nil {
			return nil, noConnection(s, a.err)
		}
		return a.nc, nil
	case <-limit.C:
		go late()
		return nil, noConnection(s, nats.ErrTimeout)
	case <-ctx.Done():
		go late()
		return nil, context.Cause(ctx)
	}
}

func (p *program) connectionOptions(s settings) []nats.Option {
	options := []nats.Option{
		nats.Name(s.name),
		nats.Timeout(s.timeout),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(reconnectDelay),
		nats.IgnoreAuthErrorAbort(), // a login that is refused for a while is tried again
		nats.FlusherTimeout(flusherTimeout),
		// nats.go prints errors of its own accord where no handler is set.
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			p.trace(s, "connection: %v", err)
			p.loginLost(s, err)
		}),
		nats.ReconnectHandler(func(*nats.Conn) { p.turnedAway.Store(false) }),
	}
	if !s.trace {
		return options
	}
	return append(options,
		nats.ConnectHandler(func(nc *nats.Conn) { p.trace(s, "connected to %s", nc.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { p.trace(s, "disconnected: %v", err) }),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			p.trace(s, "reconnected to %s", nc.ConnectedUrlRedacted())
			p.turnedAway.Store(false)
		}),
		nats.DiscoveredServersHandler(func(nc *nats.Conn) { p.trace(s, "servers: %s", strings.Join(nc.Servers(), ", ")) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { p.trace(s, "reconnect: %v", err) }),
	)
}

// loginLost tells, once until we are back, that the server does not let us in any
// more: nobody but an operator can mend that, and we try on.
func (p *program) loginLost(s settings, err error) {
	if !refusesLogin(err) || p.turnedAway.Swap(true) {
		return
	}
	p.note("warning: the server refuses %s: %v: trying again until it is let in", s.who(), err)
}

// refusesLogin says whether an error is the server's word about who we are.
func refusesLogin(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired) || strings.Contains(strings.ToLower(err.Error()), "authorization violation")
}

// who says who logs in, without the secret.
func (s settings) who() string {
	if s.login == "" {
		return "a connection without a login"
	}
	return s.login
}

func (p *program) trace(s settings, format string, args ...any) {
	if s.trace {
		p.note("trace: "+format, args...)
	}
}

// jetStream gives the JetStream API as the settings address it.
func (s settings) jetStream(nc *nats.Conn) (jetstream.JetStream, error) {
	options := []jetstream.JetStreamOpt{jetstream.WithDefaultTimeout(s.timeout)}
	if s.tell != nil {
		options = append(options, jetstream.WithClientTrace(&jetstream.ClientTrace{
			RequestSent:      func(subject string, payload []byte) { s.tell("trace: >>> %s %s", subject, payload) },
			ResponseReceived: func(subject string, payload []byte, _ nats.Header) { s.tell("trace: <<< %s %s", subject, payload) },
		}))
	}
	prefix, domain := s.context.JSAPIPrefix(), s.context.JSDomain()
	if s.at.Servers != "" {
		prefix, domain = s.at.APIPrefix, s.at.Domain
	}
	switch {
	case domain != "":
		return jetstream.NewWithDomain(nc, domain, options...)
	case prefix != "":
		return jetstream.NewWithAPIPrefix(nc, prefix, options...)
	default:
		return jetstream.New(nc, options...)
	}
}
