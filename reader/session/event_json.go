package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// eventJSON is the form of an Event in every JSON output: snake_case, durations
// as Go strings beside their nanoseconds.
type eventJSON struct {
	Schema   string `json:"schema"`
	Time     string `json:"time,omitempty"`
	Kind     Kind   `json:"kind"`
	Session  int    `json:"session,omitempty"`
	Cause    Cause  `json:"cause,omitempty"`
	Consumer string `json:"consumer,omitempty"`
	Inbox    string `json:"inbox,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"`
	From     uint64 `json:"from,omitempty"`
	To       uint64 `json:"to,omitempty"`
	Count    uint64 `json:"count,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Wait     string `json:"wait,omitempty"`
	WaitNS   int64  `json:"wait_ns,omitempty"`
	Took     string `json:"took,omitempty"`
	TookNS   int64  `json:"took_ns,omitempty"`
	Deaf     string `json:"deaf,omitempty"`
	DeafNS   int64  `json:"deaf_ns,omitempty"`
	Request  string `json:"request,omitempty"`
	Code     int    `json:"code,omitempty"`
	Error    string `json:"error,omitempty"`
	Text     string `json:"text,omitempty"`
}

// EventSchema is the schema field of an event's JSON.
const EventSchema = "nats-reader/event/v1"

// MarshalJSON gives the event's stable JSON form.
func (e Event) MarshalJSON() ([]byte, error) {
	j := eventJSON{
		Schema: EventSchema, Kind: e.Kind, Session: e.Session, Cause: e.Cause, Consumer: e.Consumer, Inbox: e.Inbox,
		Sequence: e.Sequence, From: e.From, To: e.To, Count: e.Count, Attempt: e.Attempt,
		Wait: durationText(e.Wait), WaitNS: int64(e.Wait), Took: durationText(e.Took), TookNS: int64(e.Took),
		Deaf: durationText(e.Deaf), DeafNS: int64(e.Deaf), Request: e.Request, Code: e.Code, Text: e.Text,
	}
	if !e.Time.IsZero() {
		j.Time = e.Time.UTC().Format(time.RFC3339Nano)
	}
	if e.Err != nil {
		j.Error = e.Err.Error()
	}
	return json.Marshal(j)
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// UnmarshalJSON reads what MarshalJSON writes. Err is then a text alone: errors.Is finds nothing in it.
func (e *Event) UnmarshalJSON(b []byte) error {
	var j eventJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Schema != EventSchema {
		return fmt.Errorf("unknown schema %q: this version reads %s", j.Schema, EventSchema)
	}
	*e = Event{
		Kind: j.Kind, Session: j.Session, Cause: j.Cause, Consumer: j.Consumer, Inbox: j.Inbox, Sequence: j.Sequence, From: j.From, To: j.To,
		Count: j.Count, Attempt: j.Attempt, Wait: time.Duration(j.WaitNS), Took: time.Duration(j.TookNS), Deaf: time.Duration(j.DeafNS),
		Request: j.Request, Code: j.Code, Text: j.Text,
	}
	if j.Error != "" {
		e.Err = errors.New(j.Error)
	}
	if j.Time == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, j.Time)
	e.Time = at
	return err
}
