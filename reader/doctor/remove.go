package doctor

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
)

// Removed is what became of one orphan.
type Removed struct {
	Orphan
	Deleted bool
	Why     string // why not
}

// Remove deletes orphans. Each is looked at once more: one that was made again,
// that somebody pulls from or that has moved since the facts is left alone. The
// error is that of the context, or of options.
func Remove(ctx context.Context, nc *nats.Conn, o Options, orphans []Orphan) ([]Removed, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	d := newDesk(nc, o.APIPrefix, o.Timeout)
	defer d.leave()
	var all []Removed
	for _, orphan := range orphans {
		r := d.remove(ctx, orphan)
		if err := context.Cause(ctx); err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

func (d *desk) remove(ctx context.Context, o Orphan) Removed {
	r := Removed{Orphan: o}
	var now consumerAnswer
	err := d.ask(ctx, "CONSUMER.INFO."+o.Stream+"."+o.Consumer, nil, &now)
	var api *APIError
	switch {
	case errors.As(err, &api) && api.ErrCode == codeConsumerNotFound:
		r.Why = "it is gone already"
	case err != nil:
		r.Why = why(err)
	case !now.Created.Equal(o.Created):
		r.Why = "it was deleted and made again"
	case now.Waiting > 0 || now.PushBound:
		r.Why = "somebody reads from it now"
	case now.Delivered.Consumer != o.state.Delivered.Consumer || now.AckFloor.Consumer != o.state.AckFloor.Consumer:
		r.Why = "it has moved since it was looked at"
	default:
		var done struct {
			Success bool `json:"success"`
		}
		if err := d.ask(ctx, "CONSUMER.DELETE."+o.Stream+"."+o.Consumer, nil, &done); err != nil {
			r.Why = why(err)
		} else if r.Deleted = done.Success; !r.Deleted {
			r.Why = "the server does not say that it did"
		}
	}
	return r
}
