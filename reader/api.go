package reader

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// ownerKey is the metadata that makes a consumer ours.
const ownerKey = "nats-reader.owner"

// apiPrefix gives the prefix of the JetStream API as js was made.
func apiPrefix(js jetstream.JetStream) string {
	o := js.Options()
	switch {
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	}
	return jetstream.DefaultAPIPrefix
}

// shortestThreshold is the inactive threshold of a consumer that is to be gone soon;
// the server adds 0.1 to 1 s to any.
const shortestThreshold = time.Millisecond

// consumerConfig is the part of a consumer's configuration that we set. Fields the
// server does not know are refused from 2.12 on, so none is sent for nothing.
type consumerConfig struct {
	Name              string            `json:"name,omitempty"`
	Durable           string            `json:"durable_name,omitempty"`
	DeliverPolicy     string            `json:"deliver_policy"`
	StartSequence     uint64            `json:"opt_start_seq,omitempty"`
	StartTime         *time.Time        `json:"opt_start_time,omitempty"`
	AckPolicy         string            `json:"ack_policy"`
	ReplayPolicy      string            `json:"replay_policy"`
	FilterSubject     string            `json:"filter_subject,omitempty"`
	FilterSubjects    []string          `json:"filter_subjects,omitempty"`
	InactiveThreshold time.Duration     `json:"inactive_threshold,omitempty"`
	HeadersOnly       bool              `json:"headers_only,omitempty"`
	Memory            bool              `json:"mem_storage,omitempty"`
	Replicas          int               `json:"num_replicas"`
	Metadata          map[string]string `json:"metadata,omitempty"`
}

var deliverPolicies = map[session.StartKind]string{
	session.StartAll: "all", session.StartNew: "new", session.StartLast: "last",
	session.StartLastPerSubject: "last_per_subject", session.StartSequence: "by_start_sequence", session.StartTime: "by_start_time",
}

// consumer gives the configuration of a consumer that starts as c says.
func (r *Reader) consumer(c session.Create) consumerConfig {
	out := consumerConfig{
		Name: c.Name, DeliverPolicy: deliverPolicies[c.Start], AckPolicy: "none", ReplayPolicy: "instant",
		InactiveThreshold: c.Inactive, HeadersOnly: r.cfg.HeadersOnly, Memory: r.cfg.Memory, Replicas: r.cfg.Replicas,
		Metadata: map[string]string{},
	}
	for k, v := range r.cfg.Metadata {
		out.Metadata[k] = v
	}
	out.Metadata[ownerKey] = r.id
	if r.cfg.Durable != "" {
		out.Durable, out.AckPolicy, out.InactiveThreshold = c.Name, "explicit", 0
	}
	if c.Lapse {
		out.InactiveThreshold = shortestThreshold
	}
	switch c.Start {
	case session.StartSequence:
		out.StartSequence = c.Sequence
	case session.StartTime:
		t := time.Unix(0, c.Time).UTC()
		out.StartTime = &t
	}
	switch len(r.cfg.Subjects) {
	case 0:
		if c.Start == session.StartLastPerSubject {
			// The server wants a filter for this policy.
			out.FilterSubjects = []string{">"}
		}
	case 1:
		out.FilterSubject = r.cfg.Subjects[0]
	default:
		out.FilterSubjects = r.cfg.Subjects
	}
	return out
}

// requestBody is what an API request carries.
func (r *Reader) requestBody(e session.Effect, stream string, durable json.RawMessage) ([]byte, error) {
	switch e.API {
	case session.APIStreamNames:
		return json.Marshal(map[string]string{"subject": r.cfg.Subjects[0]})
	case session.APIConsumerCreate, session.APIConsumerUpdate:
		action := "create"
		if e.API == session.APIConsumerUpdate {
			action = "update"
		}
		var config any = r.consumer(e.Create)
		if e.Create.Again && durable != nil {
			var err error
			if config, err = again(durable, r.consumer(e.Create)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(map[string]any{"stream_name": stream, "config": config, "action": action})
	case session.APIConsumerReset, session.APIMessageGet:
		return []byte(`{"seq":` + strconv.FormatUint(e.Sequence, 10) + `}`), nil
	}
	return nil, nil
}

// again gives the configuration a durable had, as the server held it, with the
// start that its successor needs.
func again(had json.RawMessage, start consumerConfig) (map[string]json.RawMessage, error) {
	var config, part map[string]json.RawMessage
	body, err := json.Marshal(start)
	if err == nil {
		err = json.Unmarshal(body, &part)
	}
	if err == nil {
		err = json.Unmarshal(had, &config)
	}
	if err != nil {
		return nil, err
	}
	for _, field := range []string{"deliver_policy", "opt_start_seq", "opt_start_time"} {
		delete(config, field)
		if v, ok := part[field]; ok {
			config[field] = v
		}
	}
	return config, nil
}

type apiError struct {
	Code    int    `json:"code"`
	ErrCode int    `json:"err_code"`
	Text    string `json:"description"`
}

type streamAnswer struct {
	Error   *apiError `json:"error"`
	Created time.Time `json:"created"`
	Config  struct {
		Retention string          `json:"retention"`
		Subjects  []string        `json:"subjects"`
		Mirror    json.RawMessage `json:"mirror"`
	} `json:"config"`
	State struct {
		First    uint64    `json:"first_seq"`
		Last     uint64    `json:"last_seq"`
		LastTime time.Time `json:"last_ts"`
		Messages uint64    `json:"messages"`
		Bytes    uint64    `json:"bytes"`
	} `json:"state"`
}

type consumerAnswer struct {
	Error     *apiError       `json:"error"`
	Name      string          `json:"name"`
	Config    json.RawMessage `json:"config"`
	Delivered struct {
		Consumer uint64 `json:"consumer_seq"`
		Stream   uint64 `json:"stream_seq"`
	} `json:"delivered"`
	AckFloor struct {
		Stream uint64 `json:"stream_seq"`
	} `json:"ack_floor"`
	AckPending int       `json:"num_ack_pending"`
	Waiting    int       `json:"num_waiting"`
	Pending    uint64    `json:"num_pending"`
	Paused     bool      `json:"paused"`
	PauseLeft  int64     `json:"pause_remaining"` // nanoseconds
	TimeStamp  time.Time `json:"ts"`
	Created    time.Time `json:"created"`
}

type consumerLimits struct {
	AckPolicy     string            `json:"ack_policy"`
	AckWait       time.Duration     `json:"ack_wait"`
	MaxAckPending int               `json:"max_ack_pending"`
	MaxWaiting    int               `json:"max_waiting"`
	DeliverTo     string            `json:"deliver_subject"`
	Filter        string            `json:"filter_subject"`
	Filters       []string          `json:"filter_subjects"`
	MaxBatch      int               `json:"max_batch"`
	MaxExpires    time.Duration     `json:"max_expires"`
	MaxBytes      int               `json:"max_bytes"`
	Groups        []string          `json:"priority_groups"`
	Metadata      map[string]string `json:"metadata"`
}

// transport gives the answer to a request that the API itself did not answer. The
// subject tells a wrong domain or prefix.
func transport(subject string, err error) session.Answer {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return session.Answer{Err: fmt.Errorf("%w (%s)", session.ErrNoResponders, subject)}
	default:
		return session.Answer{Err: fmt.Errorf("%w: %w", session.ErrNoAnswer, err)}
	}
}

// decode reads the answer to a request; config is a consumer's configuration as
// the server holds it.
func decode(api session.API, data []byte) (a session.Answer, config json.RawMessage) {
	var err error
	switch api {
	case session.APIStreamInfo:
		var s streamAnswer
		if err = json.Unmarshal(data, &s); err == nil {
			if a.Err = s.Error.err(); a.Err == nil {
				a.Stream = s.facts()
			}
		}
	case session.APIConsumerCreate, session.APIConsumerUpdate, session.APIConsumerInfo:
		var c consumerAnswer
		if err = json.Unmarshal(data, &c); err == nil {
			if a.Err = c.Error.err(); a.Err == nil {
				a.Consumer, err = c.facts()
				config = c.Config
			}
		}
	case session.APIMessageGet:
		var g struct {
			Error   *apiError `json:"error"`
			Message struct {
				Sequence uint64    `json:"seq"`
				Time     time.Time `json:"time"`
			} `json:"message"`
		}
		if err = json.Unmarshal(data, &g); err == nil {
			if a.Err = g.Error.err(); a.Err == nil {
				a.Message = &session.MessageFacts{Sequence: g.Message.Sequence, Time: nanos(g.Message.Time)}
			}
		}
	case session.APIStreamNames:
		var n struct {
			Error *apiError `json:"error"`
			Names []string  `json:"streams"`
		}
		if err = json.Unmarshal(data, &n); err == nil {
			a.Names, a.Err = n.Names, n.Error.err()
		}
	default:
		var d struct {
			Error *apiError `json:"error"`
		}
		if err = json.Unmarshal(data, &d); err == nil {
			a.Done, a.Err = d.Error == nil, d.Error.err()
		}
	}
	if err != nil {
		a = session.Answer{Err: fmt.Errorf("%s: not an answer of the JetStream API: %w", api, err)}
	}
	return a, config
}

func (e *apiError) err() error {
	if e == nil {
		return nil
	}
	return &session.APIError{Code: e.Code, ErrCode: e.ErrCode, Text: e.Text}
}

func (s streamAnswer) facts() *session.StreamFacts {
	f := &session.StreamFacts{
		Created: nanos(s.Created), First: s.State.First, Last: s.State.Last, LastTime: nanos(s.State.LastTime),
		Limits: s.Config.Retention == "limits", Retention: s.Config.Retention, Subjects: s.Config.Subjects,
	}
	f.Weight = int(s.State.Bytes / max(s.State.Messages, 1))
	f.Mirror = len(s.Config.Mirror) > 0 && string(s.Config.Mirror) != "null"
	return f
}

func (c consumerAnswer) facts() (*session.ConsumerFacts, error) {
	var l consumerLimits
	if len(c.Config) > 0 {
		if err := json.Unmarshal(c.Config, &l); err != nil {
			return nil, err
		}
	}
	f := &session.ConsumerFacts{
		Name: c.Name, DeliveredConsumer: c.Delivered.Consumer, DeliveredStream: c.Delivered.Stream, Pending: c.Pending,
		Paused: c.Paused, PauseLeft: time.Duration(c.PauseLeft), AckPending: c.AckPending, MaxAckPending: l.MaxAckPending, AckFloor: c.AckFloor.Stream,
		AckNone: l.AckPolicy == "none", PushBased: l.DeliverTo != "", Grouped: len(l.Groups) > 0, Owner: l.Metadata[ownerKey],
		Waiting: c.Waiting, MaxWaiting: l.MaxWaiting,
		Limits: session.Limits{Batch: l.MaxBatch, Expires: l.MaxExpires, Bytes: l.MaxBytes},
	}
	if l.MaxWaiting > 0 {
		f.Limits.Waiting = max(l.MaxWaiting-1, 1) // one is left for the first pull of a replacement
	}
	if f.Filters = l.Filters; l.Filter != "" {
		f.Filters = []string{l.Filter}
	}
	f.Level, _ = strconv.Atoi(l.Metadata["_nats.level"])
	f.Version, f.At, f.Created = l.Metadata["_nats.ver"], nanos(c.TimeStamp), nanos(c.Created)
	return f, nil
}

func nanos(t time.Time) int64 {
	if t.IsZero() || t.Year() < 1970 {
		return 0
	}
	return t.UnixNano()
}

// pullBody is the request for messages; it is built by hand because pulls are
// frequent and JSON encoders make garbage.
func pullBody(p session.Pull) []byte {
	b := make([]byte, 0, 96)
	b = append(b, `{"expires":`...)
	b = strconv.AppendInt(b, int64(p.Expires), 10)
	b = append(b, `,"batch":`...)
	b = strconv.AppendInt(b, int64(p.Batch), 10)
	if p.MaxBytes > 0 {
		b = append(b, `,"max_bytes":`...)
		b = strconv.AppendInt(b, int64(p.MaxBytes), 10)
	}
	b = append(b, `,"idle_heartbeat":`...)
	b = strconv.AppendInt(b, int64(p.Heartbeat), 10)
	return append(b, '}')
}
