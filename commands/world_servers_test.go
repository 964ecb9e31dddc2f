package commands

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// withOrders runs a server with a stream of one message.
func withOrders(t *testing.T, config string, login ...nats.Option) *lab.Server {
	t.Helper()
	server := startLab(t, lab.Options{Config: config, ReadyOptions: login})
	nc, err := nats.Connect(server.URL(), append(login, nats.Timeout(30*time.Second))...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	return server
}

// pairOf makes a key, and tells its public half and its seed.
func pairOf(t *testing.T, create func() (nkeys.KeyPair, error)) (key nkeys.KeyPair, public, seed string) {
	t.Helper()
	key, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err = key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return key, public, string(text)
}

// Users, nkeys, permissions and prefixes, on one server with accounts.
func TestWorldOfAccounts(t *testing.T) {
	_, public, seed := pairOf(t, nkeys.CreateUser)
	_, _, otherSeed := pairOf(t, nkeys.CreateUser)
	server := withOrders(t, fmt.Sprintf(`accounts {
  JS: { jetstream: enabled, exports: [ { service: "$JS.API.>", response_type: stream }, { service: "$JS.ACK.>" }, { stream: "$JS.EVENT.>" } ], users: [
    { user: ann, password: "s3cret pass" }
    { nkey: %s }
    { user: boxed, password: boxed, permissions: { subscribe: { allow: "_BOX.ann.>" } } } ] }
  FAR: { users: [ { user: far, password: far, permissions: { subscribe: { deny: "$JS.EVENT.>" } } } ], imports: [
    { service: { account: JS, subject: "$JS.API.>" }, to: "ACME.API.>" }, { service: { account: JS, subject: "$JS.ACK.>" } }
    { stream: { account: JS, subject: "$JS.EVENT.>" }, to: "ACME.EVENT.>" } ] }
}
`, public), nats.UserInfo("ann", "s3cret pass"))
	url := server.URL()
	password := map[string]string{"user": "ann", "password": "s3cret pass"}
	nkey, otherNKey := writeSecret(t, "user.nk", seed), writeSecret(t, "other.nk", otherSeed)
	const refused = `error: wrong credentials: the server at .* refuses `
	for _, d := range []demand{
		{"user and password", url, password, map[string]string{"user": "ann", "password": "wrong"}, refused + `a connection without a login`},
		{"nkey", url, map[string]string{"nkey": nkey}, map[string]string{"nkey": otherNKey}, refused},
		{
			"prefix of an imported API", "nats://far:far@" + hostOf(url), map[string]string{"js-api-prefix": "ACME.API"},
			map[string]string{"js-api-prefix": "NOBODY.API"}, `error: .*(\$JS\.API|JetStream)`,
		},
		{
			"inbox prefix", "nats://boxed:boxed@" + hostOf(url), map[string]string{"inbox-prefix": "_BOX.ann"}, map[string]string{"inbox-prefix": "_BOX.joe"},
			`error: .*_INBOX`,
		},
	} {
		t.Run(d.name, d.prove)
	}
	t.Run("where secrets are", func(t *testing.T) {
		inContexts(t, "", nil)
		d := demand{server: url}
		env, file, data := asURI(t, "WORLD_PASSWORD", "s3cret pass")
		for _, value := range []string{env, file, data} {
			d.reads(t, []string{"-s", url, "--user", "ann"}, []string{"--password", value})
		}
		env, file, data = asURI(t, "WORLD_SEED", seed)
		for _, value := range []string{env, file, data} {
			d.reads(t, []string{"-s", url}, []string{"--nkey", value})
		}
	})
	t.Run("parts of a login from two places", func(t *testing.T) {
		inContexts(t, "", map[string]string{"user": contextFor(t, url, map[string]string{"user": "ann"})})
		t.Setenv("NATS_PASSWORD", "s3cret pass")
		d := demand{server: url}
		d.reads(t, []string{"--context", "user"}, nil)
		d.reads(t, []string{"-s", url, "--user", "ann"}, nil)
	})
	t.Run("no context", func(t *testing.T) {
		inContexts(t, "user", map[string]string{"user": contextFor(t, url, password)})
		d := demand{server: url}
		d.reads(t, []string{"-s", url}, nil)
		for _, line := range []string{"--no-context", "--no-context=true --context user"} {
			if code, _, stderr := d.run(t, []string{"-s", url}, strings.Fields(line)); code != exitCannotJudge || !strings.Contains(stderr, "refuses a connection without a login") {
				t.Errorf("%s: code %d, %s", line, code, stderr)
			}
		}
	})
	t.Run("advisories", func(t *testing.T) {
		inContexts(t, "", nil)
		const denied = "permission denied for a subscription to $JS.EVENT.ADVISORY"
		for args, want := range map[string]bool{"": true, "--js-event-prefix ACME.EVENT": false} {
			var out, errs strings.Builder
			line := "doctor ORDERS --for 100ms --listen --user far --password far --js-api-prefix ACME.API -s " + url + " " + args
			code := Main(t.Context(), strings.Fields(line), nil, &out, &errs, "")
			if got := strings.Contains(strings.Join(strings.Fields(out.String()), " "), denied); code == exitCannotJudge || got != want {
				t.Errorf("%s: code %d, denied is %t, want %t\n%s%s", line, code, got, want, out.String(), errs.String())
			}
		}
	})
	t.Run("trace", func(t *testing.T) {
		inContexts(t, "", nil)
		var out strings.Builder
		errs := &notes{grown: make(chan struct{})} // the connection tells on its own goroutine
		line := "inject pause-consumer ORDERS nobody --dry-run --allow-server-faults --trace --context= -s " + url
		Main(t.Context(), append(strings.Fields(line), flagsFor(password)...), nil, &out, errs, "")
		for _, want := range []string{"trace: connected to nats://", "trace: >>> $JS.API.STREAM.INFO.ORDERS", "trace: <<< $JS.API.STREAM.INFO.ORDERS"} {
			if !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "s3cret") {
				t.Errorf("%q is not told:\n%s%s", want, out.String(), errs.String())
			}
		}
	})
	t.Run("several servers", func(t *testing.T) {
		inContexts(t, "", nil)
		dead := "nats://127.0.0.1:1"
		d := demand{server: url}
		for _, urls := range []string{dead + "," + url, url + ", " + dead, dead + ", " + dead + "," + url + ","} {
			d.reads(t, append([]string{"--server", urls}, flagsFor(password)...), nil)
		}
	})
}

// The stream is in the domain of a leaf node, which its hub leads to.
func TestWorldOfDomains(t *testing.T) {
	hub := startLab(t, lab.Options{Config: "jetstream { domain: hub }\nleafnodes { listen: \"127.0.0.1:-1\" }\n"})
	listens := regexp.MustCompile(`Listening for leafnode connections on (\S+)`).FindStringSubmatch(hub.Log())
	if listens == nil {
		t.Fatalf("no leaf node can connect:\n%s", hub.Log())
	}
	withOrders(t, fmt.Sprintf("jetstream { domain: spoke }\nleafnodes { remotes: [ { url: \"nats-leaf://%s\" } ] }\n", listens[1]))
	nc, err := nats.Connect(hub.URL(), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for err := nats.ErrNoResponders; err != nil; _, err = nc.RequestWithContext(ctx, "$JS.spoke.API.INFO", nil) {
		if ctx.Err() != nil {
			t.Fatalf("the leaf node does not connect: %v", err)
		}
	}
	demand{"domain", hub.URL(), map[string]string{"js-domain": "spoke"}, map[string]string{"js-domain": "hub"}, `error: stream "ORDERS" not found`}.prove(t)
}

func TestWorldOfTokens(t *testing.T) {
	url := withOrders(t, "authorization { token: t0ken }\n", nats.Token("t0ken")).URL()
	d := demand{"token", url, map[string]string{"token": "t0ken"}, map[string]string{"token": "wrong"}, `error: wrong credentials: `}
	d.prove(t)
	t.Run("as a user without a password", func(t *testing.T) {
		inContexts(t, "", nil)
		d.reads(t, []string{"-s", url, "--user", "t0ken"}, nil)
		t.Setenv("NATS_USER", "t0ken")
		d.reads(t, []string{"-s", url}, nil)
	})
	t.Run("where secrets are", func(t *testing.T) {
		inContexts(t, "", nil)
		env, file, data := asURI(t, "WORLD_TOKEN", "t0ken\n")
		for _, value := range []string{env, file, data} {
			d.reads(t, []string{"-s", url, "--token", value}, nil)
		}
	})
}

// decentralised is a server of operator mode, and a user of it.
func decentralised(t *testing.T) (server *lab.Server, userJWT, seed, creds string) {
	t.Helper()
	operatorKey, operator, _ := pairOf(t, nkeys.CreateOperator)
	accountKey, account, _ := pairOf(t, nkeys.CreateAccount)
	_, system, _ := pairOf(t, nkeys.CreateAccount)
	_, user, seed := pairOf(t, nkeys.CreateUser)
	encode := func(claims interface {
		Encode(nkeys.KeyPair) (string, error)
	}, key nkeys.KeyPair) string {
		text, err := claims.Encode(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operatorClaims := jwt.NewOperatorClaims(operator)
	operatorClaims.SystemAccount = system
	accountClaims := jwt.NewAccountClaims(account)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	userJWT = encode(jwt.NewUserClaims(user), accountKey)
	text, err := jwt.FormatUserConfig(userJWT, []byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s: %s, %s: %s }\n",
		encode(operatorClaims, operatorKey), system, account, encode(accountClaims, operatorKey), system, encode(jwt.NewAccountClaims(system), operatorKey))
	return withOrders(t, config, nats.UserJWTAndSeed(userJWT, seed)), userJWT, seed, string(text)
}

func TestWorldOfJWTs(t *testing.T) {
	server, userJWT, seed, credsText := decentralised(t)
	_, _, otherSeed := pairOf(t, nkeys.CreateUser)
	url, creds := server.URL(), writeSecret(t, "user.creds", credsText)
	otherCreds := writeSecret(t, "other.creds", strings.ReplaceAll(credsText, seed, otherSeed))
	for _, d := range []demand{
		{"creds", url, map[string]string{"creds": creds}, map[string]string{"creds": otherCreds}, `error: wrong credentials: `},
		{"jwt and seed", url, map[string]string{"jwt": userJWT, "seed": seed}, map[string]string{"jwt": userJWT, "seed": otherSeed}, `error: wrong credentials: `},
	} {
		t.Run(d.name, d.prove)
	}
	d := demand{server: url}
	t.Run("where secrets are", func(t *testing.T) {
		inContexts(t, "", nil)
		env, file, data := asURI(t, "WORLD_CREDS", credsText)
		for _, value := range []string{env, file, data} {
			d.reads(t, []string{"-s", url, "--creds", value}, nil)
		}
		jwtEnv, jwtFile, jwtData := asURI(t, "WORLD_JWT", userJWT+"\n")
		seedEnv, seedFile, seedData := asURI(t, "WORLD_SEED", seed+"\n")
		for _, pair := range [][2]string{{jwtEnv, seedEnv}, {jwtFile, seedFile}, {jwtData, seedData}} {
			d.reads(t, []string{"-s", url, "--jwt", pair[0]}, []string{"--seed", pair[1]})
		}
		code, _, stderr := d.run(t, []string{"-s", url, "--jwt", strings.TrimPrefix(jwtFile, "file://")}, []string{"--seed", seed})
		if code != exitCannotJudge || !strings.Contains(stderr, "hint: flag --jwt is taken as it is: write "+jwtFile) {
			t.Errorf("a path as a JWT: code %d, %s", code, stderr)
		}
	})
	t.Run("op is asked once", func(t *testing.T) {
		bin := t.TempDir()
		asked := filepath.Join(bin, "asked")
		if err := os.WriteFile(filepath.Join(bin, "op"), fmt.Appendf(nil, "#!/bin/sh\necho >>%q\ncat %q\n", asked, creds), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		inContexts(t, "", nil)
		s, err := settingsFrom(t, "-s", url, "--creds", "op://vault/nats/creds")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			nc, err := testProgram().connect(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			nc.Close()
		}
		if times, err := os.ReadFile(asked); err != nil || len(times) != 1 {
			t.Errorf("it was asked %d times, %v", len(times), err)
		}
	})
	t.Run("nsc and op", func(t *testing.T) {
		// Stand-ins of both programs, which a context names the secrets of.
		bin := t.TempDir()
		for name, text := range map[string]string{
			"nsc": fmt.Sprintf("#!/bin/sh\n[ \"$1 $2 $3\" = 'generate profile nsc://op/acct/ann' ] || exit 1\necho '{\"user_creds\":%q,\"operator\":{\"service\":[%q]}}'\n", creds, url),
			"op":  fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" = 'read op://vault/nats/creds' ] || exit 1\ncat %q\n", creds),
		} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		inContexts(t, "", map[string]string{
			"nsc":  `{"nsc":"nsc://op/acct/ann"}`, // the server's URL is that of the operator
			"cred": fmt.Sprintf(`{"url":%q,"creds":"nsc://op/acct/ann"}`, url),
			"op":   fmt.Sprintf(`{"url":%q,"creds":"op://vault/nats/creds"}`, url),
			"home": fmt.Sprintf(`{"url":%q,"creds":"$WORLD_HOME/user.creds"}`, url),
		})
		t.Setenv("WORLD_HOME", filepath.Dir(creds))
		for _, name := range []string{"nsc", "cred", "op", "home"} {
			d.reads(t, []string{"--context", name}, nil)
		}
	})
}
