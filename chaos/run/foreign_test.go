package run

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// foreign is a server of the lab's as one of others.
func foreign(server *lab.Server) *Foreign {
	dial := target.Dial(server.URL(), steadfast...)
	return &Foreign{
		Servers: server.URL(), Connect: dial,
		JetStream: func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.New(nc) },
	}
}

// on gives the API of a server, for the time of do.
func on(t *testing.T, server *lab.Server, do func(ctx context.Context, js jetstream.JetStream) error) error {
	t.Helper()
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return do(t.Context(), js)
}

func makeStream(t *testing.T, server *lab.Server, name string) {
	t.Helper()
	err := on(t, server, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func hasStream(t *testing.T, server *lab.Server, name string) bool {
	t.Helper()
	err := on(t, server, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.Stream(ctx, name)
		return err
	})
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatal(err)
	}
	return err == nil
}
