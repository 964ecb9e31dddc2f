package run

import (
	"context"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// foreign is a server of the lab's as one of others.
func foreign(server *lab.Server) *Foreign {
	dial := target.Dial(server.URL())
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

// A reader of nats.go's is judged as it is by itself, on a server of others too; what says
// where the JetStream API is reaches it.
func TestForeignServerKeepsTheTargetsOwnConnection(t *testing.T) {
	t.Parallel()
	server, err := lab.Start(t.Context(), lab.Options{Config: "jetstream { domain: hub }\n"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	p := planOf(t, quick+"server: {connect: true}\nsteps: [{when: {at: 100ms}, fault: slow-reader(pause=1ms), for: 100ms}]\nphases: {steady: 300ms}\ncontract: {orphans: 1}\n")
	for _, name := range []string{"reader", "consume", "ordered-messages", "legacy-ordered"} {
		o := optionsOf(t, p, name)
		o.Server = foreign(server)
		o.Server.JetStream = func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.NewWithDomain(nc, "hub") }
		inner := o.Target
		var made nats.Options
		o.Target = shaky{inner, func(ctx context.Context, in target.Input) error {
			if in.Domain != "hub" {
				t.Errorf("%s: domain %q", name, in.Domain)
			}
			connect := in.Connect
			in.Connect = func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
				nc, err := connect(ctx, options...)
				if err == nil {
					made = nc.Opts
				}
				return nc, err
			}
			return inner.Read(ctx, in)
		}}
		got := played(t.Context(), t, o)
		want(t, got, oracle.Held, ExitHeld, "")
		byItself := nats.GetDefaultOptions()
		same := made.MaxReconnect == byItself.MaxReconnect && made.CustomReconnectDelayCB == nil && !made.IgnoreAuthErrorAbort && made.FlusherTimeout == byItself.FlusherTimeout
		if same == (name == "reader") {
			t.Errorf("%s: the connection was made with %+v", name, made)
		}
	}
}
