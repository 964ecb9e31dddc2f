package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

const (
	mayPublish = `
accounts {
  READERS {
    jetstream: enabled
    users = [ { user: "ann", password: "a" } ]
  }
}
`
	mayNotPublish = `
accounts {
  READERS {
    jetstream: enabled
    users = [ { user: "ann", password: "a", permissions { publish { deny: "orders.>" } } } ]
  }
}
`
)

// denied says whether ann, on a connection of her own, may not publish.
func denied(t *testing.T, s *lab.Server) bool {
	t.Helper()
	ctx := patient(t)
	for {
		refused, err := tryToPublish(t, ctx, s)
		if err == nil {
			return refused
		}
		if ctx.Err() != nil { // a reload ends connections whose user it changes
			t.Fatal(err)
		}
	}
}

func tryToPublish(t *testing.T, ctx context.Context, s *lab.Server) (refused bool, err error) {
	t.Helper()
	// LastError tells the refusal; without a handler it would be printed as well.
	nc := connect(t, s, nats.UserInfo("ann", "a"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	defer nc.Close()
	if err := nc.Publish("orders.new", nil); err != nil {
		return false, err
	}
	// The server's answers come in order: a refusal before the PONG.
	if err := nc.FlushWithContext(ctx); err != nil {
		return false, err
	}
	return errors.Is(nc.LastError(), nats.ErrPermissionViolation), nil
}

func TestReloadChangesPermissions(t *testing.T) {
	s := start(t, lab.Options{Config: mayPublish, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}})
	pid := s.PID()
	if denied(t, s) {
		t.Fatal("ann may not publish at first")
	}
	for _, step := range []struct {
		config string
		denied bool
	}{{mayNotPublish, true}, {mayPublish, false}, {mayNotPublish, true}} {
		if err := s.Reload(patient(t), step.config); err != nil {
			t.Fatal(err)
		}
		if got := denied(t, s); got != step.denied {
			t.Fatalf("after the reload: denied %v, want %v", got, step.denied)
		}
	}
	if s.PID() != pid {
		t.Error("the reload was a restart")
	}
	if err := s.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
	if !denied(t, s) {
		t.Error("after a restart the reloaded config is forgotten")
	}
}

func TestARefusedReloadChangesNothing(t *testing.T) {
	s := start(t, lab.Options{Config: mayNotPublish, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}})
	for name, bad := range map[string]struct{ config, words string }{
		"syntax":          {"accounts {", "config.conf"},
		"not at run time": {mayNotPublish + "jetstream { domain: other }\n", "jetstream"},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Reload(patient(t), bad.config)
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), bad.words) {
				t.Errorf("reload: %v, want a refusal that names %q", err, bad.words)
			}
			if err != nil && (strings.Contains(err.Error(), s.TempDir()) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("want one line without the temporary folder: %v", err)
			}
			if err := s.Restart(patient(t)); err != nil {
				t.Fatalf("restart after the refused reload: %v", err)
			}
			if !denied(t, s) {
				t.Error("the config before the refused one is not in use")
			}
		})
	}
}

func TestSetConfigOfAStoppedServer(t *testing.T) {
	s := start(t, lab.Options{Config: mayPublish, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}})
	if err := s.SetConfig(mayNotPublish); !errors.Is(err, lab.ErrRunning) {
		t.Fatalf("SetConfig of a running server: %v, want ErrRunning", err)
	}
	if err := s.Term(patient(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(patient(t), mayNotPublish); !errors.Is(err, lab.ErrNotRunning) {
		t.Fatalf("Reload of a stopped server: %v, want ErrNotRunning", err)
	}
	if err := s.SetConfig(mayNotPublish); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(patient(t)); err != nil {
		t.Fatal(err)
	}
	if !denied(t, s) {
		t.Error("the new config is not in use")
	}
}

func TestReloadTurnsJetStreamOffAndOn(t *testing.T) {
	s := start(t, lab.Options{})
	fill(t, s)
	if err := s.Reload(patient(t), "jetstream: disabled\n"); err != nil {
		t.Fatal(err)
	}
	if !jetStreamIsOff(t, s) {
		t.Error("after the reload JetStream is still on")
	}
	if err := s.Reload(patient(t), ""); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s); got != 3 {
		t.Errorf("%d messages after JetStream was turned on again, want 3", got)
	}
}

// jetStreamIsOff asks the server's monitoring, as the API itself does not answer
// then.
func jetStreamIsOff(t *testing.T, s *lab.Server) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(patient(t), http.MethodGet, s.MonitorURL()+"/jsz", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var jsz struct {
		Disabled bool `json:"disabled"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&jsz); err != nil {
		t.Fatal(err)
	}
	return jsz.Disabled
}
