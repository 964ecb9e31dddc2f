package session

import (
	"errors"
	"time"
)

// How long a refusal is taken for granted. Permissions come back without a word,
// so what was denied is asked again; a reader that is never given one asks less
// and less often.
const (
	deniedTrust    = 10 * time.Second
	deniedTrustMax = 10 * time.Minute
)

// denial is a kind of request that the server denied us and that the rules can do
// without. The zero value is one that is permitted.
type denial struct {
	times int           // refused in a row
	until time.Duration // not asked again before that
}

func (d *denial) note(now time.Duration) {
	trust := deniedTrust
	for i := 0; i < d.times && trust < deniedTrustMax; i++ {
		trust *= 2
	}
	d.times++
	d.until = now + min(trust, deniedTrustMax)
}

// holds says that asking again is not worth it yet.
func (d *denial) holds(now time.Duration) bool { return d.times > 0 && now < d.until }

// doubt lets the next request go out: a new connection may have other permissions.
func (d *denial) doubt() { d.until = 0 }

// refusedTo notes a refusal of what the rules can do without.
func (m *Machine) refusedTo(now time.Duration, api API) {
	switch api {
	case APIConsumerInfo:
		m.asks.denied.note(now)
	case APIStreamInfo:
		m.unseen.note(now)
	case APIStreamNames, APIConsumerCreate, APIConsumerDelete, APIConsumerReset, APIMessageGet:
	}
}

// permitted notes an answer of the server itself: the request went through.
func (m *Machine) permitted(api API, a Answer) {
	if a.Err != nil && codeOf(a.Err) == 0 {
		return
	}
	switch api {
	case APIConsumerInfo:
		m.asks.denied = denial{}
	case APIStreamInfo:
		m.unseen = denial{}
	case APIStreamNames, APIConsumerCreate, APIConsumerDelete, APIConsumerReset, APIMessageGet:
	}
}

// tellDenied tells of a refusal, for callers to branch on like the failure it
// leads to.
func (m *Machine) tellDenied(subject string, err error) {
	if errors.Is(err, ErrDenied) {
		err = marked(err)
	}
	m.tell(Event{Kind: KindPermissionDenied, Text: subject, Err: err})
}

// deniedError is a permission violation told by the server.
type deniedError struct{ subject, text string }

func (e *deniedError) Error() string {
	if e.text != "" {
		return e.text
	}
	return "permission denied for " + e.subject
}

func (e *deniedError) Is(target error) bool { return target == ErrDenied }
