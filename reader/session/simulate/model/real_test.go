package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// patience bounds the wait for what must come; silence is how long nothing is waited
// for where a request is not answered.
const (
	patience = 20 * time.Second
	silence  = 700 * time.Millisecond
	noAnswer = "no answer"
)

// real is a stream of a real server.
type real struct {
	t      *testing.T
	server *lab.Server
	nc     *nats.Conn
	other  *nats.Conn
	back   chan struct{} // nc is connected again
	closes []func()
	stream string
	subs   map[int]*nats.Subscription
	tokens int

	mu      sync.Mutex
	in      inboxes
	replies map[uint64]string // of a message: where it is acknowledged
	news    chan struct{}
}

func newReal(t *testing.T, server *lab.Server, stream string) *real {
	r := &real{t: t, server: server, back: make(chan struct{}, 1), stream: stream, subs: map[int]*nats.Subscription{}, replies: map[uint64]string{}, news: make(chan struct{}, 1)}
	r.nc, r.other = r.connect(), r.connect()
	r.nc.SetReconnectHandler(func(*nats.Conn) { r.back <- struct{}{} })
	t.Cleanup(r.close)
	return r
}

// close ends its connections.
func (r *real) close() {
	for _, end := range r.closes {
		end()
	}
	r.closes = nil
}

// restart has the server stop, or be killed, and start again.
func (r *real) restart(stop func(context.Context) error) {
	err := stop(r.t.Context())
	if err == nil {
		err = r.server.Start(r.t.Context())
	}
	if err != nil {
		r.t.Error(err)
		return
	}
	select {
	case <-r.back:
	case <-time.After(patience):
		r.t.Error("the connection does not come back")
	}
}

func (r *real) connect() *nats.Conn {
	nc, err := nats.Connect(r.server.URL(), nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0), nats.MaxReconnects(-1))
	if err != nil {
		r.t.Error(err)
		panic(err)
	}
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	r.closes = append(r.closes, func() {
		nc.Close()
		<-closed
	})
	return nc
}

func (r *real) inbox(n int) string { return fmt.Sprintf("in.%s.%d", r.stream, n) }

func (r *real) receive(inbox int, read bool) nats.MsgHandler {
	return func(msg *nats.Msg) {
		r.mu.Lock()
		defer r.mu.Unlock()
		line := statusWords(statusOf(msg))
		if meta, err := msg.Metadata(); err == nil {
			r.replies[meta.Sequence.Stream] = msg.Reply
			line = messageWords(meta.Sequence.Stream, meta.Sequence.Consumer, int(meta.NumDelivered), meta.NumPending)
		}
		if read && r.in.heard(inbox, line) {
			select {
			case r.news <- struct{}{}:
			default:
			}
		}
	}
}

func statusOf(msg *nats.Msg) (st model.Status) {
	number := func(key string) (int, bool) {
		v := msg.Header.Get(key)
		n, err := strconv.Atoi(v)
		return n, v != "" && err == nil
	}
	st.Code, _ = number("Status")
	st.Text = msg.Header.Get("Description")
	if n, ok := number("Nats-Last-Consumer"); ok {
		last, _ := number("Nats-Last-Stream")
		st.LastConsumer, st.LastStream, st.HasLast = uint64(n), uint64(last), true
	}
	if n, ok := number("Nats-Pending-Messages"); ok {
		st.PendingMessages, st.HasPending = n, true
		st.PendingBytes, _ = number("Nats-Pending-Bytes")
	}
	return st
}

func (r *real) awaits(want, n int) []string {
	if want > 0 {
		r.wait(want, patience)
	}
	if want < n {
		r.wait(n, silence)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in.take(n)
}

// hear waits for n lines, or, of 0, for d.
func (r *real) hear(n int, d time.Duration) []string {
	r.wait(n, d)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in.take(n)
}

func (r *real) wait(n int, d time.Duration) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		r.mu.Lock()
		enough := n > 0 && len(r.in.lines) >= n
		r.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-r.news:
		case <-end.C:
			return
		}
	}
}

// api sends a request of the API; where no answer is wanted it is not waited for long.
func (r *real) api(subject string, body any, want string) (answer map[string]any, text string) {
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if body == nil {
		data = nil
	}
	wait := patience
	if want == noAnswer {
		wait = silence
	}
	msg, err := r.nc.Request("$JS.API."+subject, data, wait)
	if err != nil {
		if errors.Is(err, nats.ErrTimeout) {
			return nil, noAnswer
		}
		return nil, err.Error()
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		panic(err)
	}
	if e, ok := answer["error"].(map[string]any); ok {
		return answer, errorWords(int(e["code"].(float64)), int(e["err_code"].(float64)), e["description"].(string))
	}
	return answer, "ok"
}

func (r *real) do(o *order, want string) string {
	name := ""
	if len(o.words) > 0 {
		name = o.words[0]
	}
	must := func(subject string, body any) {
		if _, text := r.api(subject, body, ""); text != "ok" {
			r.t.Errorf("%s: %s", o.line, text)
		}
	}
	consumer := r.stream + "." + name
	switch o.verb {
	case "stream":
		config := map[string]any{"name": r.stream, "subjects": []string{r.stream + ".*"}, "storage": or(o.options["storage"], "memory"), "num_replicas": 1, "retention": or(o.options["retention"], "limits"), "discard": "old"}
		if n := o.number("maxcons", 0); n > 0 {
			config["max_consumers"] = n
		}
		if n := o.number("max", 0); n > 0 {
			config["max_msgs"] = n
		}
		if d := o.duration("idle"); d > 0 {
			config["consumer_limits"] = map[string]any{"inactive_threshold": d}
		}
		must("STREAM.CREATE."+r.stream, config)
	case "drop-stream":
		must("STREAM.DELETE."+r.stream, nil)
	case "publish":
		for range whole(o.word(0)) {
			if _, err := r.nc.Request(r.stream+"."+or(o.options["subject"], "a"), make([]byte, o.number("size", 100)), patience); err != nil {
				r.t.Errorf("%s: %v", o.line, err)
			}
		}
	case "remove":
		must("STREAM.MSG.DELETE."+r.stream, map[string]any{"seq": whole(name)})
	case "purge":
		body := map[string]any{}
		if n := o.number("below", 0); n > 0 {
			body["seq"] = n
		}
		if n := o.number("keep", 0); n > 0 {
			body["keep"] = n
		}
		if subject := o.options["subject"]; subject != "" {
			body["filter"] = r.stream + "." + subject
		}
		must("STREAM.PURGE."+r.stream, body)
	case "create":
		subject := "CONSUMER.CREATE." + consumer
		if s := o.options["subjectfilter"]; s != "" {
			subject += "." + r.stream + "." + s
		}
		return r.facts(o, subject, r.create(o), want)
	case "crowd":
		last := ""
		for i := range whole(name) {
			last = r.facts(o, fmt.Sprintf("CONSUMER.CREATE.%s.x%d", r.stream, i), r.create(o), "")
		}
		return last
	case "info":
		return r.settled(o, "CONSUMER.INFO."+consumer, want)
	case "delete":
		_, text := r.api("CONSUMER.DELETE."+consumer, nil, want)
		return text
	case "reset":
		return r.facts(o, "CONSUMER.RESET."+consumer, map[string]any{"seq": whole(o.word(1))}, want)
	case "pause":
		_, text := r.api("CONSUMER.PAUSE."+consumer, map[string]any{"pause_until": time.Now().Add(lasting(o.word(1))).UTC()}, want)
		return text
	case "streaminfo":
		a, text := r.api("STREAM.INFO."+r.stream, nil, want)
		if text == "ok" {
			state := a["state"].(map[string]any)
			text = fmt.Sprintf("first=%.0f last=%.0f", state["first_seq"], state["last_seq"])
		}
		return text
	case "get":
		_, text := r.api("STREAM.MSG.GET."+r.stream, map[string]any{"seq": whole(name)}, want)
		if text == "ok" {
			text = "s" + name
		}
		return text
	case "lapses":
		return r.lapses(consumer)
	case "sub":
		n := whole(name)
		nc := r.nc
		if o.has("other") {
			nc = r.other
		}
		sub, err := nc.Subscribe(r.inbox(n), r.receive(n, !o.has("unread")))
		if err == nil {
			err = nc.Flush()
		}
		if err != nil {
			r.t.Errorf("%s: %v", o.line, err)
		}
		r.subs[n] = sub
	case "unsub":
		if err := errors.Join(r.subs[whole(name)].Unsubscribe(), r.nc.Flush()); err != nil {
			r.t.Errorf("%s: %v", o.line, err)
		}
	case "hang-up":
		r.other.Close()
	case "term":
		r.restart(r.server.Term)
	case "kill":
		r.restart(r.server.Kill)
	case "pull":
		r.publish("$JS.API.CONSUMER.MSG.NEXT."+consumer, whole(o.word(1)), pullBody(o))
	case "pullraw":
		r.publish("$JS.API.CONSUMER.MSG.NEXT."+consumer, whole(o.word(1)), []byte(o.words[2]))
	case "ack", "nak", "progress":
		r.mu.Lock()
		reply := r.replies[uint64(whole(name))]
		r.mu.Unlock()
		body := map[string]string{"ack": "+ACK", "nak": "-NAK", "progress": "+WPI"}[o.verb]
		if o.has("ignored") {
			if err := errors.Join(r.nc.Publish(reply, []byte(body)), r.nc.Flush()); err != nil {
				r.t.Errorf("%s: %v", o.line, err)
			}
			break
		}
		if _, err := r.nc.Request(reply, []byte(body), patience); err != nil {
			r.t.Errorf("%s: %v", o.line, err)
		}
	default:
		panic("unknown verb: " + o.line)
	}
	return ""
}

// publish sends a pull and waits until the server has read it.
func (r *real) publish(subject string, inbox int, body []byte) {
	r.tokens++
	err := r.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: r.inbox(inbox), Data: body})
	if err == nil {
		err = r.nc.Flush()
	}
	if err != nil {
		r.t.Error(err)
	}
}

func pullBody(o *order) []byte {
	body := map[string]any{"batch": o.number("batch", 1)}
	set := func(key string, on bool, v any) {
		if on {
			body[key] = v
		}
	}
	set("max_bytes", o.number("bytes", 0) > 0, o.number("bytes", 0))
	set("expires", o.duration("expires") != 0, o.duration("expires"))
	set("idle_heartbeat", o.duration("hb") > 0, o.duration("hb"))
	set("no_wait", o.has("nowait"), true)
	set("group", o.options["group"] != "", o.options["group"])
	set("id", o.options["id"] != "", o.options["id"])
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return data
}

func (r *real) create(o *order) map[string]any {
	c := map[string]any{"name": or(o.options["named"], o.word(0)), "metadata": map[string]string{"owner": "x"}, "deliver_policy": "all", "ack_policy": "none", "replay_policy": "instant"}
	set := func(key string, on bool, v any) {
		if on {
			c[key] = v
		}
	}
	for word, p := range map[string]string{"new": "new", "last": "last", "lastper": "last_per_subject"} {
		set("deliver_policy", o.has(word), p)
	}
	if v, ok := o.options["seq"]; ok {
		c["deliver_policy"] = "by_start_sequence"
		c["opt_start_seq"] = whole(v)
	}
	switch v, ok := o.options["time"]; {
	case v == "future":
		c["deliver_policy"], c["opt_start_time"] = "by_start_time", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	case ok:
		a, _ := r.api("STREAM.MSG.GET."+r.stream, map[string]any{"seq": whole(v)}, "")
		c["deliver_policy"], c["opt_start_time"] = "by_start_time", a["message"].(map[string]any)["time"]
	}
	var filters []string
	for _, s := range o.subjects() {
		filters = append(filters, r.stream+"."+s)
	}
	if len(filters) == 1 {
		c["filter_subject"] = filters[0]
	} else if len(filters) > 1 {
		c["filter_subjects"] = filters
	}
	set("ack_policy", o.has("explicit"), "explicit")
	set("durable_name", o.has("durable"), o.word(0))
	set("deliver_subject", o.has("push"), "pushed."+r.stream)
	set("mem_storage", o.has("memory"), true)
	set("inactive_threshold", o.options["inactive"] != "", o.duration("inactive"))
	set("ack_wait", o.options["ackwait"] != "", o.duration("ackwait"))
	set("max_expires", o.options["maxexpires"] != "", o.duration("maxexpires"))
	for key, field := range map[string]string{"maxack": "max_ack_pending", "maxwaiting": "max_waiting", "maxbatch": "max_batch", "maxbytes": "max_bytes"} {
		set(field, o.options[key] != "", o.number(key, 0))
	}
	if d := o.duration("paused"); d > 0 {
		c["pause_until"] = time.Now().Add(d).UTC()
	}
	set("description", o.options["description"] != "", o.options["description"])
	set(or(o.options["unknown"], "-"), o.options["unknown"] != "", 1)
	if g := o.options["group"]; g != "" {
		c["priority_groups"], c["priority_policy"] = []string{g}, "overflow"
		set("priority_policy", o.has("pinned"), "pinned_client")
	}
	body := map[string]any{"stream_name": r.stream, "config": c}
	switch a := o.options["action"]; a {
	case "":
		body["action"] = "create"
	case "update":
		body["action"] = a
	}
	return body
}

// facts sends a request that is answered by a consumer's facts.
func (r *real) facts(o *order, subject string, body any, want string) string {
	a, text := r.api(subject, body, want)
	if text != "ok" {
		return text
	}
	data, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	var f struct {
		Delivered struct {
			Consumer uint64 `json:"consumer_seq"`
			Stream   uint64 `json:"stream_seq"`
		} `json:"delivered"`
		Floor struct {
			Stream uint64 `json:"stream_seq"`
		} `json:"ack_floor"`
		Pending     uint64 `json:"num_pending"`
		Waiting     int    `json:"num_waiting"`
		AckPending  int    `json:"num_ack_pending"`
		Redelivered int    `json:"num_redelivered"`
		Paused      bool   `json:"paused"`
		Config      struct {
			Inactive   time.Duration     `json:"inactive_threshold"`
			MaxWaiting int               `json:"max_waiting"`
			AckWait    time.Duration     `json:"ack_wait"`
			MaxAck     int               `json:"max_ack_pending"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"config"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		panic(err)
	}
	w := consumerWords{f.Delivered.Consumer, f.Delivered.Stream, f.Pending, f.Floor.Stream, f.Waiting, f.AckPending, f.Redelivered, f.Paused, ""}
	w.config = fmt.Sprintf("inactive=%v maxwaiting=%d ackwait=%v maxack=%d level=%s", f.Config.Inactive, f.Config.MaxWaiting, f.Config.AckWait,
		max(f.Config.MaxAck, 0), or(f.Config.Metadata["_nats.level"], "0"))
	return w.String(o)
}

// settled asks again until the answer is the one that is wanted: a server takes pulls
// and delivers on goroutines of its own.
func (r *real) settled(o *order, subject, want string) (got string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(patience / 4)
	defer end.Stop()
	for {
		if got = r.facts(o, subject, nil, want); got == want {
			return got
		}
		select {
		case <-tick.C:
		case <-end.C:
			return got
		}
	}
}

func (r *real) lapses(consumer string) string {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		if _, text := r.api("CONSUMER.INFO."+consumer, nil, ""); strings.Contains(text, "/10014 ") {
			return "gone"
		}
		select {
		case <-tick.C:
		case <-end.C:
			return "still there"
		}
	}
}
