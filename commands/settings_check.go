package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
)

// check refuses what no server has to be asked about.
func (s *settings) check() error {
	bad := func(name, problem, hint string) error {
		return usage{problem: s.origin(name) + ": " + problem, hint: hint}
	}
	if problem := badServers(s.context.ServerURL()); problem != "" {
		return bad(flagServer, problem, "write --server nats://127.0.0.1:4222; several are separated by commas")
	}
	if domain := s.context.JSDomain(); domain != "" && (badSubject(domain) || strings.Contains(domain, ".")) {
		return bad(flagDomain, fmt.Sprintf("%q is no name of a domain", domain), "it is what the server's jetstream block names, one word without dots: hub")
	}
	if prefix := s.context.JSAPIPrefix(); prefix != "" && badSubject(strings.TrimSuffix(prefix, ".")) {
		return bad(flagAPIPrefix, fmt.Sprintf("%q is no prefix of subjects", prefix), "it is what an account imports $JS.API as: write --js-api-prefix ACME.API")
	}
	if prefix := s.context.JSEventPrefix(); prefix != "" && badSubject(strings.TrimSuffix(prefix, ".")) {
		return bad(flagEventPrefix, fmt.Sprintf("%q is no prefix of subjects", prefix), "it is what an account imports $JS.EVENT as: write --js-event-prefix ACME.EVENT")
	}
	if prefix := s.context.InboxPrefix(); prefix != "" && badSubject(prefix) {
		return bad(flagInboxPrefix, fmt.Sprintf("%q is no prefix of inboxes", prefix), "no dot at the end, no wildcard: write --inbox-prefix _INBOX.ann")
	}
	var err error
	if s.socks, err = socksOf(s.context.SocksProxy(), s.timeout); err != nil {
		return bad(flagSocksProxy, err.Error(), "write --socks-proxy socks5://127.0.0.1:1080; a login is socks5://user:password@host:port; none leaves that of the context")
	}
	return nil
}

// badServers says what is wrong with the URLs of servers; empty: nothing. nats.go leaves
// empty ones out, and takes every scheme for its own.
func badServers(servers string) string {
	some := false
	for server := range strings.SplitSeq(servers, ",") {
		if server = strings.TrimSpace(server); server == "" {
			continue
		}
		if problem := badServer(server); problem != "" {
			return problem
		}
		some = true
	}
	if !some {
		return "there is no URL in it"
	}
	return ""
}

func badServer(server string) string {
	if !strings.Contains(server, "://") {
		server = "nats://" + server
	}
	u, err := url.Parse(server)
	switch {
	case err != nil:
		// Its own words show the URL, and a login that has the fault cannot be told apart.
		return "a URL cannot be read: a login with special signs needs them written as %40"
	case !slices.Contains([]string{"nats", "tls", "ws", "wss"}, strings.ToLower(u.Scheme)):
		return fmt.Sprintf("%q is not one of nats, tls, ws, wss", u.Scheme)
	case u.Hostname() == "":
		return "a URL has no host"
	}
	return ""
}

// badSubject says whether a text cannot stand in a subject to publish to.
func badSubject(s string) bool {
	return slices.Contains(strings.Split(s, "."), "") || strings.ContainsAny(s, "*>") || strings.ContainsFunc(s, unicode.IsSpace)
}

// settingError is a setting that cannot be used, by its flag.
type settingError struct {
	flag string
	err  error
}

func (e *settingError) Error() string { return e.err.Error() }

func (e *settingError) Unwrap() error { return e.err }

// checkFiles looks into the files that nats.go reads only while it connects, where it
// does not say which of them is wrong.
func (s settings) checkFiles() error {
	c := s.context
	for _, f := range []struct {
		flag, value string
		options     []natscontext.Option
	}{
		{flagCreds, c.Creds(), []natscontext.Option{natscontext.WithCreds(c.Creds())}},
		{flagSeed, c.UserSeed(), []natscontext.Option{natscontext.WithUserJWT(c.UserJWT()), natscontext.WithUserSeed(c.UserSeed())}},
		{flagTLSCert, c.Certificate(), []natscontext.Option{natscontext.WithCertificate(c.Certificate()), natscontext.WithKey(c.Key())}},
		{flagTLSCA, c.CA(), []natscontext.Option{natscontext.WithCA(c.CA())}},
	} {
		notUsed := f.flag == flagCreds && c.User() != "" || f.flag == flagSeed && (c.UserJWT() == "" || c.User()+c.Creds()+c.NKey() != "")
		if f.value == "" || notUsed || asks(f.value) {
			continue
		}
		err := tryOut(f.options)
		var file *fs.PathError
		if errors.As(err, &file) && f.flag == flagTLSCert && file.Path != c.Certificate() && strings.HasSuffix(c.Key(), file.Path) {
			f.flag = flagTLSKey
		}
		if err != nil {
			return &settingError{f.flag, err}
		}
	}
	return nil
}

// asks says whether another program is asked for a value, which may ask its user.
func asks(value string) bool {
	scheme, _, found := strings.Cut(strings.ToLower(value), "://")
	return found && (scheme == "op" || scheme == "nsc")
}

// tryOut makes nats.go read what the options name.
func tryOut(of []natscontext.Option) error {
	c, err := natscontext.New("", false, of...)
	if err != nil {
		return err
	}
	options, err := c.NATSOptions()
	if err != nil {
		return err
	}
	var all nats.Options
	for _, set := range options {
		if err := set(&all); err != nil {
			return err
		}
	}
	if all.UserJWT != nil {
		_, err = all.UserJWT()
	}
	if err == nil && all.SignatureCB != nil {
		_, err = all.SignatureCB([]byte("nonce"))
	}
	if err == nil && all.TLSCertCB != nil {
		_, err = all.TLSCertCB()
	}
	if err == nil && all.RootCAsCB != nil {
		_, err = all.RootCAsCB()
	}
	return err
}

// fieldsOfErrors are the words that natscontext begins an error with, and the flags of
// what they are about.
var fieldsOfErrors = map[string]string{
	"password": flagPassword, "creds": flagCreds, "nkey": flagNKey, "user_jwt": flagJWT, "user_seed": flagSeed, "token": flagToken,
	"cert": flagTLSCert, "key": flagTLSKey, "ca": flagTLSCA,
}

// hintsOfSettings say what each setting takes.
var hintsOfSettings = map[string]string{
	flagPassword: hintPlaces, flagToken: hintPlaces, flagJWT: hintPlaces, flagSeed: hintPlaces,
	flagCreds:     "--creds is the file that nsc and nats auth write, with a JWT and a seed; " + hintOtherPlaces,
	flagNKey:      "--nkey is a file with the seed of a user, which begins with SU; " + hintOtherPlaces,
	flagTLSCert:   "--tlscert and --tlskey are PEM files, and the key is that of the certificate",
	flagTLSKey:    "--tlscert and --tlskey are PEM files, and the key is that of the certificate",
	flagTLSCA:     "--tlsca is a PEM file with the authorities that have signed the server's certificate",
	flagCertStore: hintCertFiles + "; a Windows certificate store is user or machine, with the certificate to look for",
}

const (
	hintPlaces      = "write it as it is, or where it is: file:///path, env://NAME, op://vault/item/field"
	hintOtherPlaces = "other places are env://NAME, op://vault/item/field, nsc://operator/account/user"
)

// wrongSetting says which setting cannot be used, where it was written, and what it takes.
func (s settings) wrongSetting(err error) error {
	var setting *settingError
	name, text := "", strings.TrimPrefix(err.Error(), "nats: ")
	field, rest, found := strings.Cut(text, ": ")
	switch {
	case errors.As(err, &setting):
		name = setting.flag
	case found && fieldsOfErrors[field] != "":
		name, text = fieldsOfErrors[field], rest
	case s.context.WindowsCertStore() != "" && strings.Contains(text, "cert"):
		name = flagCertStore
	default:
		name = flagNKey // the one that natscontext reads itself and does not name
	}
	var file *fs.PathError
	if errors.As(err, &file) {
		text = file.Error()
	}
	return usage{problem: redact(s.origin(name) + ": " + text), hint: hintsOfSettings[name], cause: err}
}
