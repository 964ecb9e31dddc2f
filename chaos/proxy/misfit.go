package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// What does not fit is told in one line that says what to do. Options are named as Options.Field, so that a
// program with flags can put those in their place.
var (
	errNoTLS    = errors.New("it does not speak TLS: use nats:// instead of tls://")
	errEarlyTLS = errors.New("it sent more than its INFO before TLS began")
	errLongInfo = fmt.Errorf("its INFO is longer than %d bytes", longLine)
)

// strangerError tells of a server that does not begin with INFO.
type strangerError struct{ begins string }

func (e *strangerError) Error() string {
	return fmt.Sprintf("it is no NATS server: it begins with %q; give the port for NATS clients", e.begins)
}

// ungreeted says why there is no INFO of a server.
func (p *Proxy) ungreeted(u upstream, err error, wait time.Duration) error {
	first := "; a server that does TLS first needs Options.UpstreamTLSFirst"
	if p.options.UpstreamTLSFirst {
		first = ""
	}
	_, alert := alertOf(err)
	switch {
	case alert:
		return fmt.Errorf("TLS with the upstream %s: %w: %s", u.address, err, p.serverMisfit(err))
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("upstream %s accepts and is silent: no INFO within %s: it is frozen, or no NATS server%s", u.address, wait, first)
	case gone(err):
		var network *net.OpError
		if errors.As(err, &network) {
			err = network.Err // without the ports, which differ each time
		}
		return fmt.Errorf("upstream %s ends the connection before its INFO is whole%s: %w", u.address, first, err)
	default:
		return fmt.Errorf("upstream %s: %w", u.address, err)
	}
}

// alertOf returns the words of a TLS alert that the peer sent.
func alertOf(err error) (words string, ok bool) {
	var network *net.OpError
	if !errors.As(err, &network) || network.Op != "remote error" {
		return "", false
	}
	return strings.TrimPrefix(network.Err.Error(), "tls: "), true
}

// serverMisfit says what to do about TLS with a server that failed.
func (p *Proxy) serverMisfit(err error) string {
	var (
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		names   x509.HostnameError
	)
	shown := p.options.UpstreamTLS != nil && (len(p.options.UpstreamTLS.Certificates) > 0 || p.options.UpstreamTLS.GetClientCertificate != nil)
	_, alert := alertOf(err)
	switch {
	case alert && shown:
		return "check that the client certificate, Options.UpstreamTLS.Certificates, is one that the server's CA has signed"
	case alert:
		return "the server wants a client certificate, or another version of TLS: give the certificate as Options.UpstreamTLS.Certificates"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s: it is frozen, or speaks no TLS at this port", p.options.DialTimeout)
	case errors.As(err, &record) && p.options.UpstreamTLSFirst:
		return "the server does not do TLS first: leave Options.UpstreamTLSFirst out"
	case errors.As(err, &unknown):
		return "check the CA: give the server's as Options.UpstreamTLS.RootCAs"
	case errors.As(err, &names):
		return "name the upstream by what its certificate is for"
	default:
		return "check the CA, Options.UpstreamTLS.RootCAs, and that the server speaks TLS at this port"
	}
}

// clientMisfit says in one line what was wrong with the TLS of a client, and what to do.
func (p *Proxy) clientMisfit(err error) string {
	var (
		record  tls.RecordHeaderError
		invalid *tls.CertificateVerificationError
	)
	words, alert := alertOf(err)
	switch {
	case alert && strings.Contains(words, "certificate"):
		return "the client refuses the certificate of this proxy (" + words + "): have it trust the CA of Options.ServerTLS.Certificates, and connect to a name that this is for"
	case alert:
		return "the client ends TLS: " + words
	case errors.As(err, &invalid), strings.Contains(err.Error(), "client didn't provide a certificate"):
		return "the client's certificate is refused: " + err.Error() + ": it needs one that Options.ServerTLS.ClientCAs has signed"
	case errors.As(err, &record):
		return "the client speaks no TLS: clients of this proxy have to speak TLS: connect with tls://"
	case gone(err) && !p.options.ServerTLSFirst:
		return "the client ends the connection before TLS is up: clients of this proxy have to speak TLS; one that does TLS first needs Options.ServerTLSFirst"
	case p.options.ServerTLSFirst && errors.Is(err, context.DeadlineExceeded):
		return "the client is silent: clients of this proxy have to speak TLS first"
	case p.options.ServerTLSFirst:
		return "the client does not begin with TLS: clients of this proxy have to speak TLS first: " + err.Error()
	default:
		return "the client does not begin TLS: clients of this proxy have to speak TLS: connect with tls://: " + err.Error()
	}
}

// gone tells an error of a connection that the peer ended.
func gone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// broken tells of a direction that ended with a TLS alert: a server that misses a certificate sends it once TLS is
// up, with TLS 1.3, and the client is to hear of it too.
func (f *flow) broken(err error) {
	words, alert := alertOf(err)
	switch {
	case !alert || f.c.state() != open || words == "user canceled":
	case f.dir == Up:
		f.c.p.notice(f.c, f.c.p.clientMisfit(err))
	default:
		text := "TLS with the server behind this proxy failed: " + words
		f.c.p.notice(f.c, "the upstream ended TLS: "+words+": "+f.c.p.serverMisfit(err))
		if !f.opaque {
			f.pending = append(f.pending, injection{data: []byte("-ERR '" + text + "'\r\n"), facts: Frame{Verb: ERR, Text: text}})
		}
	}
}
