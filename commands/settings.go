package commands

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
)

// settings say how to connect: flags, environment and context in one.
type settings struct {
	context *natscontext.Context
	timeout time.Duration
	name    string                   // of the connection
	login   string                   // who logs in, without the secret, for errors
	written func(flag string) string // where the value of a flag was written, for errors
	socks   *socksDialer             // nil: no proxy
	scheme  string                   // how tables are drawn
	trace   bool
	tell    func(format string, args ...any) // of a trace; nil: there is none
	made    *madeOptions                     // what natsOptions gave; nil: not kept
	at      chaos.Place                      // where to go instead of where the context says; zero: nowhere else
}

func (p *program) settingsOf(c *cli.Context) (settings, error) {
	below, err := loadContext(c, c.String(flagContext))
	if err != nil {
		return settings{}, err
	}
	return p.settingsFrom(c, below)
}

// settingsFrom puts flags and environment on top of a context.
func (p *program) settingsFrom(c *cli.Context, below *natscontext.Context) (settings, error) {
	s := settings{timeout: c.Duration(flagTimeout), name: strings.TrimSpace(c.String(flagConnectionName)), trace: c.Bool(flagTrace)}
	s.written = func(flag string) string { return originOf(c, flag, below.Name) }
	if s.timeout <= 0 {
		return settings{}, usage{problem: fmt.Sprintf("%s: %s is not above 0", originOf(c, flagTimeout, ""), s.timeout), hint: "write --timeout 5s"}
	}
	if s.made = new(madeOptions); s.trace {
		s.tell = p.note
	}
	if s.name == "" {
		s.name = "nats-reader " + p.version
	}
	options := []natscontext.Option{
		natscontext.WithServerURL(serversOf(c, below)),
		natscontext.WithCertificate(pick(c, flagTLSCert, below.Certificate())),
		natscontext.WithKey(pick(c, flagTLSKey, below.Key())),
		natscontext.WithCA(pick(c, flagTLSCA, below.CA())),
		natscontext.WithSocksProxy(pick(c, flagSocksProxy, below.SocksProxy())),
		natscontext.WithJSEventPrefix(pick(c, flagEventPrefix, below.JSEventPrefix())),
		natscontext.WithInboxPrefix(pick(c, flagInboxPrefix, below.InboxPrefix())),
	}
	tlsFirst := below.TLSHandshakeFirst()
	if layerOf(c, flagTLSFirst) == layerFlag {
		tlsFirst = c.Bool(flagTLSFirst)
	}
	if tlsFirst {
		options = append(options, natscontext.WithTLSHandshakeFirst())
	}
	if err := existing(c, flagTLSCert, flagTLSKey, flagTLSCA); err != nil {
		return settings{}, err
	}
	login, err := s.chooseLogin(c, below)
	if err != nil {
		return settings{}, err
	}
	store, err := certStoreOptions(c, below)
	if err != nil {
		return settings{}, err
	}
	options = append(append(append(options, p.apiOptions(c, below)...), login...), store...)
	if s.context, err = natscontext.New("", false, options...); err != nil {
		return settings{}, err
	}
	if s.scheme, err = chooseScheme(c, below.ColorScheme()); err != nil {
		return settings{}, err
	}
	return s, s.check()
}

// existing refuses flags and variables whose file does not exist, used or not: as natscli.
func existing(c *cli.Context, names ...string) error {
	for _, name := range names {
		if layerOf(c, name) <= layerContext {
			continue
		}
		if _, err := os.Stat(strings.TrimPrefix(c.String(name), "file://")); err != nil {
			return usage{problem: originOf(c, name, "") + ": " + err.Error(), hint: hintsOfSettings[name], cause: err}
		}
	}
	return nil
}

// servers are the URLs to connect to.
func (s settings) servers() string {
	mine := s.context.ServerURL()
	if s.at.Servers == "" || withoutLogin(mine) == s.at.Servers {
		return mine
	}
	return s.at.Servers
}

// serversOf gives the URLs. nats.go lets a login in a URL win over any other: it is
// taken out where a higher layer brings its own.
func serversOf(c *cli.Context, below *natscontext.Context) string {
	urls := pick(c, flagServer, below.ServerURL())
	if highestLogin(c) > max(layerOf(c, flagServer), layerContext) {
		return withoutLogin(urls)
	}
	return urls
}

// apiOptions chooses between domain and prefix, which are two ways to say one thing. As in
// natscli the domain wins where both are said at one place.
func (p *program) apiOptions(c *cli.Context, below *natscontext.Context) []natscontext.Option {
	domain, prefix := layerOf(c, flagDomain), layerOf(c, flagAPIPrefix)
	switch {
	case domain != layerDefault:
		if prefix != layerDefault {
			p.note("warning: --%s is not used beside --%s: the domain %s is the prefix $JS.%s.API", flagAPIPrefix, flagDomain, c.String(flagDomain), c.String(flagDomain))
		}
		return []natscontext.Option{natscontext.WithJSDomain(c.String(flagDomain))}
	case prefix != layerDefault:
		return []natscontext.Option{natscontext.WithJSAPIPrefix(c.String(flagAPIPrefix))}
	case below.JSDomain() != "":
		return []natscontext.Option{natscontext.WithJSDomain(below.JSDomain())}
	default:
		return []natscontext.Option{natscontext.WithJSAPIPrefix(below.JSAPIPrefix())}
	}
}

// certStoreOptions say which certificate of a Windows store to use. Elsewhere there is
// none: a context that asks for one is refused when it is used.
func certStoreOptions(c *cli.Context, below *natscontext.Context) ([]natscontext.Option, error) {
	store, by, authorities := pick(c, flagCertStore, below.WindowsCertStore()), pick(c, flagCertMatchBy, below.WindowsCertStoreMatchBy()), below.WindowsCaCertsMatch()
	if layerOf(c, flagCertCAMatch) > layerContext {
		authorities = c.StringSlice(flagCertCAMatch)
	}
	if store != "" && by == "" {
		by = "subject"
	}
	for _, name := range []string{flagCertStore, flagCertMatch, flagCertMatchBy, flagCertCAMatch} {
		if !hasCertStore && layerOf(c, name) > layerContext {
			return nil, usage{problem: fmt.Sprintf("flag --%s: only Windows has a certificate store", name), hint: hintCertFiles}
		}
	}
	return []natscontext.Option{
		natscontext.WithWindowsCertStore(store), natscontext.WithWindowsCertStoreMatchBy(by),
		natscontext.WithWindowsCertStoreMatch(pick(c, flagCertMatch, below.WindowsCertStoreMatch())),
		natscontext.WithWindowsCaCertsMatch(authorities...),
	}, nil
}

const hintCertFiles = "--tlscert and --tlskey name the files of a certificate"
