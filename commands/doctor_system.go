package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"
)

// The flags of doctor that log in to the system account, beside the account whose
// readers are looked at.
const (
	flagSystemContext  = "system-context"
	flagSystemCreds    = "system-creds"
	flagSystemUser     = "system-user"
	flagSystemPassword = "system-password"
)

var systemFlags = []string{flagSystemContext, flagSystemCreds, flagSystemUser, flagSystemPassword}

const systemCategory = "SYSTEM ACCOUNT (an extra: what every server holds)"

func systemFlagTable() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagSystemContext, Category: systemCategory, Usage: "`NAME` of a natscli context of the system account, with its own server, or a .json file of one"},
		&cli.StringFlag{Name: flagSystemCreds, Category: systemCategory, Usage: "`FILE` of credentials of a user of the system account, at the same server"},
		&cli.StringFlag{Name: flagSystemUser, Category: systemCategory, Usage: "`USER` of the system account, at the same server"},
		&cli.StringFlag{Name: flagSystemPassword, Category: systemCategory, Usage: "`PASSWORD` of that user"},
	}
}

// systemAccount gives what connects to the system account; nil: no flag asks for it.
func (p *program) systemAccount(c *cli.Context, own settings) (func(context.Context) (*nats.Conn, error), error) {
	of := func(name string) string { return c.String(name) }
	var given []string
	for _, name := range systemFlags[:3] {
		if of(name) != "" {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return nil, usage{problem: fmt.Sprintf("flags %s exclude each other", strings.Join(given, " and ")), hint: "one login of the system account is enough"}
	case (of(flagSystemUser) == "") != (of(flagSystemPassword) == ""):
		return nil, usage{problem: fmt.Sprintf("flags --%s and --%s go together", flagSystemUser, flagSystemPassword), hint: fmt.Sprintf("--%s and --%s show no password to others on this machine", flagSystemCreds, flagSystemContext)}
	case len(given) == 0:
		return nil, nil
	}
	s := own
	if name := of(flagSystemContext); name != "" {
		below, err := namedContext(name, "flag --"+flagSystemContext)
		if err != nil {
			return nil, err
		}
		if s, err = own.inContext(below); err != nil {
			return nil, err
		}
	} else {
		if path := of(flagSystemCreds); path != "" {
			if _, err := os.Stat(atHome(path)); err != nil {
				return nil, usage{problem: fmt.Sprintf("flag --%s: %v", flagSystemCreds, err), cause: err}
			}
			s.login = "the credentials file of --" + flagSystemCreds
		} else {
			s.login = fmt.Sprintf("user %q of --%s", of(flagSystemUser), flagSystemUser)
		}
		var err error
		if s.context, err = own.withLogin(natscontext.WithUser(of(flagSystemUser)), natscontext.WithPassword(of(flagSystemPassword)), natscontext.WithCreds(of(flagSystemCreds))); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (*nats.Conn, error) { return p.connect(ctx, s) }, nil
}

// withLogin is the context of the same servers with another login.
func (s settings) withLogin(login ...natscontext.Option) (*natscontext.Context, error) {
	own := s.context
	options := []natscontext.Option{
		natscontext.WithServerURL(withoutLogin(s.servers())), natscontext.WithCertificate(own.Certificate()), natscontext.WithKey(own.Key()), natscontext.WithCA(own.CA()),
		natscontext.WithSocksProxy(own.SocksProxy()), natscontext.WithWindowsCertStore(own.WindowsCertStore()), natscontext.WithWindowsCertStoreMatchBy(own.WindowsCertStoreMatchBy()),
		natscontext.WithWindowsCertStoreMatch(own.WindowsCertStoreMatch()), natscontext.WithWindowsCaCertsMatch(own.WindowsCaCertsMatch()...),
	}
	if own.TLSHandshakeFirst() {
		options = append(options, natscontext.WithTLSHandshakeFirst())
	}
	return natscontext.New("", false, append(options, login...)...)
}

// atHome puts the home folder in the place of a leading ~, as contexts do.
func atHome(path string) string {
	rest, found := strings.CutPrefix(path, "~/")
	if home, err := os.UserHomeDir(); found && err == nil {
		return filepath.Join(home, rest)
	}
	return path
}
