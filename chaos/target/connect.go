package target

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// Dial makes an Input's Connect out of an address and what every connection there
// needs, such as a login or the proxy's dialer. The target's own options come later
// and win. A connection that comes after ctx has ended is closed.
func Dial(url string, options ...nats.Option) func(context.Context, ...nats.Option) (*nats.Conn, error) {
	options = slices.Clip(options)
	return func(ctx context.Context, more ...nats.Option) (*nats.Conn, error) {
		type answer struct {
			nc  *nats.Conn
			err error
		}
		made := make(chan answer, 1)
		lettingGo.Go(func() {
			nc, err := nats.Connect(url, append(options, more...)...)
			made <- answer{nc, err}
		})
		select {
		case a := <-made:
			return a.nc, a.err
		case <-ctx.Done():
			lettingGo.Go(func() {
				if a := <-made; a.nc != nil {
					a.nc.Close()
				}
			})
			return nil, context.Cause(ctx)
		}
	}
}

// How the connections of our reader behave, as those of the commands do: they come
// back for ever, soon at first, spread when many come back at once, and no call of
// nats.go blocks for long behind a server that stands still.
const (
	flusherTimeout = 2 * time.Second
	firstReconnect = 50 * time.Millisecond
	slowReconnect  = 2 * time.Second
)

func ourOptions() []nats.Option {
	return []nats.Option{
		nats.Name("nats-reader chaos " + ours),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(func(attempts int) time.Duration {
			d := min(firstReconnect<<min(max(attempts-1, 0), 10), slowReconnect)
			return d - time.Duration(rand.Int64N(int64(d)/2))
		}),
		nats.IgnoreAuthErrorAbort(), // a login that is refused for a while is tried again
		nats.FlusherTimeout(flusherTimeout),
	}
}
