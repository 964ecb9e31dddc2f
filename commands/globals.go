package commands

import (
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

const connectionFlags = "CONNECTION (as natscli)"

// The names of the global flags that the code asks for.
const (
	flagServer         = "server"
	flagUser           = "user"
	flagPassword       = "password"
	flagToken          = "token"
	flagCreds          = "creds"
	flagNKey           = "nkey"
	flagJWT            = "jwt"
	flagSeed           = "seed"
	flagTLSCert        = "tlscert"
	flagTLSKey         = "tlskey"
	flagTLSCA          = "tlsca"
	flagTLSFirst       = "tlsfirst"
	flagTimeout        = "timeout"
	flagSocksProxy     = "socks-proxy"
	flagAPIPrefix      = "js-api-prefix"
	flagEventPrefix    = "js-event-prefix"
	flagDomain         = "js-domain"
	flagInboxPrefix    = "inbox-prefix"
	flagConnectionName = "connection-name"
	flagContext        = "context"
	flagNoContext      = "no-context"
	flagTrace          = "trace"
	flagColors         = "colors"
	flagCertStore      = "certstore"
	flagCertMatch      = "certstore-match"
	flagCertMatchBy    = "certstore-match-by"
	flagCertCAMatch    = "certstore-ca-match"
)

// contextFields are the fields of a context that the flags stand over.
var contextFields = map[string]string{
	flagServer: "url", flagUser: "user", flagPassword: "password", flagToken: "token", flagCreds: "creds", flagNKey: "nkey",
	flagJWT: "user_jwt", flagSeed: "user_seed", flagTLSCert: "cert", flagTLSKey: "key", flagTLSCA: "ca", flagTLSFirst: "tls_first",
	flagSocksProxy: "socks_proxy", flagAPIPrefix: "jetstream_api_prefix", flagEventPrefix: "jetstream_event_prefix",
	flagDomain: "jetstream_domain", flagInboxPrefix: "inbox_prefix", flagColors: "color_scheme",
	flagCertStore: "windows_cert_store", flagCertMatch: "windows_cert_match", flagCertMatchBy: "windows_cert_match_by",
	flagCertCAMatch: "windows_ca_certs_match",
}

// boolFlag is a flag that is off unless it is given; its help says no more.
func boolFlag(name, category, text string, aliases ...string) cli.Flag {
	return &cli.BoolFlag{Name: name, Category: category, Usage: text, Aliases: aliases, DisableDefaultText: true}
}

// globalFlags is natscli's table of global flags and variables, for every
// command. Each call makes new values: urfave/cli keeps state in a flag.
func globalFlags() []cli.Flag {
	text := func(name, env, usage string, aliases ...string) cli.Flag {
		f := &cli.StringFlag{Name: name, Usage: usage, Aliases: aliases, Category: connectionFlags}
		if env != "" {
			f.EnvVars = []string{env}
		}
		return f
	}
	flags := []cli.Flag{
		text(flagServer, "NATS_URL", "`URL` of the servers, separated by commas", "s"),
		text(flagUser, "NATS_USER", "`USER` to log in as; a token where there is no password"),
		text(flagPassword, "NATS_PASSWORD", "`PASSWORD` of the user"),
		text(flagToken, "NATS_TOKEN", "`TOKEN` to log in with"),
		text(flagCreds, "NATS_CREDS", "`FILE` of user credentials, or where they are"),
		text(flagNKey, "NATS_NKEY", "`FILE` of a user nkey seed, or where it is"),
		text(flagJWT, "NATS_JWT", "user `JWT`, or where it is"),
		text(flagSeed, "NATS_SEED", "user `SEED`, or where it is"),
		text(flagTLSCert, "NATS_CERT", "`FILE` of the TLS client certificate"),
		text(flagTLSKey, "NATS_KEY", "`FILE` of the TLS client key"),
		text(flagTLSCA, "NATS_CA", "`FILE` of the TLS certificate authorities"),
		boolFlag(flagTLSFirst, connectionFlags, "TLS handshake before the server's greeting", "tls-first"),
		&cli.DurationFlag{Name: flagTimeout, EnvVars: []string{"NATS_TIMEOUT"}, Value: 5 * time.Second, Usage: "how long to wait for a server to connect to, and for one answer", Category: connectionFlags},
		text(flagSocksProxy, "NATS_SOCKS_PROXY", "`URL` of a SOCKS5 proxy; none: not that of the context"),
		text(flagAPIPrefix, "", "`PREFIX` of the JetStream API"),
		text(flagEventPrefix, "", "`PREFIX` of the JetStream advisories"),
		text(flagDomain, "", "JetStream `DOMAIN`", "domain"),
		text(flagInboxPrefix, "", "`PREFIX` of inboxes"),
		text(flagConnectionName, "", "`NAME` of the connection (default: nats-reader VERSION)"),
		text(flagContext, "NATS_CONTEXT", "`NAME` of a natscli context, or a .json file of one"),
		boolFlag(flagNoContext, connectionFlags, "use no context, not the selected one either"),
		boolFlag(flagTrace, connectionFlags, "tell what happens to the connection, and API requests, on stderr"),
		text(flagColors, "NATS_COLOR", "how tables are drawn: "+strings.Join(tableSchemes(), ", ")),
	}
	store := []cli.Flag{
		text(flagCertStore, "", "Windows certificate store for TLS: `user|machine`"),
		text(flagCertMatch, "", "which certificate of the store: `QUERY`"),
		text(flagCertMatchBy, "", "search for it by `subject|issuer`"),
		&cli.StringSliceFlag{Name: flagCertCAMatch, Usage: "which authority of the store: `QUERY`; repeatable", Category: connectionFlags},
	}
	for _, f := range store {
		if !hasCertStore { // taken, and refused with a word of why
			hide(f)
		}
	}
	return append(flags, store...)
}

// hasCertStore says whether this system has a certificate store of Windows.
const hasCertStore = runtime.GOOS == "windows"
