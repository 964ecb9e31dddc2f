package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// The schemas of the answers.
const (
	ProxiesSchema = "nats-reader/proxies/v1"
	FaultSchema   = "nats-reader/proxy-fault/v1"
	ResetSchema   = "nats-reader/proxy-reset/v1"
	FiringsSchema = "nats-reader/firings/v1"
	VersionSchema = "nats-reader/proxy-version/v1"
	ErrorSchema   = "nats-reader/error/v1"
)

const (
	maxBody       = 64 << 10 // a fault is a line
	firingsListed = 1000     // where no limit is given
)

// problem is an error as a client gets it.
type problem struct {
	Schema string `json:"schema"`
	Status int    `json:"status"`
	Text   string `json:"error"`
	Hint   string `json:"hint,omitempty"`
}

// ProxyState is one proxy as GET /proxies tells it.
type ProxyState struct {
	Name        string        `json:"name"`
	Listen      string        `json:"listen"` // nats://host:port, "" where it has no port
	Upstream    string        `json:"upstream"`
	Enabled     bool          `json:"enabled"`
	Faults      []Fault       `json:"faults"`
	Connections []string      `json:"connections"` // by name, in the order they came
	Traffic     proxy.Traffic `json:"traffic"`
}

type proxiesAnswer struct {
	Schema  string                `json:"schema"`
	Proxies map[string]ProxyState `json:"proxies"`
}

type faultAnswer struct {
	Schema string `json:"schema"`
	Fault
	Over bool `json:"over"`
}

type resetAnswer struct {
	Schema string `json:"schema"`
	Ended  int    `json:"ended"`
}

type firingsAnswer struct {
	Schema  string         `json:"schema"`
	Total   int            `json:"total"` // that match, also those not listed
	Firings []proxy.Firing `json:"firings"`
}

type versionAnswer struct {
	Schema  string `json:"schema"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServeHTTP answers one request.
func (c *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, answer := http.StatusOK, any(nil)
	wrong := c.guard.check(r)
	if wrong == nil {
		w.Header().Set(runHeader, c.run)
		wrong = c.otherRun(r)
	}
	if wrong == nil {
		status, answer, wrong = c.route(w, r)
	}
	if wrong != nil {
		if wrong.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="nats-reader proxy"`)
		}
		wrong.Schema = ErrorSchema
		status, answer = wrong.Status, wrong
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer) // a client that is gone needs no answer
}

// paths are what can be asked, and how.
var paths = []string{"GET /proxies", "GET /faults", "POST /faults", "DELETE /faults/{id}", "POST /reset", "GET /firings", "GET /version"}

func (c *Control) route(w http.ResponseWriter, r *http.Request) (int, any, *problem) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	id, oneFault := strings.CutPrefix(path, "/faults/")
	var allowed []string
	switch {
	case path == "/proxies", path == "/firings", path == "/version":
		allowed = []string{http.MethodGet}
	case path == "/reset":
		allowed = []string{http.MethodPost}
	case path == "/faults":
		allowed = []string{http.MethodGet, http.MethodPost}
	case oneFault:
		allowed = []string{http.MethodDelete}
	default:
		return 0, nil, &problem{Status: http.StatusNotFound, Text: fmt.Sprintf("there is no %s", r.URL.Path), Hint: "there are " + strings.Join(paths, ", ")}
	}
	if !slices.Contains(allowed, r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return 0, nil, &problem{Status: http.StatusMethodNotAllowed, Text: fmt.Sprintf("method %s is not allowed for %s", r.Method, path), Hint: "use " + strings.Join(allowed, " or ")}
	}
	switch {
	case path == "/firings":
		return c.firings(r.URL.Query())
	case path == "/version":
		return http.StatusOK, versionAnswer{VersionSchema, "nats-reader proxy", c.options.Version}, nil
	case path == "/reset":
		return http.StatusOK, resetAnswer{ResetSchema, c.Reset()}, nil
	case oneFault:
		return c.remove(id)
	case r.Method == http.MethodPost:
		return c.add(w, r)
	default:
		return http.StatusOK, c.proxies(), nil
	}
}

func (c *Control) proxies() proxiesAnswer {
	state := ProxyState{
		Name: c.options.Name, Listen: c.proxy.URL(), Upstream: c.proxy.Upstream(), Enabled: true,
		Faults: c.Faults(), Connections: []string{}, Traffic: c.proxy.Traffic(),
	}
	for _, conn := range c.proxy.Connections() {
		state.Connections = append(state.Connections, conn.Name)
	}
	return proxiesAnswer{ProxiesSchema, map[string]ProxyState{state.Name: state}}
}

// faultRequest is the body of POST /faults.
type faultRequest struct {
	Fault string `json:"fault"`
	For   string `json:"for,omitempty"`
}

func (c *Control) add(w http.ResponseWriter, r *http.Request) (int, any, *problem) {
	var request faultRequest
	if wrong := decode(w, r, &request); wrong != nil {
		return 0, nil, wrong
	}
	fault, wrong := request.parse()
	if wrong != nil {
		return 0, nil, wrong
	}
	applied, err := c.Apply(fault)
	switch {
	case errors.Is(err, proxy.ErrClosed):
		return 0, nil, &problem{Status: http.StatusServiceUnavailable, Text: err.Error()}
	case err != nil:
		return 0, nil, wrongFault(err)
	}
	return http.StatusCreated, faultAnswer{Schema: FaultSchema, Fault: applied, Over: applied.Once}, nil
}

func (q faultRequest) parse() (proxy.Fault, *problem) {
	bad := func(text string) (proxy.Fault, *problem) {
		return proxy.Fault{}, &problem{Status: http.StatusBadRequest, Text: text}
	}
	if q.Fault == "" {
		return bad(`the member "fault" is missing: want {"fault":"drop-message(nth=3)","for":"10s"}`)
	}
	fault, err := proxy.ParseFault(q.Fault)
	if err != nil {
		return proxy.Fault{}, wrongFault(err)
	}
	if q.For == "" {
		return fault, nil
	}
	length, err := time.ParseDuration(q.For)
	switch {
	case err != nil || length <= 0:
		return bad(fmt.Sprintf(`the member "for" is %q: want a duration above 0, such as "10s"`, q.For))
	case fault.For > 0 && fault.For != length:
		return bad(fmt.Sprintf(`the member "for" says %s and the fault itself %s: leave one out`, length, fault.For))
	}
	fault.For = length
	if err := fault.Validate(); err != nil {
		return proxy.Fault{}, wrongFault(err)
	}
	return fault, nil
}

// wrongFault suggests the nearest of what a fault allows.
func wrongFault(err error) *problem {
	p := &problem{Status: http.StatusBadRequest, Text: err.Error()}
	var e *proxy.FaultError
	if errors.As(err, &e) && len(e.Allowed) > 0 {
		short := *e
		short.Allowed = nil
		switch near := e.Suggestions(); {
		case len(near) > 0:
			p.Text, p.Hint = short.Error(), "did you mean "+strings.Join(near, " or ")+"?"
		case e.Field == "":
			p.Text, p.Hint = short.Error(), "nats-reader chaos list lists all faults; those on the wire act here"
		default:
			p.Text, p.Hint = short.Error(), "known: "+strings.Join(e.Allowed, ", ")
		}
	}
	return p
}

func (c *Control) remove(id string) (int, any, *problem) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, nil, &problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("fault id %q: want the number that POST /faults gave", id)}
	}
	fault, err := c.Undo(n)
	if err != nil {
		return 0, nil, &problem{Status: http.StatusNotFound, Text: err.Error(), Hint: "GET /faults lists those in force; a fault with a duration ends by itself"}
	}
	return http.StatusOK, faultAnswer{Schema: FaultSchema, Fault: fault, Over: true}, nil
}

func (c *Control) firings(query url.Values) (int, any, *problem) {
	number := func(name string, otherwise uint64) (uint64, *problem) {
		text := query.Get(name)
		if text == "" {
			return otherwise, nil
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return 0, &problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("%s=%q: want a whole number", name, text)}
		}
		return n, nil
	}
	for name := range query {
		if name != "fault_id" && name != "limit" {
			return 0, nil, &problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("there is no parameter %q", name), Hint: "there are fault_id and limit"}
		}
	}
	id, wrong := number("fault_id", 0)
	if wrong != nil {
		return 0, nil, wrong
	}
	limit, wrong := number("limit", firingsListed)
	if wrong != nil {
		return 0, nil, wrong
	}
	all := c.proxy.Firings()
	if id != 0 {
		all = slices.DeleteFunc(all, func(f proxy.Firing) bool { return f.ID != id })
	}
	answer := firingsAnswer{Schema: FiringsSchema, Total: len(all), Firings: []proxy.Firing{}}
	answer.Firings = append(answer.Firings, all[max(0, len(all)-int(limit)):]...)
	return http.StatusOK, answer, nil
}

// decode reads the one JSON object of a body.
func decode(w http.ResponseWriter, r *http.Request, into any) *problem {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); more == nil {
			err = errors.New("something follows the object")
		} else if !errors.Is(more, io.EOF) {
			err = more
		}
	}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return &problem{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("the request is longer than %d bytes", maxBody)}
	case errors.Is(err, io.EOF):
		return &problem{Status: http.StatusBadRequest, Text: `the request is empty: want {"fault":"drop-message(nth=3)","for":"10s"}`}
	case errors.As(err, &kind) && kind.Field != "":
		return &problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("the member %q is a %s: want a %s", kind.Field, kind.Value, kind.Type), Hint: `send {"fault":"drop-message(nth=3)","for":"10s"}`}
	case errors.As(err, &kind):
		return &problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("the request is no JSON object but %s", kind.Value), Hint: `send {"fault":"drop-message(nth=3)","for":"10s"}`}
	default:
		return &problem{Status: http.StatusBadRequest, Text: "the request is no JSON object of a fault: " + strings.TrimPrefix(err.Error(), "json: "), Hint: `send {"fault":"drop-message(nth=3)","for":"10s"}`}
	}
}
