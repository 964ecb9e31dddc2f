package commands

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"
)

// loginFlags each name somebody to log in as. They are one decision: whoever logs in by
// one layer does not get the login of the layer below beside it.
var loginFlags = []string{flagUser, flagToken, flagCreds, flagNKey, flagJWT}

// loginParts belong to one of them, and may come from another layer: the context has
// the user, the environment the password.
var loginParts = map[string]string{flagPassword: flagUser, flagSeed: flagJWT}

// highestLogin is the highest layer above the context's with a login.
func highestLogin(c *cli.Context) layer {
	highest := layerDefault
	for _, name := range loginFlags {
		highest = max(highest, layerOf(c, name))
	}
	return highest
}

// identity is what the settings log in with, by flag.
type identity struct {
	from layer
	of   map[string]string
}

// readLogin takes the login of the highest layer that has one, and its parts.
func readLogin(c *cli.Context, below *natscontext.Context) identity {
	l := identity{from: highestLogin(c), of: map[string]string{}}
	lower := contextLogin(below)
	for _, name := range loginFlags {
		switch {
		case l.from == layerDefault:
			l.of[name] = lower[name]
		case layerOf(c, name) == l.from:
			l.of[name] = c.String(name)
		}
	}
	for part, of := range loginParts {
		switch {
		case l.of[of] == "":
		case layerOf(c, part) > layerContext:
			l.of[part] = c.String(part)
		case l.from == layerDefault || part == flagSeed:
			l.of[part] = lower[part]
		}
	}
	if user := l.of[flagUser]; user != "" && l.of[flagPassword] == "" && l.from > layerContext {
		// As natscli: a user without a password is a token.
		l.of[flagUser], l.of[flagToken] = "", user
	}
	return l
}

func contextLogin(c *natscontext.Context) map[string]string {
	return map[string]string{
		flagUser: c.User(), flagPassword: c.Password(), flagToken: c.Token(), flagCreds: c.Creds(),
		flagNKey: c.NKey(), flagJWT: c.UserJWT(), flagSeed: c.UserSeed(),
	}
}

// inContext leads where another context does, as this one does for the rest.
func (s settings) inContext(c *natscontext.Context) (settings, error) {
	s.context, s.login = c, identity{of: contextLogin(c)}.name()
	s.written = func(flag string) string { return fieldOf(c.Name, flag) }
	return s, s.check()
}

// chooseLogin gives the options of the login. One in the server's URL counts as one of
// the URL's layer.
func (s *settings) chooseLogin(c *cli.Context, below *natscontext.Context) ([]natscontext.Option, error) {
	l := readLogin(c, below)
	if server := layerOf(c, flagServer); server > layerDefault && server >= l.from && hasLogin(c.String(flagServer)) {
		s.login = "the login in the server's URL"
		return nil, nil
	}
	switch {
	case layerOf(c, flagPassword) == layerFlag && l.of[flagUser] == "":
		return nil, usage{problem: "flag --password: a password without a user", hint: "set --user or NATS_USER as well"}
	case layerOf(c, flagSeed) == layerFlag && l.of[flagJWT] == "":
		return nil, usage{problem: "flag --seed: a seed without a JWT", hint: "set --jwt or NATS_JWT as well; a file with both is for --creds, one with a seed alone for --nkey"}
	}
	s.login = l.name()
	if l.from > layerContext && layerOf(c, flagUser) == l.from && l.of[flagUser] == "" {
		s.login = "the token in --user of " + l.from.String()
		written := s.written
		s.written = func(flag string) string {
			if flag == flagToken {
				flag = flagUser
			}
			return written(flag)
		}
	}
	return []natscontext.Option{
		natscontext.WithUser(l.of[flagUser]), natscontext.WithPassword(l.of[flagPassword]),
		natscontext.WithToken(l.of[flagToken]), natscontext.WithCreds(l.of[flagCreds]),
		natscontext.WithNKey(l.of[flagNKey]), natscontext.WithUserJWT(l.of[flagJWT]),
		natscontext.WithUserSeed(l.of[flagSeed]),
	}, nil
}

// name says who logs in: the user's name or the kind of secret, never the secret.
func (l identity) name() string {
	from := max(l.from, layerContext).String()
	switch {
	case l.of[flagUser] != "":
		return fmt.Sprintf("user %q of %s", l.of[flagUser], from)
	case l.of[flagCreds] != "":
		return "the credentials file of " + from
	case l.of[flagNKey] != "":
		return "the nkey of " + from
	case l.of[flagJWT] != "":
		return "the JWT of " + from
	case l.of[flagToken] != "":
		return "the token of " + from
	default:
		return ""
	}
}

// loginOf is the login of the settings where it fits into a URL, with what only says
// where a secret is looked up; nil: it does not fit.
func loginOf(s settings) (*url.Userinfo, error) {
	all, err := s.optionValues()
	if err != nil {
		return nil, err
	}
	switch {
	case all.User != "":
		return url.UserPassword(all.User, all.Password), nil
	case all.Token != "":
		return url.User(all.Token), nil
	}
	first, _, _ := strings.Cut(s.context.ServerURL(), ",")
	if u, err := url.Parse(strings.TrimSpace(first)); err == nil {
		return u.User, nil
	}
	return nil, nil
}
