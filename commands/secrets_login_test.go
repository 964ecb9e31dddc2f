package commands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// login is one way to log in, the server that demands it, and what of it must never be written.
type login struct {
	name      string
	server    *lab.Server
	admin     []nats.Option
	args, env []string
	proxyArgs []string                 // the upstream of a proxy
	through   func(at string) []string // args with another address
	secrets   []string
	wrong     [][]string // args that do not get in
	like      bool       // another of them is given elsewhere, and is the same from then on
}

const nowhere = "127.0.0.1:1"

// logins are all there are, each with a server that lets nobody else in.
func logins(t *testing.T) []login {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := nkeys.CreateUser()
	must(err)
	public, err := key.PublicKey()
	must(err)
	seed, err := key.Seed()
	must(err)
	otherKey, err := nkeys.CreateUser()
	must(err)
	otherSeed, err := otherKey.Seed()
	must(err)

	const password, token = "PASSWORD7secret", "TOKEN7secret"
	ann := nats.UserInfo("ann", password)
	users := startLab(t, lab.Options{
		Config:       fmt.Sprintf("accounts { A { jetstream: enabled, users: [ {user: ann, password: %q}, {nkey: %s} ] } }\n", password, public),
		ReadyOptions: []nats.Option{ann},
	})
	tokens := startLab(t, lab.Options{Config: fmt.Sprintf("authorization { token: %q }\n", token), ReadyOptions: []nats.Option{nats.Token(token)}})

	badge, badgeSeed, config := signed(t)
	creds, err := jwt.FormatUserConfig(badge, []byte(badgeSeed))
	must(err)
	otherCreds := strings.Replace(string(creds), badgeSeed, string(otherSeed), 1)
	credsFile := write("user.creds", string(creds))
	signer := nats.UserCredentials(credsFile)
	operated := startLab(t, lab.Options{Config: config, ReadyOptions: []nats.Option{signer}})

	cert, certKey := certificate(t)
	tlsOptions := []nats.Option{nats.RootCAs(cert), nats.ClientCert(cert, certKey)}
	secured := startLab(t, lab.Options{
		Config:       fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", cert, certKey, cert),
		ReadyOptions: tlsOptions,
	})
	pem, err := os.ReadFile(certKey)
	must(err)
	keyLine := strings.Split(string(pem), "\n")[1]

	const socksPassword = "SOCKS7secret"
	socks := startSOCKS(t, "sue", socksPassword)

	at := func(url string) string { return strings.TrimPrefix(url, "nats://") }
	server := func(more ...string) func(string) []string {
		return func(url string) []string { return append([]string{"--server", url}, more...) }
	}
	// plain is a login by flags beside --server; wrong holds other values of them.
	plain := func(name string, s *lab.Server, admin []nats.Option, secrets []string, flags []string, wrong ...[]string) login {
		l := login{
			name: name, server: s, admin: admin, secrets: secrets, args: append([]string{"--server", s.URL()}, flags...),
			proxyArgs: []string{"--upstream", s.URL()}, through: server(flags...),
			wrong: [][]string{append([]string{"--server", nowhere}, flags...)},
		}
		for _, w := range wrong {
			l.wrong = append(l.wrong, append([]string{"--server", s.URL()}, w...))
		}
		return l
	}
	// inURL is a login in the URL of the server, with or without the scheme.
	inURL := func(name, scheme, info, other string, s *lab.Server, admin []nats.Option, secret string) login {
		url := scheme + info + "@" + at(s.URL())
		return login{
			name: name, server: s, admin: admin, secrets: []string{secret}, args: []string{"--server", url}, proxyArgs: []string{"--server", url},
			through: func(to string) []string { return []string{"--server", scheme + info + "@" + at(to)} },
			wrong: [][]string{
				{"--server", scheme + info + "@" + nowhere}, {"--server", scheme + other + "@" + at(s.URL())},
				{"--server", scheme + info + "@127.0.0.1:port"}, {"--server", scheme + info + "@[::1"},
				{"--server", scheme + info + "@no host:4222"},
			},
		}
	}
	annOnly := []nats.Option{ann}
	all := []login{
		plain("password", users, annOnly, []string{password}, []string{"--user", "ann", "--password", password},
			[]string{"--user", "ann", "--password", "WRONG7secret"}, []string{"--password", password}),
		plain("token", tokens, []nats.Option{nats.Token(token)}, []string{token}, []string{"--token", token}, []string{"--token", "WRONG7secret"}),
		plain("token as user", tokens, []nats.Option{nats.Token(token)}, []string{token}, []string{"--user", token}, []string{"--user", "WRONG7secret"}),
		plain("nkey", users, annOnly, []string{string(seed)}, []string{"--nkey", write("user.nk", string(seed))},
			[]string{"--nkey", write("other.nk", string(otherSeed))}, []string{"--nkey", write("broken.nk", string(seed[:40])+"WRONG7secret")}, []string{"--nkey", string(seed)}),
		plain("creds", operated, []nats.Option{signer}, []string{badge, badgeSeed, string(otherSeed)}, []string{"--creds", credsFile},
			[]string{"--creds", write("other.creds", otherCreds)}, []string{"--creds", write("broken.creds", badge[:100]+"WRONG7secret"+badgeSeed[:20])}, []string{"--creds", string(creds)}),
		plain("jwt and seed", operated, []nats.Option{signer}, []string{badge, badgeSeed, string(otherSeed)}, []string{"--jwt", badge, "--seed", badgeSeed},
			[]string{"--jwt", badge, "--seed", string(otherSeed)}, []string{"--jwt", badge, "--seed", badgeSeed[:30] + "WRONG7secret"}, []string{"--jwt", badge[:60] + "WRONG7secret", "--seed", badgeSeed}, []string{"--jwt", badge}),
		inURL("user in the URL", "nats://", "ann:"+password, "ann:WRONG7secret", users, annOnly, password),
		inURL("token in the URL", "nats://", token, "WRONG7secret", tokens, []nats.Option{nats.Token(token)}, token),
		inURL("user without scheme", "", "ann:"+password, "ann:WRONG7secret", users, annOnly, password),
		inURL("token without scheme", "", token, "WRONG7secret", tokens, []nats.Option{nats.Token(token)}, token),
		plain("socks", users, annOnly, []string{socksPassword, password}, []string{"--user", "ann", "--password", password, "--socks-proxy", "socks5://sue:" + socksPassword + "@" + socks},
			[]string{"--user", "ann", "--password", password, "--socks-proxy", "socks5://sue:WRONG7secret@" + socks},
			[]string{"--user", "ann", "--password", password, "--socks-proxy", "socks5://sue:" + socksPassword + "@" + nowhere},
			[]string{"--user", "ann", "--password", password, "--socks-proxy", "socks5://sue:" + socksPassword + "@127.0.0.1:port"},
			[]string{"--user", "ann", "--password", password, "--socks-proxy", "socks7://sue:" + socksPassword + "@" + socks}),
	}
	env := plain("environment", users, annOnly, []string{password}, nil)
	env.env = []string{"NATS_USER=ann", "NATS_PASSWORD=" + password}
	env.wrong = append(env.wrong, []string{"--server", users.URL(), "--user", "ann", "--password", "WRONG7secret"})
	context := plain("context", users, annOnly, []string{password}, nil)
	file := write("work.json", fmt.Sprintf(`{"url":%q,"user":"ann","password":%q}`, users.URL(), password))
	context.args, context.through = []string{"--context", file}, server("--context", file)
	context.wrong = [][]string{
		{"--context", file, "--server", nowhere}, {"--context", write("other.json", fmt.Sprintf(`{"url":%q,"user":"ann","password":"WRONG7secret"}`, users.URL()))},
		{"--context", write("broken.json", fmt.Sprintf(`{"url":%q,"user":"ann","password":%q`, users.URL(), password))},
	}
	tlsFlags := []string{"--tlsca", cert, "--tlscert", cert, "--tlskey", certKey}
	tls := plain("tls", secured, tlsOptions, []string{keyLine}, tlsFlags, []string{"--tlsca", cert},
		[]string{"--tlsca", cert, "--tlscert", cert, "--tlskey", write("broken.pem", strings.Replace(string(pem), keyLine, keyLine[1:]+"\nWRONG7secret", 1))})
	tls.proxyArgs, tls.through = append(tls.proxyArgs, tlsFlags...), server()
	all = append(all, env, context, tls)
	for i := range all {
		switch all[i].name {
		case "token as user", "user without scheme", "environment", "context":
			all[i].like = true
		}
	}
	return all
}

// signed is the JWT and the seed of a user, and the configuration of a server that trusts who signed it.
func signed(t *testing.T) (badge, seed, config string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(create func() (nkeys.KeyPair, error)) (key nkeys.KeyPair, public string) {
		t.Helper()
		key, err := create()
		must(err)
		public, err = key.PublicKey()
		must(err)
		return key, public
	}
	operatorKey, operator := pair(nkeys.CreateOperator)
	_, system := pair(nkeys.CreateAccount)
	accountKey, account := pair(nkeys.CreateAccount)
	userKey, user := pair(nkeys.CreateUser)

	operatorClaims := jwt.NewOperatorClaims(operator)
	operatorClaims.SystemAccount = system
	signedOperator, err := operatorClaims.Encode(operatorKey)
	must(err)
	signedSystem, err := jwt.NewAccountClaims(system).Encode(operatorKey)
	must(err)
	accountClaims := jwt.NewAccountClaims(account)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{
		MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit,
		MaxAckPending: jwt.NoLimit, MemoryMaxStreamBytes: jwt.NoLimit, DiskMaxStreamBytes: jwt.NoLimit,
	}
	signedAccount, err := accountClaims.Encode(operatorKey)
	must(err)
	badge, err = jwt.NewUserClaims(user).Encode(accountKey)
	must(err)
	secret, err := userKey.Seed()
	must(err)
	return badge, string(secret), fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n  %s: %s\n  %s: %s\n}\n",
		signedOperator, system, system, signedSystem, account, signedAccount)
}

// startSOCKS is a SOCKS5 proxy (RFC 1928) that wants a user and a password (RFC 1929).
func startSOCKS(t *testing.T, user, password string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // it gives none
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() //nolint:errcheck // it is over
				if up, err := greetSOCKS(c, user, password); err == nil {
					defer up.Close() //nolint:errcheck // it is over
					go func() {
						defer c.Close()       //nolint:errcheck // ends the other direction
						_, _ = io.Copy(c, up) // until one of them ends
					}()
					_, _ = io.Copy(up, c)
				}
			}()
		}
	}()
	return l.Addr().String()
}

func greetSOCKS(c net.Conn, user, password string) (up net.Conn, err error) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(c, b)
		}
		return b
	}
	answer := func(b ...byte) {
		if err == nil {
			_, err = c.Write(b)
		}
	}
	read(int(read(2)[1])) // the ways to log in that the client has
	answer(5, 2)          // with a user and a password
	gotUser := read(int(read(2)[1]))
	gotPassword := read(int(read(1)[0]))
	if err == nil && (string(gotUser) != user || string(gotPassword) != password) {
		answer(1, 1)
		return nil, errors.New("who is that?")
	}
	answer(1, 0)
	var host string
	switch request := read(4); request[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	port := binary.BigEndian.Uint16(read(2))
	if err != nil {
		return nil, err
	}
	if up, err = net.DialTimeout("tcp", fmt.Sprintf("%s:%d", host, port), time.Minute); err != nil {
		return nil, err
	}
	answer(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	return up, err
}
