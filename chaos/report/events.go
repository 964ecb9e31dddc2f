package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/result"
)

// event is what a report shows of a reader's event.
type event struct {
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Session  int       `json:"session"`
	Cause    string    `json:"cause"`
	Request  string    `json:"request"`
	Sequence uint64    `json:"sequence"`
	From     uint64    `json:"from"`
	To       uint64    `json:"to"`
	Count    uint64    `json:"count"`
	Attempt  int       `json:"attempt"`
	Wait     string    `json:"wait"`
	Took     string    `json:"took"`
	Deaf     string    `json:"deaf"`
	Code     int       `json:"code"`
	Error    string    `json:"error"`
	Text     string    `json:"text"`
}

// eventsOf lists the events of the reader: the first and the last ones, where there are more than some.
func eventsOf(r result.Run, most int) table {
	t := table{Title: "Events", Head: []string{"time", "event", "session", "what"}, Right: []int{0, 2}}
	total := len(r.Events)
	for i, raw := range r.Events {
		if total > most && i >= most*2/3 && i < total-most/3 {
			continue
		}
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Rows = append(t.Rows, []string{"", "", "", "an event that cannot be read: " + Clean(err.Error())})
			continue
		}
		session := ""
		if e.Session > 0 {
			session = strconv.Itoa(e.Session)
		}
		t.Rows = append(t.Rows, []string{offset(r, e.Time), Clean(strings.ReplaceAll(e.Kind, "_", " ")), session, Clean(e.facts())})
	}
	var left []string
	if n := total - len(t.Rows); n > 0 {
		left = append(left, fmt.Sprintf("%s left out in the middle: the JSON report has them all", plural(n, "event")))
	}
	if r.EventsDropped > 0 {
		left = append(left, fmt.Sprintf("%d beyond the first %d were not kept", r.EventsDropped, total))
	}
	t.Left = strings.Join(left, "; ")
	return t
}

// facts are the fields that are set, as key=value.
func (e event) facts() string {
	var all []string
	add := func(key, value string) {
		if value != "" && value != "0" {
			all = append(all, key+"="+value)
		}
	}
	number := func(key string, n uint64) { add(key, strconv.FormatUint(n, 10)) }
	add("cause", e.Cause)
	add("request", e.Request)
	add("attempt", strconv.Itoa(e.Attempt))
	add("took", e.Took)
	add("deaf", e.Deaf)
	add("wait", e.Wait)
	number("sequence", e.Sequence)
	number("from", e.From)
	number("to", e.To)
	number("count", e.Count)
	add("code", strconv.Itoa(e.Code))
	if e.Error != "" {
		add("error", strconv.Quote(e.Error))
	}
	if e.Text != "" {
		add("text", strconv.Quote(e.Text))
	}
	return strings.Join(all, " ")
}
