package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// StartLab starts a server of the lab for a bench. binary is the path of a nats-server; "": the one that the lab takes
// by itself.
func StartLab(ctx context.Context, binary string) (Server, func() error, error) {
	l, err := lab.Start(ctx, lab.Options{ServerBin: binary})
	if err != nil {
		return Server{}, nil, err
	}
	return OnLab(l), l.Close, nil
}

// OnLab is a running server of the lab. Connections are as nats.go has them by itself.
func OnLab(l *lab.Server) Server {
	return Server{
		Connect: func(_ context.Context, options ...nats.Option) (*nats.Conn, error) {
			options = append([]nats.Option{nats.Name("nats-reader bench"), nats.Timeout(connectLimit)}, options...)
			nc, err := nats.Connect(l.URL(), options...)
			if err != nil {
				return nil, fmt.Errorf("connect to the lab's server: %w", err)
			}
			return nc, nil
		},
		JetStream: func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.New(nc) },
		Legacy:    func(nc *nats.Conn) (nats.JetStreamContext, error) { return nc.JetStream() },
		PID:       l.PID(),
		ended:     func() bool { return !l.Running() },
	}
}

// connectLimit is how long a server of the lab may take to let a client in: the machine is busy.
const connectLimit = 10 * time.Second
