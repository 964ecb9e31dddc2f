package session

import (
	"errors"
	"time"
)

// outage is what is known of times in which servers were away. A server that starts,
// or a new leader, begins anew to count how long a consumer is idle; so what passed
// before says nothing of when a leftover lapses (rule 10).
type outage struct {
	until time.Duration // up to here a server or a leader may have been away
	mute  API           // the kind of request that was not answered last, "" none
	heard bool          // another kind was answered since
}

// note takes what became of a request. Deletes that alone are not answered, while the
// API answers other requests, are no outage: a leftover would never lapse.
func (o *outage) note(now time.Duration, api API, err error) {
	switch {
	case !unavailable(err):
		if o.mute == api {
			o.mute = ""
		}
		o.heard = true
	case api == APIConsumerDelete && o.mute == api && o.heard:
		o.heard = false
	default:
		o.until, o.mute, o.heard = now, api, false
	}
}

// unavailable says that nobody answered a request who knows.
func unavailable(err error) bool {
	return errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrNoResponders) || isCode(err, codeUnavailable)
}
