package commands

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
)

// A wrong value is told in one line by the place where it was written, the flag, the
// variable or the context's field, and with a hint; its secret is not.
func TestWorldOfWrongValues(t *testing.T) {
	cert, key := certificate(t)
	_, otherKey := certificate(t)
	noFile := t.TempDir() + "/none"
	text := writeSecret(t, "text", "only text\n")
	for _, c := range []struct {
		flag, value string
		with        map[string]string // what else is set, the same way
		problem     string
		flagOnly    bool // in a context it is none: an empty or unused field, or natscli lets it pass
	}{
		{flag: "server", value: "http://127.0.0.1:1", problem: `"http" is not one of nats, tls, ws, wss`},
		{flag: "server", value: "nats://joe:s3cret%zz@127.0.0.1:1", problem: "a URL cannot be read"},
		{flag: "server", value: "nats://", problem: "a URL has no host"},
		{flag: "server", value: " , ", problem: "there is no URL in it"},
		{flag: "password", value: "env://WORLD_NOT_SET", with: map[string]string{"user": "ann"}, problem: `variable "WORLD_NOT_SET" is not set`},
		{flag: "password", value: "file://" + noFile, with: map[string]string{"user": "ann"}, problem: "no such file"},
		{flag: "token", value: "data:;base64,***", problem: "base64 decode failed"},
		{flag: "creds", value: noFile, problem: "no such file"},
		{flag: "creds", value: text, problem: "no nkey seed found"},
		{flag: "creds", value: "vault://x/y", problem: `no resolver registered for scheme "vault"`},
		{flag: "nkey", value: noFile, problem: "no such file"},
		{flag: "nkey", value: text, problem: "no nkey seed found"},
		{flag: "nkey", value: "env://WORLD_NOT_SET", problem: `variable "WORLD_NOT_SET" is not set`},
		{flag: "jwt", value: "file://" + noFile, with: map[string]string{"seed": "x"}, problem: "no such file"},
		{flag: "seed", value: "s3cret", with: map[string]string{"jwt": "x"}, problem: "seed"},
		{flag: "tlscert", value: noFile, with: map[string]string{"tlskey": key}, problem: "no such file"},
		{flag: "tlskey", value: noFile, with: map[string]string{"tlscert": cert}, problem: "no such file"},
		{flag: "tlscert", value: text, with: map[string]string{"tlskey": key}, problem: "find any PEM data"},
		{flag: "tlscert", value: cert, with: map[string]string{"tlskey": otherKey}, problem: "private key does not match public key"},
		{flag: "tlsca", value: noFile, problem: "no such file"},
		{flag: "tlsca", value: text, problem: "root certificate"},
		{flag: "timeout", value: "soon", problem: `"soon" is not a duration`, flagOnly: true},
		{flag: "timeout", value: "0s", problem: "0s is not above 0", flagOnly: true},
		{flag: "timeout", value: "-1d", problem: "-24h0m0s is not above 0", flagOnly: true},
		{flag: "socks-proxy", value: "http://127.0.0.1:1", problem: `"http" is not one of socks5, socks5h`},
		{flag: "socks-proxy", value: "127.0.0.1", problem: "the URL has no host"},
		{flag: "js-domain", value: "a.b", problem: `"a.b" is no name of a domain`},
		{flag: "js-api-prefix", value: "ACME.>", problem: `"ACME.>" is no prefix of subjects`},
		{flag: "js-event-prefix", value: "AC ME", problem: `"AC ME" is no prefix of subjects`},
		{flag: "inbox-prefix", value: "_INBOX.", problem: `"_INBOX." is no prefix of inboxes`},
		{flag: "inbox-prefix", value: "_INBOX.*", problem: `"_INBOX.*" is no prefix of inboxes`},
		{flag: "colors", value: "pink", problem: `"pink" is not one of blue, cyan, double, green, magenta, red, rounded, yellow`, flagOnly: true},
		{flag: "context", value: "nowhere", problem: `context "nowhere" not found`, flagOnly: true},
		{flag: "context", value: "a/b", problem: `context "a/b"`, flagOnly: true},
		{flag: "context", value: noFile + ".json", problem: "no such file", flagOnly: true},
		{flag: "tlsfirst", value: "perhaps", problem: `"perhaps" is not true or false`, flagOnly: true},
	} {
		w := world[slices.IndexFunc(world, func(w worldFlag) bool { return w.name == c.flag })]
		t.Run(c.flag+" "+strings.ReplaceAll(c.value, "/", " "), func(t *testing.T) {
			inContexts(t, "", nil)
			told := func(origin string, args []string) {
				t.Helper()
				var out, errs strings.Builder
				code := Main(t.Context(), append([]string{"read", "ORDERS"}, args...), nil, &out, &errs, "")
				lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
				if code != exitCannotJudge || out.Len() > 0 || len(lines) != 2 || !strings.HasPrefix(lines[1], "nats-reader: hint: ") ||
					!strings.HasPrefix(lines[0], "nats-reader: error: "+origin) || !strings.Contains(lines[0], c.problem) || strings.Contains(errs.String(), "s3cret") {
					t.Errorf("%s: code %d, want %s and %q in one line, and a hint:\n%s%s", origin, code, origin, c.problem, out.String(), errs.String())
				}
			}
			flag, variable := "flag --"+c.flag+": ", "variable "+w.env+": "
			if c.flag == "context" && !strings.HasSuffix(c.value, ".json") {
				flag, variable = "", "" // it is told by its name
			}
			told(flag, append(flagsFor(c.with), "--"+c.flag+"="+c.value))
			if w.env != "" {
				t.Run("environment", func(t *testing.T) {
					t.Setenv(w.env, c.value)
					told(variable, inEnvironment(t, c.with))
				})
			}
			if !c.flagOnly {
				all := map[string]any{"url": "nats://127.0.0.1:1", w.field: c.value}
				for name, value := range c.with {
					all[world[slices.IndexFunc(world, func(w worldFlag) bool { return w.name == name })].field] = value
				}
				text, err := json.Marshal(all)
				if err != nil {
					t.Fatal(err)
				}
				inContexts(t, "work", map[string]string{"work": string(text)})
				told("field "+w.field+` of context "work": `, nil)
			}
		})
	}
}

func TestWorldOfWrongContexts(t *testing.T) {
	for text, want := range map[string]string{
		`{"url":`: `selected context "work": unexpected end of JSON input`,
		`{"url":"nats://127.0.0.1:1","windows_cert_store":"user","windows_cert_match":"x"}`: `field windows_cert_store of context "work": cert_store not compatible`,
		`{"nsc":"nsc://no/such/user"}`:                       `selected context "work": cannot find 'nsc'`,
		`{"url":"nats://127.0.0.1:1","color_scheme":"pink"}`: "no server at nats://127.0.0.1:1", // natscli lets it pass
	} {
		inContexts(t, "work", map[string]string{"work": text})
		t.Setenv("PATH", t.TempDir())
		code, _, stderr := demand{}.run(t, nil, nil)
		if hasCertStore && strings.Contains(text, "windows") {
			continue
		}
		if code != exitCannotJudge || !strings.Contains(stderr, "error: "+want) || !strings.Contains(stderr, "\nnats-reader: hint: ") {
			t.Errorf("%s: code %d, want %q\n%s", text, code, want, stderr)
		}
	}
	if hasCertStore {
		return
	}
	for _, flag := range []string{"certstore=user", "certstore-match=x", "certstore-match-by=issuer", "certstore-ca-match=y"} {
		inContexts(t, "", nil)
		name, _, _ := strings.Cut(flag, "=")
		code, _, stderr := demand{}.run(t, []string{"--" + flag}, nil)
		if want := fmt.Sprintf("error: flag --%s: only Windows has a certificate store", name); code != exitCannotJudge || !strings.Contains(stderr, want) {
			t.Errorf("code %d, want %q\n%s", code, want, stderr)
		}
	}
}

// A server that takes connections and says nothing costs its own time, not that of the others.
func TestWorldOfSilentServers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // it gives none
	server := withOrders(t, "")
	inContexts(t, "", nil)
	both := "nats://" + silent.Addr().String() + "," + server.URL()
	for range 4 { // nats.go draws which is tried first
		demand{}.reads(t, []string{"-s", both, "--timeout", "2s"}, nil)
	}
}
