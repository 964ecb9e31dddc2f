package commands

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/nats-io/nats.go"
)

// noConnection says in one line which server did not let us in, and why, without
// secrets: it gets into reports, too.
func noConnection(s settings, err error) error {
	servers := hideLogins(s.servers())
	u := usage{cause: err}
	var network *net.OpError
	switch {
	case s.socks != nil && s.socks.failed() != nil:
		u.problem = fmt.Sprintf("no connection to %s: %v", servers, s.socks.failed())
		u.hint = fmt.Sprintf("the proxy is that of %s: it has to run, to take the login in its URL, and to reach the server", s.origin(flagSocksProxy))
	case errors.Is(err, nats.ErrNoServers):
		u.problem = fmt.Sprintf("no server at %s: connection refused", servers)
		u.hint = "start a nats-server, or name another with --server or --context; watch --demo brings its own"
	case refusesLogin(err), strings.Contains(err.Error(), "nkeys not supported"):
		u.problem = fmt.Sprintf("wrong credentials: the server at %s refuses %s: %v", servers, s.who(), err)
		u.hint = s.hintLogin()
	case errors.Is(err, nats.ErrTimeout), errors.As(err, &network) && network.Timeout():
		u.problem = fmt.Sprintf("no server at %s: no answer within %s", servers, s.timeout)
		u.hint = "check --server, and --timeout on a slow link; a server with handshake_first wants --tlsfirst"
	default:
		u.problem = fmt.Sprintf("no connection to %s: %v", servers, err)
		u.hint = s.hintTLS(err)
	}
	u.problem = redact(u.problem)
	return u
}

// hintLogin says what to log in with, and what may be wrong with what was given.
func (s settings) hintLogin() string {
	for name, value := range map[string]string{flagJWT: s.context.UserJWT(), flagSeed: s.context.UserSeed()} {
		if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "~") {
			return fmt.Sprintf("%s is taken as it is: write file://%s where it is a file", s.origin(name), value)
		}
	}
	return "set --user and --password, --token, --creds, --nkey or --context"
}

// hintTLS says which flag goes with what TLS is refused for.
func (s settings) hintTLS(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		record  tls.RecordHeaderError
		text    = err.Error()
	)
	hasCert := s.context.Certificate() != ""
	switch {
	case errors.As(err, &unknown):
		return "--tlsca names the authority that has signed the server's certificate"
	case errors.As(err, &name):
		return "name the server in --server as its certificate does"
	case strings.Contains(text, "certificate required"), !hasCert && strings.Contains(text, "bad certificate"), strings.Contains(text, "closed by remote after TLS handshake"):
		if hasCert != (s.context.Key() != "") {
			return "the server wants a client certificate: --tlscert and --tlskey go together, and one is missing"
		}
		return "the server wants a client certificate: --tlscert and --tlskey"
	case errors.As(err, &record), strings.Contains(text, "first record does not look like a TLS handshake"):
		return "the server does not begin with TLS: leave out --tlsfirst, or tls:// in --server"
	case errors.Is(err, io.EOF) && !s.context.TLSHandshakeFirst():
		return "the server ended it without a word: one with handshake_first wants --tlsfirst; and check --server"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server speaks no TLS: leave out tls:// in --server and the TLS flags"
	case errors.Is(err, nats.ErrSecureConnRequired):
		return "the server wants TLS: tls:// in --server, or --tlsca for an authority of its own"
	}
	return "check --server, --context and the TLS flags"
}
