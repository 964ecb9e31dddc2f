package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader"
)

// denial hears what the server denies on the connection that makes, fills and removes streams. The server tells it to
// the connection, and never answers the request.
type denial struct {
	mu     sync.Mutex
	stop   context.CancelCauseFunc
	except string
}

// guard gives a context that ends with what is denied from now on, except on a subject, if it is given: what was
// published to it before may be denied late. The context before hears nothing more.
func (d *denial) guard(ctx context.Context, except string) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop, d.except = stop, except
	return ctx, func() { stop(nil) }
}

// told takes an error of the connection.
func (d *denial) told(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	d.mu.Lock()
	stop, except := d.stop, d.except
	d.mu.Unlock()
	if stop != nil && (except == "" || !strings.Contains(err.Error(), except)) {
		stop(fmt.Errorf("%w: %w", reader.ErrPermission, err))
	}
}

// because puts what was denied in the place of an error that came of it.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, reader.ErrPermission) {
		return cause
	}
	return err
}
