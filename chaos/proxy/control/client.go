package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Error is what a control answered instead of what was asked for. It is ErrNoSuchFault for a fault that is
// over.
type Error struct {
	Status int    // of HTTP
	Text   string // one line
	Hint   string // what to do; may be empty
}

// Error is the control's own line.
func (e *Error) Error() string { return e.Text }

// Is tells a fault that is over from other errors.
func (e *Error) Is(target error) bool {
	return target == ErrNoSuchFault && e.Status == http.StatusNotFound
}

// Firing is one thing a fault did. Frame is the JSON of a proxy.Frame.
type Firing struct {
	Time  time.Time       `json:"time"`
	Fault string          `json:"fault"`
	ID    uint64          `json:"id"`
	Frame json.RawMessage `json:"frame"`
}

// ErrNoControl is returned where something answers that is no control of a proxy.
var ErrNoControl = errors.New("what answers there is no control of a nats-reader proxy")

// Client asks the control of a proxy. Its methods are safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
	runs  runs
}

// maxAnswer bounds what a client reads of an answer: all firings a proxy remembers fit.
const maxAnswer = 64 << 20

// NewClient makes a client of the control at a URL, such as http://127.0.0.1:8474 or 127.0.0.1:8474. Nothing
// is sent yet.
func NewClient(base, token string) (*Client, error) {
	text := strings.TrimSpace(base)
	bare := !strings.Contains(text, "://")
	if bare {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case bare && err == nil && u.Hostname() != "" && u.Port() == "":
		return nil, fmt.Errorf("the address of a control is http://host:port: %q has no port", strings.TrimSpace(base))
	case err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil:
		return nil, errors.New("the address of a control is http://host:port")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the address of a control has scheme %q: want http://host:port", u.Scheme)
	}
	return &Client{
		base: u.Scheme + "://" + u.Host, token: token,
		// No proxy of the environment: the address is meant as it is.
		http: &http.Client{
			Transport:     &http.Transport{Proxy: nil, DialContext: dialToSpeakFirst, MaxIdleConns: 2, IdleConnTimeout: idleTimeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// URL is the address of the control.
func (c *Client) URL() string { return c.base }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Inject puts a fault into force, for as long as length says; 0: until Undo or Reset.
func (c *Client) Inject(ctx context.Context, fault string, length time.Duration) (Fault, error) {
	request := faultRequest{Fault: fault}
	if length > 0 {
		request.For = length.String()
	}
	var answer faultAnswer
	run, err := c.askOf(ctx, "", http.MethodPost, "/faults", request, FaultSchema, &answer)
	if err == nil {
		c.runs.set(answer.ID, run)
	}
	return answer.Fault, err
}

// Undo takes a fault out of force; ErrNoSuchFault when it is over already. One of Inject that ended with its proxy is an
// Error, also where a proxy that was started since has another fault of that id, which stays.
func (c *Client) Undo(ctx context.Context, id uint64) error {
	_, err := c.askOf(ctx, c.runs.get(id), http.MethodDelete, "/faults/"+strconv.FormatUint(id, 10), nil, FaultSchema, &faultAnswer{})
	return err
}

// Reset takes every fault out of force and says how many these were.
func (c *Client) Reset(ctx context.Context) (int, error) {
	var answer resetAnswer
	err := c.ask(ctx, http.MethodPost, "/reset", nil, ResetSchema, &answer)
	return answer.Ended, err
}

// ProxyInfo is one proxy of a control. Traffic is the JSON of a proxy.Traffic.
type ProxyInfo struct {
	Name        string          `json:"name"`
	Listen      string          `json:"listen"`
	Upstream    string          `json:"upstream"`
	Enabled     bool            `json:"enabled"`
	Faults      []Fault         `json:"faults"`
	Connections []string        `json:"connections"`
	Traffic     json.RawMessage `json:"traffic"`
}

// Proxies tells what is proxied, by name.
func (c *Client) Proxies(ctx context.Context) (map[string]ProxyInfo, error) {
	var answer struct {
		Proxies map[string]ProxyInfo `json:"proxies"`
	}
	err := c.ask(ctx, http.MethodGet, "/proxies", nil, ProxiesSchema, &answer)
	return answer.Proxies, err
}

// Firings tells what a fault did: the newest, at most limit of them, and how many there are. id 0 is every
// fault.
func (c *Client) Firings(ctx context.Context, id uint64, limit int) (newest []Firing, total int, err error) {
	var answer struct {
		Total   int      `json:"total"`
		Firings []Firing `json:"firings"`
	}
	path := fmt.Sprintf("/firings?limit=%d", max(limit, 0))
	if id != 0 {
		path += fmt.Sprintf("&fault_id=%d", id)
	}
	_, err = c.askOf(ctx, c.runs.get(id), http.MethodGet, path, nil, FiringsSchema, &answer)
	return answer.Firings, answer.Total, err
}

// Version is the version of the proxy's program.
func (c *Client) Version(ctx context.Context) (string, error) {
	var answer versionAnswer
	err := c.ask(ctx, http.MethodGet, "/version", nil, VersionSchema, &answer)
	return answer.Version, err
}

// ask sends one request and reads the answer, which must carry the schema.
func (c *Client) ask(ctx context.Context, method, path string, body any, schema string, into any) error {
	_, err := c.askOf(ctx, "", method, path, body, schema, into)
	return err
}

// askOf asks a certain run of the control, or any, and tells which one answered.
func (c *Client) askOf(ctx context.Context, run, method, path string, body any, schema string, into any) (string, error) {
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", method, path, err)
		}
		text = bytes.NewReader(b)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, text)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if run != "" {
		request.Header.Set(runHeader, run)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return "", fmt.Errorf("the proxy's control does not answer: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("%s %s%s: %w", method, c.base, path, err)
	}
	return answer.Header.Get(runHeader), read(b, answer.StatusCode, schema, into)
}

func read(b []byte, status int, schema string, into any) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return ErrNoControl
	}
	switch head.Schema {
	case ErrorSchema:
		var p problem
		if err := json.Unmarshal(b, &p); err != nil {
			return fmt.Errorf("%w: %w", ErrNoControl, err)
		}
		return &Error{Status: status, Text: p.Text, Hint: p.Hint}
	case schema:
		return json.Unmarshal(b, into)
	default:
		return ErrNoControl
	}
}
