package commands

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// upstreamTLS is the TLS that a connection of the settings would speak with its
// server, for a proxy that speaks it instead; nil: none is asked for.
func upstreamTLS(s settings) (config *tls.Config, first bool, err error) {
	all, err := s.optionValues()
	if err != nil {
		return nil, false, err
	}
	if all.TLSConfig == nil && all.RootCAsCB == nil && all.TLSCertCB == nil {
		return nil, all.TLSHandshakeFirst, nil
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12}
	if all.TLSConfig != nil {
		config = all.TLSConfig.Clone()
	}
	if all.RootCAsCB != nil {
		var pool *x509.CertPool
		if pool, err = all.RootCAsCB(); err == nil {
			config.RootCAs = pool
		}
	}
	if err == nil && all.TLSCertCB != nil {
		var cert tls.Certificate
		if cert, err = all.TLSCertCB(); err == nil {
			config.Certificates = []tls.Certificate{cert}
		}
	}
	if err != nil {
		return nil, false, usage{problem: "TLS: " + err.Error(), hint: "check --tlscert, --tlskey and --tlsca", cause: err}
	}
	return config, all.TLSHandshakeFirst, nil
}

// optionFlags are the flags that set what a proxy names in its remarks.
var optionFlags = strings.NewReplacer(
	"Options.UpstreamTLS.RootCAs", "--"+flagTLSCA,
	"Options.UpstreamTLS.Certificates", "--"+flagTLSCert+" and --"+flagTLSKey,
	"Options.UpstreamTLSFirst", "--"+flagTLSFirst,
	"Options.ServerTLS.Certificates", "--"+flagListenCert+" and --"+flagListenKey,
	"Options.ServerTLSFirst", "--"+flagListenFirst,
)

// noticeText is a proxy's remark in the words of the command line, without secrets.
func noticeText(n proxy.Notice) string {
	text := optionFlags.Replace(n.Text)
	if n.Conn != 0 {
		text = fmt.Sprintf("connection %d: %s", n.Conn, text)
	}
	return redact(oneLine(text))
}

// plainInside has a connection through a proxy in this process speak no TLS: the
// proxy speaks it with the server. It must be the last option.
func plainInside(o *nats.Options) error {
	o.Secure, o.TLSHandshakeFirst, o.TLSConfig, o.TLSCertCB, o.RootCAsCB = false, false, nil, nil, nil
	for i, server := range o.Servers {
		if u, err := url.Parse(server); err == nil && strings.EqualFold(u.Scheme, "tls") {
			u.Scheme = "nats"
			o.Servers[i] = u.String()
		}
	}
	return nil
}

// certificateOf loads what the proxy shows to its clients; without both files it
// speaks no TLS with them.
func certificateOf(cert, key string) (*tls.Config, error) {
	switch {
	case cert == "" && key == "":
		return nil, nil
	case cert == "" || key == "":
		return nil, usage{problem: fmt.Sprintf("flags --%s and --%s go together", flagListenCert, flagListenKey)}
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usage{problem: fmt.Sprintf("flag --%s: %v", flagListenCert, err), hint: "both files are PEM, and the key is that of the certificate", cause: err}
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}
