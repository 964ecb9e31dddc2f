package control

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// A proxy that was started again on the same address gives the ids of the one before to other faults.
func TestFaultOfAProxyStartedAnewIsNotTheOldOne(t *testing.T) {
	b := newBench(t, "nats://127.0.0.1:1", "")
	old, err := b.client.Inject(t.Context(), "latency", 0)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(b.server.URL(), "http://")
	if err := b.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	px, err := proxy.New("nats://127.0.0.1:1", proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer px.Close() //nolint:errcheck // it gives none
	again := New(px, Options{})
	defer again.Close()
	server, err := again.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.Background()) //nolint:errcheck // the test is over
	theirs, err := proxy.ParseFault("bandwidth")
	if err != nil {
		t.Fatal(err)
	}
	other, err := again.Apply(theirs)
	if err != nil || other.ID != old.ID {
		t.Fatalf("got id %d, %v: want the id of before, %d", other.ID, err, old.ID)
	}

	_, _, firings := b.client.Firings(t.Context(), old.ID, 0)
	for what, err := range map[string]error{"undo": b.client.Undo(t.Context(), old.ID), "firings": firings} {
		var answer *Error
		if !errors.As(err, &answer) || answer.Status != http.StatusGone || errors.Is(err, ErrNoSuchFault) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if left := again.Faults(); len(left) != 1 || left[0].Fault != other.Fault {
		t.Errorf("in force are %+v", left)
	}

	// The client goes on with the new one.
	mine, err := b.client.Inject(t.Context(), "latency", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.client.Undo(t.Context(), mine.ID); err != nil {
		t.Error(err)
	}
	if err := b.client.Undo(t.Context(), other.ID); err == nil {
		t.Error("an id of before is taken for one of now")
	}
}
