//go:build natscli

package commands

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// natscli is the nats CLI to compare with, which scripts/nats-plugin.sh builds.
func natscli(t *testing.T) string {
	t.Helper()
	path := os.Getenv("NATS_READER_NATSCLI")
	if path == "" {
		t.Fatal("NATS_READER_NATSCLI names no nats CLI: run scripts/nats-plugin.sh")
	}
	return path
}

// execute runs a program, and gives its exit code and what it wrote.
func execute(t *testing.T, program string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The table of global flags is that of this nats CLI.
func TestNatscliFlags(t *testing.T) {
	_, out, _ := execute(t, natscli(t), introspectWord)
	var model struct {
		Flags []struct {
			Name  string
			Short rune
			Envar string
		}
	}
	if err := json.Unmarshal([]byte(out), &model); err != nil || len(model.Flags) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	known := map[string]worldFlag{}
	for _, w := range world {
		known[w.name] = w
	}
	for _, f := range model.Flags {
		short := ""
		if f.Short != 0 {
			short = string(f.Short)
		}
		if w, found := known[f.Name]; !found || w.short != short || w.env != f.Envar {
			t.Errorf("natscli has --%s -%s %s, the table %+v", f.Name, short, f.Envar, w)
		}
		delete(known, f.Name)
	}
	if len(known) > 0 {
		t.Errorf("natscli has no flags %q", slices.Sorted(maps.Keys(known)))
	}
}

// connectOf is the login and name that a program connects with, to a server that lets nobody in.
func connectOf(t *testing.T, run func(address string)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(30 * time.Second)) //nolint:errcheck // it only bounds the test
			fmt.Fprintf(conn, "INFO {\"server_id\":\"X\",\"version\":\"2.12.0\",\"proto\":1,\"headers\":true,\"max_payload\":1048576,\"nonce\":\"abcdefgh\",\"auth_required\":true}\r\n")
			line, _ := bufio.NewReader(conn).ReadString('\n')
			select {
			case seen <- line:
			default:
			}
			fmt.Fprintf(conn, "-ERR 'Authorization Violation'\r\n")
			conn.Close()
		}
	}()
	run(listener.Addr().String())
	listener.Close()
	<-ended
	select {
	case line := <-seen:
		var all, login map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "CONNECT ")), &all); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		login = map[string]any{}
		for _, name := range []string{"user", "pass", "auth_token", "jwt", "nkey"} {
			if v, found := all[name]; found && v != "" {
				login[name] = v
			}
		}
		text, _ := json.Marshal(login)
		return string(text)
	default:
		return "no connection"
	}
}

// What is sent to the server is what this nats CLI sends, but for what the README names.
func TestNatscliConnects(t *testing.T) {
	cli := natscli(t)
	for _, c := range []struct {
		context string // {} is the server
		env     map[string]string
		args    string
		ours    string // where it is another
	}{
		{args: "-s {}"},
		{args: "-s {} --user bob"},
		{args: "-s {} --user bob --password x"},
		{args: "-s {} --user bob --token x"},
		{args: "-s {}", env: map[string]string{"NATS_USER": "ann", "NATS_PASSWORD": "x"}},
		{args: "-s {} --user bob", env: map[string]string{"NATS_PASSWORD": "x"}},
		{args: "-s {} --password x", env: map[string]string{"NATS_USER": "ann"}},
		{args: "-s {}", env: map[string]string{"NATS_PASSWORD": "x"}},
		{args: "-s {}", env: map[string]string{"NATS_USER": "", "NATS_TOKEN": "t"}},
		{args: "-s {} --token env://T", env: map[string]string{"T": "secret"}},
		{args: "-s {} --jwt x.y.z"},
		{args: "-s nats://u:v@{} --token x"},
		{args: "-s nats://u@{}"},
		{args: "-s http://{} --timeout 1d12h", ours: "no connection"},
		{args: "--server={}"},
		{args: "-s {} --timeout 1d12h"},
		{args: "-s {}", env: map[string]string{"NATS_TIMEOUT": "1d"}},
		{args: "-s {},"},
		{context: `{"url":"{}","user":"ann","password":"p"}`},
		{context: `{"url":"{}","user":"ann"}`},
		{context: `{"url":"{}","user":"ann"}`, env: map[string]string{"NATS_PASSWORD": "x"}},
		{context: `{"url":"{}","user":"ann","password":"p"}`, args: "--password x"},
		{context: `{"url":"{}","user":"ann","password":"env://P"}`, env: map[string]string{"P": "secret"}},
		{context: `{"url":"{}","token":"data:;base64,aGVsbG8="}`},
		{context: `{"url":"{}"}`, env: map[string]string{"NATS_URL": ""}},
		{context: `{"url":"{}"}`, args: "--server="},
		{context: `{"url":"{}","socks_proxy":"socks5://127.0.0.1:1"}`, args: "--socks-proxy none"},
		{context: `{"url":"{}","color_scheme":"pink","unknown":1}`},
		// A login is one decision here.
		{context: `{"url":"{}","user":"ann","password":"p"}`, args: "--user bob", ours: `{"auth_token":"bob"}`},
		{context: `{"url":"{}","user":"ann","password":"p"}`, args: "--token t", ours: `{"auth_token":"t"}`},
		{context: `{"url":"{}","token":"t"}`, args: "--user bob --password x", ours: `{"pass":"x","user":"bob"}`},
		{context: `{"url":"nats://u:v@{}"}`, args: "--user bob --password x", ours: `{"pass":"x","user":"bob"}`},
		// What cannot be meant is refused here.
		{args: "-s {} --password x", ours: "no connection"},
		{args: "-s {} --seed x", ours: "no connection"},
		{context: `{"url":`, args: "-s {}"},
		{context: `{"url":`, args: "-s {} --context c", ours: "no connection"},
	} {
		t.Run(c.context+" "+c.args, func(t *testing.T) {
			var got [2]string
			for i, program := range [][]string{{cli, "publish", "subject", "text"}, {"nats-reader", "read", "ORDERS"}} {
				got[i] = connectOf(t, func(address string) {
					here := func(s string) string { return strings.ReplaceAll(s, "{}", address) }
					selected, contexts := "", map[string]string{}
					if c.context != "" {
						selected, contexts["c"] = "c", here(c.context)
					}
					inContexts(t, selected, contexts)
					for k, v := range c.env {
						t.Setenv(k, v)
					}
					_, stdout, stderr := execute(t, program[0], append(program[1:], strings.Fields(here(c.args))...)...)
					t.Log(program[0], stdout, stderr)
				})
			}
			want := got[0]
			if c.ours != "" {
				want = c.ours
				if got[0] == want {
					t.Errorf("natscli is no other: %s", got[0])
				}
			}
			if got[1] != want {
				t.Errorf("natscli %s, nats-reader %s, want %s", got[0], got[1], want)
			}
		})
	}
}

func TestNatscliPlugin(t *testing.T) {
	cli := natscli(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	server := withOrders(t, "authorization { user: ann, password: secret }\n", nats.UserInfo("ann", "secret"))
	inContexts(t, "", map[string]string{"work": contextFor(t, server.URL(), map[string]string{"user": "ann", "password": "secret"})})
	own, err := exec.LookPath("nats-reader")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, errs := execute(t, cli, "plugins", "register", "reader", own); code != 0 {
		t.Fatalf("register: code %d\n%s%s", code, out, errs)
	}
	if kept, err := os.ReadFile(filepath.Join(os.Getenv("XDG_DATA_HOME"), "nats", "cli", "plugins", "reader.json")); err != nil || !strings.Contains(string(kept), own) {
		t.Fatalf("registered as %s, %v", kept, err)
	}
	login := []string{"-s", server.URL(), "--user", "ann", "--password", "secret"}
	read := []string{"reader", "read", "ORDERS", "--until-end"}
	for name, args := range map[string][]string{
		"before":                slices.Concat(login, read),
		"behind":                slices.Concat(read, login),
		"context":               append(slices.Clone(read), "--context", "work"),
		"context before":        append([]string{"--context", "work"}, read...),
		"filter and short flag": slices.Concat([]string{"reader", "read", "ORDERS", "orders", "-n", "1"}, login),
		"negated and traced":    slices.Concat(read, login, []string{"--no-tlsfirst", "--trace", "--connection-name", "x y"}),
	} {
		if code, out, errs := execute(t, cli, args...); code != 0 || out != "hello\n" {
			t.Errorf("%s: code %d\n%s%s", name, code, out, errs)
		}
	}
	t.Run("environment", func(t *testing.T) {
		inEnvironment(t, map[string]string{"server": server.URL(), "user": "ann", "password": "secret"})
		if code, out, errs := execute(t, cli, read...); code != 0 || out != "hello\n" {
			t.Errorf("code %d\n%s%s", code, out, errs)
		}
	})
	for line, want := range map[string]string{
		"reader version":                   "nats-reader 0.0.0-test",
		"reader explain 10059":             "10059",
		"reader chaos show origin-1":       "origin-1",
		"reader chaos list --plans --json": `"schema"`,
		"reader watch --demo --plain --duration 3s --inject cut@500ms --inject delete-consumer@1s --heartbeat 250ms": "contract held",
		"reader inject pause-consumer ORDERS --for 30s --dry-run --context work":                                     "pause-consumer",
		"reader --help": "watch",
	} {
		if code, out, errs := execute(t, cli, strings.Fields(line)...); code != 0 && !strings.Contains(line, "dry-run") || !strings.Contains(out+errs, want) {
			t.Errorf("%s: code %d, want %q\n%s%s", line, code, want, out, errs)
		}
	}
	for name := range leavesOfModel(modelOf(t).Commands, "") {
		line := append(append([]string{"reader"}, strings.Fields(name)...), "--help")
		if code, out, errs := execute(t, cli, line...); code != 0 || !strings.Contains(out, "usage: nats reader "+name) {
			t.Errorf("%q: code %d\n%s%s", line, code, out, errs)
		}
	}
	code, out, errs := execute(t, cli, append([]string{"reader", "read", "NOWHERE"}, login...)...)
	if code != 1 || out != "" || !strings.Contains(errs, `nats-reader: error: stream "NOWHERE" not found`) {
		t.Errorf("an error: code %d\n%s%s", code, out, errs)
	}
}
