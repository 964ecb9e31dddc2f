package chaos

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// within bounds one question to a server that may not answer.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// stored is how many messages the stream has, once the server tells.
func (s *stage) stored() uint64 {
	s.Helper()
	limit := time.After(time.Minute)
	for {
		stream, err := s.env.JS.Stream(within(s.T), stageStream)
		if err == nil {
			return stream.CachedInfo().State.Msgs
		}
		select {
		case <-limit:
			s.Fatal(err)
		default:
		}
	}
}

func TestDisableJetStream(t *testing.T) {
	s := newStage(t)
	s.publish(3)
	pid := s.env.Lab.PID()
	r, told := s.run(t.Context(), func(f Firing) {
		if f.Phase != PhaseFired {
			return
		}
		if _, err := s.env.JS.Stream(within(t), stageStream); err == nil {
			t.Error("JetStream answers while it is off")
		}
	}, "disable-jetstream@0s+10ms")
	if !slices.Equal(told, []string{"disable-jetstream fired", "disable-jetstream ended"}) {
		t.Errorf("told %q, failed %v", told, r.Failed())
	}
	if n := s.stored(); n != 3 || s.env.Lab.PID() != pid {
		t.Errorf("%d messages, pid %d, want 3 and %d", n, s.env.Lab.PID(), pid)
	}
}

func TestLoseStore(t *testing.T) {
	s := newStage(t)
	s.publish(3)
	_, told := s.run(t.Context(), func(f Firing) {
		if f.Phase == PhaseFired && s.env.Lab.Running() {
			t.Error("the server runs while the fault acts")
		}
	}, "lose-store@0s+10ms")
	if len(told) != 2 || !s.env.Lab.Running() {
		t.Fatalf("told %q", told)
	}
	limit := time.After(time.Minute)
	for {
		_, err := s.env.JS.Stream(within(t), stageStream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return
		}
		select {
		case <-limit:
			t.Fatalf("got %v, want a stream that is gone", err)
		default:
		}
	}
}

// mayPublish says whether the reader's user may publish to a subject.
func mayPublish(t *testing.T, url, subject string) bool {
	t.Helper()
	nc, err := nats.Connect(url, nats.Timeout(30*time.Second), nats.UserInfo(ReaderUser, ReaderPassword), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.Publish(subject, nil); err != nil {
		t.Fatal(err)
	}
	if err := nc.FlushTimeout(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	return !errors.Is(nc.LastError(), nats.ErrPermissionViolation)
}

func TestRevokePermission(t *testing.T) {
	server, err := lab.Start(t.Context(), lab.Options{Config: UserConfig()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &stage{T: t, env: &Environment{Stream: stageStream, Lab: server, ReaderUser: true}}
	// Each ends by itself, and none gives back what another has taken.
	var mu sync.Mutex
	ends, apart := map[string]int{}, false
	r, told := s.run(t.Context(), func(f Firing) {
		subject := f.Spec.param("subject")
		mu.Lock()
		ends[subject]++
		mu.Unlock()
		if may := mayPublish(t, server.URL(), subject); may != (f.Phase == PhaseEnded) {
			t.Errorf("%s %s: may publish %v", f.Spec, f.Phase, may)
		}
		mu.Lock()
		within := f.Phase == PhaseEnded && subject == "a" && ends["b"] == 1
		apart = apart || within
		mu.Unlock()
		if within && mayPublish(t, server.URL(), "b") {
			t.Error("the end of one gave back what the other took")
		}
	}, "revoke-permission(subject=a)@0s+2s", "revoke-permission(subject=b)@200ms+4s")
	if len(told) != 4 || ends["a"] != 2 || ends["b"] != 2 || !apart {
		t.Errorf("told %q, one ended within the other: %v, failed %v", told, apart, r.Failed())
	}
}
