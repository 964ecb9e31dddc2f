package commands_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/commands"
)

func TestMain(m *testing.M) {
	lab.Main()
	lab.SideBySide(6)
	testscript.Main(m, map[string]func(){"nats-reader": nearlyMain})
}

// nearlyMain is what the program's main does, as a process of its own.
func nearlyMain() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	os.Exit(commands.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, "0.0.0-test"))
}

// TestScripts runs every script against a real server of its own.
func TestScripts(t *testing.T) {
	// testscript removes the folder around its folders only where no script is left out by -run.
	if keep := flag.Lookup("testwork"); keep == nil || keep.Value.String() != "true" {
		t.Setenv("GOTMPDIR", t.TempDir())
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stream":    makeStream,
			"publish":   publish,
			"consumers": countConsumers,
			"streams":   countStreams,
			"code":      expectCode,
			"nofolder":  expectNoFolder,
			"kill9":     killInTheMiddle,
			"interrupt": interrupt,
			"start":     startProgram,
			"await":     awaitLine,
			"end":       endProgram,
			"consumer":  makeConsumer,
			"paused":    expectPaused,
			"http":      sendHTTP,
			"client":    connectClient,
			"awaitfile": awaitFile,
			"delete":    deleteStream,
			"take":      takeMessages,
			"again":     playAgain,
			"sameplan":  expectSamePlan,
		},
	})
}

// serverConfig has a user beside the open account, so that logins can be refused.
const serverConfig = `
accounts {
  A { jetstream: enabled, users: [{user: ann, password: secret}, {user: open, password: open},
    {user: nopull, password: nopull, permissions: {publish: {deny: "$JS.API.CONSUMER.MSG.NEXT.>"}}},
    {user: noinbox, password: noinbox, permissions: {subscribe: {deny: "_INBOX.>"}}}] }
  N { users: [{user: nojs, password: nojs}] }
  $SYS { users: [{user: sys, password: sys}] }
}
no_auth_user: open
`

type serverKey struct{}

func setUp(env *testscript.Env) error {
	server, err := lab.Start(context.Background(), lab.Options{Config: serverConfig})
	if err != nil {
		return err
	}
	env.Defer(func() {
		if err := server.Close(); err != nil {
			panic(err)
		}
	})
	env.Values[serverKey{}] = server
	env.Setenv("NATS_URL", server.URL())
	env.Setenv("HOSTPORT", strings.TrimPrefix(server.URL(), "nats://"))
	env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
	env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
	running := &programs{byName: map[string]*running{}}
	env.Values[programsKey{}] = running
	env.Defer(running.killAll)
	env.Setenv("TMPDIR", env.WorkDir+"/.tmp") // what testscript makes for it
	return os.MkdirAll(env.WorkDir+"/.tmp", 0o700)
}

// manage gives the API of the script's server for one command of a script.
func manage(ts *testscript.TestScript) (js jetstream.JetStream, ctx context.Context, done func()) {
	server := ts.Value(serverKey{}).(*lab.Server)
	nc, err := nats.Connect(server.URL(), nats.UserInfo("ann", "secret"), nats.Timeout(30*time.Second))
	ts.Check(err)
	js, err = jetstream.New(nc)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	return js, ctx, func() { cancel(); nc.Close() }
}

// stream NAME SUBJECT[,SUBJECT] [workqueue] [first=N] [consumers=MOST]
func makeStream(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	cfg := jetstream.StreamConfig{Name: args[0], Subjects: strings.Split(args[1], ",")}
	for _, word := range args[2:] {
		if first, found := strings.CutPrefix(word, "first="); found {
			n, err := strconv.ParseUint(first, 10, 64)
			ts.Check(err)
			cfg.FirstSeq = n
		} else if most, found := strings.CutPrefix(word, "consumers="); found {
			n, err := strconv.Atoi(most)
			ts.Check(err)
			cfg.MaxConsumers = n
		} else {
			cfg.Retention = jetstream.WorkQueuePolicy
		}
	}
	_, err := js.CreateStream(ctx, cfg)
	ts.Check(err)
}

// outstanding is how many messages a script has published at most and not been
// answered for: nats.go refuses more when the server is slow.
const outstanding = 500

// publish SUBJECT N [SIZE]: the payloads are SUBJECT-1 to SUBJECT-N, filled up with
// dots behind a blank to SIZE bytes.
func publish(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	size := 0
	if len(args) > 2 {
		size, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	stored := func() {
		select {
		case <-js.PublishAsyncComplete():
		case <-ctx.Done():
			ts.Fatalf("not all was stored: %v", ctx.Err())
		}
	}
	for i := 1; i <= n; i++ {
		m := nats.NewMsg(args[0])
		m.Data = fmt.Appendf(nil, "%s-%d", args[0], i)
		if fill := size - len(m.Data) - 1; fill > 0 {
			m.Data = append(append(m.Data, ' '), strings.Repeat(".", fill)...)
		}
		m.Header.Set("Number", strconv.Itoa(i))
		_, err := js.PublishMsgAsync(m)
		ts.Check(err)
		if i%outstanding == 0 {
			stored()
		}
	}
	stored()
}

// consumers STREAM N: so many consumers are on the stream.
func countConsumers(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	s, err := js.Stream(ctx, args[0])
	ts.Check(err)
	if got := strconv.Itoa(s.CachedInfo().State.Consumers); got != args[1] {
		ts.Fatalf("stream %s has %s consumers, want %s", args[0], got, args[1])
	}
}

// code N COMMAND ARGS...: the command ends with exit code N.
func expectCode(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// nofolder DIR: nothing is in the folder.
func expectNoFolder(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		ts.Fatalf("%s is left in %s", e.Name(), args[0])
	}
}
