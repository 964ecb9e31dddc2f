package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
)

// quiet is how long nobody answers before all servers of a cluster have.
const quiet = 750 * time.Millisecond

// everyServer gives the answers of all servers to one request: of a server by
// itself the first, of a cluster those that come until nobody answers any more.
func (d *desk) everyServer(ctx context.Context, subject string, body any) ([][]byte, error) {
	var data []byte
	if body != nil {
		data, _ = json.Marshal(body) //nolint:errcheck // maps of plain values
	}
	sub, err := d.nc.SubscribeSync(d.nc.NewInbox())
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	denied, forget := d.await(subject)
	defer forget()
	within, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	go func() {
		select {
		case <-denied:
		case <-d.inbox:
		case <-within.Done():
		}
		cancel()
	}()
	if err := d.nc.PublishRequest(subject, sub.Subject, data); err != nil {
		return nil, err
	}
	var all [][]byte
	for {
		wait, end := within, context.CancelFunc(func() {})
		if len(all) > 0 {
			wait, end = context.WithTimeout(within, quiet)
		}
		m, err := sub.NextMsgWithContext(wait)
		end()
		switch {
		case err == nil && len(m.Data) == 0 && m.Header.Get("Status") == "503", errors.Is(err, nats.ErrNoResponders):
			return nil, errNoResponders
		case err == nil:
			all = append(all, m.Data)
			if d.nc.ConnectedClusterName() == "" {
				return all, nil
			}
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case len(all) > 0:
			return all, nil
		case isClosed(d.inbox):
			return nil, &deniedError{inboxPrefix(d.nc) + ">", true}
		case isClosed(denied):
			return nil, &deniedError{subject: subject}
		default:
			return nil, errSilent
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
