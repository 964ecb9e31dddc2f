package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// What an ask of the desk can end with, besides an *APIError and the end of a context.
var (
	errSilent       = errors.New("no answer")
	errNoResponders = errors.New("no responders")
)

// deniedError says that our user may not publish a subject, or hear the answer.
type deniedError struct {
	subject string
	inbox   bool // our inboxes: no answer to anything is heard
}

func (e *deniedError) Error() string { return "permission denied: " + e.subject }

// Error makes an APIError an error.
func (e *APIError) Error() string { return e.String() }

// mostAsks is how many requests are under way at a time: a server that is asked
// for much at once answers others late.
const mostAsks = 4

// desk sends requests, and gives up at once on what the server does not permit: a
// denied publish is answered with silence, and told by an asynchronous error that
// names its subject.
type desk struct {
	nc      *nats.Conn
	prefix  string // of the JetStream API, with its last dot
	timeout time.Duration
	slots   chan struct{}
	before  nats.ErrHandler

	mu      sync.Mutex
	awaited map[string][]chan struct{} // subjects of requests under way; nil: they cannot be answered
	inbox   chan struct{}              // closed: our inboxes are denied
	muted   bool
}

func newDesk(nc *nats.Conn, prefix string, timeout time.Duration) *desk {
	d := &desk{
		nc: nc, prefix: prefix, timeout: timeout, slots: make(chan struct{}, mostAsks),
		awaited: map[string][]chan struct{}{}, inbox: make(chan struct{}),
	}
	d.before = nc.Opts.AsyncErrorCB
	nc.SetErrorHandler(d.told)
	return d
}

// leave gives the connection's errors back to whom they went before.
func (d *desk) leave() { d.nc.SetErrorHandler(d.before) }

// told hears of every asynchronous error of the connection.
func (d *desk) told(nc *nats.Conn, sub *nats.Subscription, err error) {
	operation, subject := violation(err)
	d.mu.Lock()
	switch {
	case operation == "publish":
		for _, waiter := range d.awaited[subject] {
			close(waiter)
		}
		d.awaited[subject] = nil
	case operation == "subscribe" && !d.muted && strings.HasPrefix(subject, inboxPrefix(nc)):
		d.muted = true
		close(d.inbox)
	}
	d.mu.Unlock()
	if operation == "" && d.before != nil {
		d.before(nc, sub, err)
	}
}

func inboxPrefix(nc *nats.Conn) string {
	if p := nc.Opts.InboxPrefix; p != "" {
		return strings.TrimSuffix(p, ".") + "."
	}
	return nats.InboxPrefix
}

// violation reads the server's words: Permissions Violation for Publish to "subject".
func violation(err error) (operation, subject string) {
	if err == nil || !errors.Is(err, nats.ErrPermissionViolation) {
		return "", ""
	}
	text := err.Error()
	for word, name := range map[string]string{"Publish to ": "publish", "Subscription to ": "subscribe"} {
		if _, after, found := strings.Cut(text, word); found {
			after = strings.TrimPrefix(after, `"`)
			subject, _, _ = strings.Cut(after, `"`)
			return name, subject
		}
	}
	return "", ""
}

// ask sends an API request, named without the prefix, and reads the answer into
// into. The error of the API comes as an *APIError.
func (d *desk) ask(ctx context.Context, name string, body, into any) error {
	data, err := d.request(ctx, d.prefix+name, body, d.timeout)
	if err != nil {
		return err
	}
	var failed struct {
		Error *APIError `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return fmt.Errorf("answer to %s: %w", d.prefix+name, err)
	}
	if failed.Error != nil {
		return failed.Error
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("answer to %s: %w", d.prefix+name, err)
	}
	return nil
}

// request sends any request and gives the first answer.
func (d *desk) request(ctx context.Context, subject string, body any, timeout time.Duration) ([]byte, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-d.slots }()
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	denied, forget := d.await(subject)
	defer forget()
	type answer struct {
		m   *nats.Msg
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		m, err := d.nc.RequestWithContext(within, subject, data)
		answered <- answer{m, err}
	}()
	select {
	case a := <-answered:
		switch {
		case a.err == nil:
			return a.m.Data, nil
		case errors.Is(a.err, nats.ErrNoResponders):
			return nil, errNoResponders
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case within.Err() != nil:
			return nil, errSilent
		default:
			return nil, a.err
		}
	case <-denied:
		cancel()
		<-answered
		return nil, &deniedError{subject: subject}
	case <-d.inbox:
		cancel()
		<-answered
		return nil, &deniedError{inboxPrefix(d.nc) + ">", true}
	}
}

// await gives a channel that is closed when the subject is denied.
func (d *desk) await(subject string) (denied chan struct{}, forget func()) {
	denied = make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.awaited[subject] = append(d.awaited[subject], denied)
	return denied, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		left := d.awaited[subject][:0]
		for _, other := range d.awaited[subject] {
			if other != denied {
				left = append(left, other)
			}
		}
		if d.awaited[subject] = left; len(left) == 0 {
			delete(d.awaited, subject)
		}
	}
}
