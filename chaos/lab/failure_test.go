package lab_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// A server that does not come up: one clear line, and nothing is left.
func TestStartFailsClearly(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	takenPort := taken.Addr().(*net.TCPAddr).Port
	notAServer := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(notAServer, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    lab.Options
		act  string
		want []string
	}{
		"config syntax":      {o: lab.Options{Config: "accounts {\n  A {\n"}, want: []string{"ended before it was ready (exit status 1)", "config.conf"}},
		"config value":       {o: lab.Options{Config: "\n\nmax_payload: many\n"}, want: []string{"config.conf:3:1"}},
		"a store of its own": {o: lab.Options{Config: `jetstream { store_dir: "elsewhere" }`}, want: []string{"store_dir", "Duplicate"}},
		"unknown user":       {o: lab.Options{Config: mayPublish, ReadyOptions: []nats.Option{nats.UserInfo("bob", "b")}}, want: []string{"Options.ReadyOptions", "Authorization Violation"}},
		"no user":            {o: lab.Options{Config: `authorization { token: "s3cret" }`}, want: []string{"Options.ReadyOptions", "Authorization Violation"}},
		"user without right": {o: lab.Options{Config: mayNotAsk, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}}, want: []string{"Options.ReadyOptions", "$JS.API.INFO", "ermissions"}},
		"port taken":         {o: lab.Options{Port: takenPort}, want: []string{"is not free", "address already in use"}},
		"port nonsense":      {o: lab.Options{Port: 70000}, want: []string{"Options.Port is 70000"}},
		"limit nonsense":     {o: lab.Options{MaxStart: -1}, want: []string{"Options.MaxStart is -1ns"}},
		"no binary":          {o: lab.Options{ServerBin: "/no/such/nats-server"}, want: []string{"Options.ServerBin", "/no/such/nats-server"}},
		"no program":         {o: lab.Options{ServerBin: notAServer}, want: []string{"Options.ServerBin", notAServer}},
		"never ready":        {o: lab.Options{ServerBin: self(t), MaxStart: 3 * time.Second}, act: actHang, want: []string{"not ready after 3s", "/healthz", "hanging as told"}},
	} {
		t.Run(name, func(t *testing.T) {
			left := temporaryHome(t)
			t.Setenv(actVariable, c.act)
			s, err := lab.Start(patient(t), c.o)
			if err == nil {
				s.Close()
				t.Fatal("it started")
			}
			for _, words := range c.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("want %q in: %v", words, err)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "nats-reader-lab-") {
				t.Errorf("want one line without the temporary folder: %v", err)
			}
			if found := left(); len(found) > 0 {
				t.Errorf("left behind: %s", found)
			}
		})
	}
}

const mayNotAsk = `authorization { users = [ { user: "ann", password: "a", permissions { publish: "orders.>", subscribe: ">" } } ] }`

func TestACancelledStartLeavesNothing(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		left := temporaryHome(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := lab.Start(ctx, lab.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("start: %v, want context.Canceled", err)
		}
		if found := left(); len(found) > 0 {
			t.Errorf("left behind: %s", found)
		}
	})
	t.Run("half-way", func(t *testing.T) {
		left := temporaryHome(t)
		t.Setenv(actVariable, actHang)
		log, written := firstLine()
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-written
			cancel()
		}()
		if _, err := lab.Start(ctx, lab.Options{ServerBin: self(t), Log: log, MaxStart: patience}); !errors.Is(err, context.Canceled) {
			t.Errorf("start: %v, want context.Canceled", err)
		}
		if found := left(); len(found) > 0 {
			t.Errorf("left behind: %s", found)
		}
	})
	t.Run("at any moment", func(t *testing.T) {
		left := temporaryHome(t)
		for limit := time.Millisecond; limit < 100*time.Millisecond; limit *= 2 {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			s, err := lab.Start(ctx, lab.Options{})
			cancel()
			if err == nil {
				err = s.Close()
			} else if errors.Is(err, context.DeadlineExceeded) {
				err = nil
			}
			if err != nil {
				t.Errorf("with %s to start: %v", limit, err)
			}
			if found := left(); len(found) > 0 {
				t.Errorf("with %s to start, left behind: %s", limit, found)
			}
		}
	})
}

func TestStartWithoutMain(t *testing.T) {
	cmd := exec.Command(self(t))
	cmd.Env = append(os.Environ(), actVariable+"="+actForgot, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out); !strings.Contains(got, lab.ErrMainNotCalled.Error()) || strings.Count(got, "\n") != 1 {
		t.Errorf("start without Main says %q, want the one line %q", got, lab.ErrMainNotCalled)
	}
}

func TestComplaint(t *testing.T) {
	for log, want := range map[string]string{
		"": "it wrote nothing",
		"[12] 2026/01/02 03:04:05.6 [INF] hello\n[12] 2026/01/02 03:04:05.7 [FTL] no store\n": "no store",
		"nats-server: config.conf:3:1: bad\n":                                                 "config.conf:3:1: bad",
		"one\ntwo\nthree\nfour\n":                                                             "two | three | four",
	} {
		if got := lab.Complaint(log); got != want {
			t.Errorf("complaint of %q is %q, want %q", log, got, want)
		}
	}
}
