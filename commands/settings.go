package commands

import (
	"errors"
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
	name    string // of the connection
	login   string // who logs in, without the secret, for errors
	trace   bool
	at      chaos.Place // where to go instead of where the context says; zero: nowhere else
}

// layer is where a setting comes from; the highest wins.
type layer int

const (
	layerDefault layer = iota
	layerContext
	layerEnvironment
	layerFlag
)

func (l layer) String() string {
	return [...]string{"the default", "the context", "the environment", "the flags"}[l]
}

// loginFlags are one decision: whoever gives a login in one layer does not get
// half of another login from the layer below.
var loginFlags = []string{flagUser, flagPassword, flagToken, flagCreds, flagNKey, flagJWT, flagSeed}

func (p *program) settingsOf(c *cli.Context) (settings, error) {
	below, err := loadContext(c, c.String(flagContext))
	if err != nil {
		return settings{}, err
	}
	return p.settingsFrom(c, below)
}

// settingsFrom puts flags and environment on top of a context.
func (p *program) settingsFrom(c *cli.Context, below *natscontext.Context) (settings, error) {
	s := settings{timeout: c.Duration(flagTimeout), name: c.String(flagConnectionName), trace: c.Bool(flagTrace)}
	if s.timeout <= 0 {
		return settings{}, usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagTimeout, s.timeout)}
	}
	if s.name == "" {
		s.name = "nats-reader " + p.version
	}
	options := []natscontext.Option{
		natscontext.WithServerURL(servers(c, below)),
		natscontext.WithCertificate(pick(c, flagTLSCert, below.Certificate())),
		natscontext.WithKey(pick(c, flagTLSKey, below.Key())),
		natscontext.WithCA(pick(c, flagTLSCA, below.CA())),
		natscontext.WithSocksProxy(pick(c, flagSocksProxy, below.SocksProxy())),
		natscontext.WithJSEventPrefix(pick(c, flagEventPrefix, below.JSEventPrefix())),
		natscontext.WithInboxPrefix(pick(c, flagInboxPrefix, below.InboxPrefix())),
		natscontext.WithWindowsCertStore(below.WindowsCertStore()),
		natscontext.WithWindowsCertStoreMatchBy(below.WindowsCertStoreMatchBy()),
		natscontext.WithWindowsCertStoreMatch(below.WindowsCertStoreMatch()),
		natscontext.WithWindowsCaCertsMatch(below.WindowsCaCertsMatch()...),
	}
	if c.Bool(flagTLSFirst) || below.TLSHandshakeFirst() {
		options = append(options, natscontext.WithTLSHandshakeFirst())
	}
	api, err := apiOptions(c, below)
	if err != nil {
		return settings{}, err
	}
	login, err := s.chooseLogin(c, below)
	if err != nil {
		return settings{}, err
	}
	s.context, err = natscontext.New("", false, append(append(options, api...), login...)...)
	return s, err
}

// servers are the URLs to connect to.
func (s settings) servers() string {
	mine := s.context.ServerURL()
	if s.at.Servers == "" || withoutLogin(mine) == s.at.Servers {
		return mine
	}
	return s.at.Servers
}

// pick gives the value of a text flag: command line, environment, else below.
func pick(c *cli.Context, name, below string) string {
	if layerOf(c, name) > layerContext {
		return c.String(name)
	}
	return below
}

// servers gives the URLs. nats.go lets a login in a URL win over any other: it is
// taken out where a higher layer brings its own.
func servers(c *cli.Context, below *natscontext.Context) string {
	urls := pick(c, flagServer, below.ServerURL())
	if highestLogin(c) > max(layerOf(c, flagServer), layerContext) {
		return withoutLogin(urls)
	}
	return urls
}

// highestLogin is the highest layer above the context's with a login.
func highestLogin(c *cli.Context) layer {
	highest := layerDefault
	for _, name := range loginFlags {
		highest = max(highest, layerOf(c, name))
	}
	return highest
}

// layerOf tells where a flag's value comes from; layerDefault: it is not set.
func layerOf(c *cli.Context, name string) layer {
	given, _ := c.App.Metadata[givenFlags].(map[string]bool)
	switch {
	case given[name]:
		return layerFlag
	case c.IsSet(name):
		return layerEnvironment
	default:
		return layerDefault
	}
}

// apiOptions chooses between domain and prefix, which are two ways to say one thing.
func apiOptions(c *cli.Context, below *natscontext.Context) ([]natscontext.Option, error) {
	domain, prefix := layerOf(c, flagDomain), layerOf(c, flagAPIPrefix)
	switch {
	case domain != layerDefault && prefix != layerDefault:
		return nil, usage{problem: "flags --js-domain and --js-api-prefix exclude each other", hint: "the domain D is the prefix $JS.D.API"}
	case domain != layerDefault:
		return []natscontext.Option{natscontext.WithJSDomain(c.String(flagDomain))}, nil
	case prefix != layerDefault:
		return []natscontext.Option{natscontext.WithJSAPIPrefix(c.String(flagAPIPrefix))}, nil
	default:
		return []natscontext.Option{natscontext.WithJSDomain(below.JSDomain()), natscontext.WithJSAPIPrefix(below.JSAPIPrefix())}, nil
	}
}

// chooseLogin takes the whole login from the highest layer that has one. A login
// in the server's URL counts as one of the URL's layer.
func (s *settings) chooseLogin(c *cli.Context, below *natscontext.Context) ([]natscontext.Option, error) {
	highest := highestLogin(c)
	if server := layerOf(c, flagServer); server > layerDefault && server >= highest && hasLogin(c.String(flagServer)) {
		s.login = "the login in the server's URL"
		return nil, nil
	}
	value := func(name string) string {
		if layerOf(c, name) == highest {
			return c.String(name)
		}
		return ""
	}
	if highest == layerDefault {
		value = func(name string) string { return contextLogin(below)[name] }
		highest = layerContext
	}
	if user := value(flagUser); user != "" && value(flagPassword) == "" && highest > layerContext {
		// As natscli: a user without a password is a token.
		s.login = "the token in --user of " + highest.String()
		return []natscontext.Option{natscontext.WithToken(user)}, nil
	}
	if value(flagPassword) != "" && value(flagUser) == "" {
		return nil, usage{problem: "a password without a user", hint: "set --user or NATS_USER as well"}
	}
	s.login = nameLogin(value, highest)
	return []natscontext.Option{
		natscontext.WithUser(value(flagUser)), natscontext.WithPassword(value(flagPassword)),
		natscontext.WithToken(value(flagToken)), natscontext.WithCreds(value(flagCreds)),
		natscontext.WithNKey(value(flagNKey)), natscontext.WithUserJWT(value(flagJWT)),
		natscontext.WithUserSeed(value(flagSeed)),
	}, nil
}

func contextLogin(c *natscontext.Context) map[string]string {
	return map[string]string{
		flagUser: c.User(), flagPassword: c.Password(), flagToken: c.Token(), flagCreds: c.Creds(),
		flagNKey: c.NKey(), flagJWT: c.UserJWT(), flagSeed: c.UserSeed(),
	}
}

// nameLogin says who logs in: the user's name or the kind of secret, never the secret.
func nameLogin(value func(string) string, from layer) string {
	switch {
	case value(flagUser) != "":
		return fmt.Sprintf("user %q of %s", value(flagUser), from)
	case value(flagCreds) != "":
		return "the credentials file of " + from.String()
	case value(flagNKey) != "":
		return "the nkey of " + from.String()
	case value(flagJWT) != "":
		return "the JWT of " + from.String()
	case value(flagToken) != "":
		return "the token of " + from.String()
	default:
		return ""
	}
}

// loadContext loads the context of a name, or the one selected in natscli.
func loadContext(c *cli.Context, name string) (*natscontext.Context, error) {
	if c.Bool(flagNoContext) {
		return natscontext.New("", false)
	}
	return namedContext(name, flagContext)
}

// namedContext loads the context that a flag names.
func namedContext(name, flag string) (*natscontext.Context, error) {
	if strings.HasSuffix(name, ".json") {
		if _, err := os.Stat(name); err != nil {
			return nil, usage{problem: fmt.Sprintf("flag --%s: %v", flag, err)}
		}
		ctx, err := natscontext.NewFromFile(name)
		if err != nil {
			return nil, usage{problem: fmt.Sprintf("context file %s: %v", name, err), cause: err}
		}
		return ctx, nil
	}
	ctx, err := natscontext.New(name, true)
	if err == nil {
		return ctx, nil
	}
	which := fmt.Sprintf("context %q", name)
	if name == "" {
		which = fmt.Sprintf("selected context %q", natscontext.SelectedContext())
	}
	if errors.Is(err, natscontext.ErrNotFound) {
		known := natscontext.KnownContexts()
		otherwise := "there are no contexts: use --server, or make one with nats context add"
		if len(known) > 0 {
			otherwise = "contexts: " + strings.Join(known, ", ")
		}
		return nil, usage{problem: which + " not found", hint: didYouMean(name, known, otherwise), cause: err}
	}
	return nil, usage{problem: fmt.Sprintf("%s: %v", which, err), hint: "--no-context leaves contexts aside", cause: err}
}
