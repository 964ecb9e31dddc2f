package session

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// What an event's JSON says is read back, and written again it is the same.
func TestEventIsReadBack(t *testing.T) {
	for _, e := range []Event{
		{Kind: KindClosed},
		{
			Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Kind: KindReplaceFailed, Session: 3, Cause: CauseGap, Consumer: "c", Inbox: "i.*",
			Sequence: 1 << 63, From: 1, To: 2, Count: 3, Attempt: 4, Wait: time.Second, Took: 2 * time.Millisecond, Deaf: time.Hour,
			Request: "consumer_info", Code: 10014, Err: errors.New("consumer not found (10014)"), Text: "words",
		},
	} {
		first, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		second, err := json.Marshal(back)
		if err != nil || string(first) != string(second) {
			t.Errorf("%v: got %s, want %s", err, second, first)
		}
		if !back.Time.Equal(e.Time) || back.Wait != e.Wait || back.Took != e.Took || back.Deaf != e.Deaf || back.Kind != e.Kind {
			t.Errorf("got %+v, want %+v", back, e)
		}
	}
	for text, want := range map[string]string{
		`{"schema":"nats-reader/event/v2"}`:                 "unknown schema",
		`{"schema":"nats-reader/event/v1","time":"now"}`:    "parsing time",
		`{"schema":"nats-reader/event/v1","session":"one"}`: "session",
	} {
		if err := json.Unmarshal([]byte(text), new(Event)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
