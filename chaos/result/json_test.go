package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

func sample() Run {
	zone := time.FixedZone("east", 3600)
	at := func(s int) time.Time { return time.Date(2026, 1, 31, 12, 0, s, 0, zone) }
	return Run{
		Name: "deaf", Title: "Deaf after a power outage", Why: "it happened", Plan: "schema: x\n", Seed: 1<<64 - 1, Target: "exec:a b",
		Server: Server{Version: "2.15.3", Nodes: 3, Replicas: 3, Storage: "file"},
		Began:  at(0), Ended: at(60), Phases: []Phase{{"steady", at(0), at(5), ""}},
		Verdict: oracle.Verdict{
			Finding: oracle.Broken, Orphans: oracle.NotCounted, Lost: 2, LongestDeaf: time.Second,
			Recoveries: []oracle.Recovery{{Fault: "cut", From: at(5), To: at(6), Took: time.Second}},
			Violations: []oracle.Violation{{Kind: oracle.KindLost, Count: 2, Limit: "0", Text: "2 messages lost", Samples: []oracle.Sample{{ID: "w-1", Sequence: 1, Time: at(9)}}}},
			Limits:     oracle.Limits{Deaf: new(time.Second)}, Doubts: []string{"a fault could not act"},
		},
		Expected: oracle.Broken, Met: true, ExitCode: 0,
		Faults:   []Fault{{Text: "cut", Where: "wire", From: at(5), To: at(6), Target: "conn=1"}},
		Sessions: []oracle.Session{{Number: 1, Consumer: "c", From: at(0), To: at(60), Deaf: time.Second, Took: time.Millisecond}},
		Deaf:     []oracle.Span{{From: at(5), To: at(6), Cause: "gap"}}, Silences: []oracle.Span{{From: at(5), To: at(6), Open: true}},
		Series:      oracle.Series{From: at(0), Step: time.Second, Published: []float64{1.5}, Read: []float64{1}, Lag: []uint64{2}},
		APIRequests: map[string]uint64{"consumer_create": 1}, Notes: []Note{{at(1), "note"}},
		Events: []json.RawMessage{json.RawMessage(`{"schema":"nats-reader/event/v1","kind":"gap"}`)}, EventsDropped: 3,
	}
}

func TestRoundTrip(t *testing.T) {
	run := sample()
	var first, second bytes.Buffer
	if err := Encode(&first, run); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(first.String(), "+01:00") || !strings.Contains(first.String(), `"began": "2026-01-31T11:00:00Z"`) {
		t.Errorf("times are not in UTC: %s", first.String())
	}
	if run.Began.Location() == time.UTC || run.Faults[0].From.Location() == time.UTC {
		t.Error("the run that was given is another now")
	}
	back, err := Decode(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := Encode(&second, back); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("written again it is another: %v\n%s\n%s", err, first.String(), second.String())
	}
	want := inUTC(run)
	want.Schema = Schema
	back.Events[0] = json.RawMessage(bytes.Join(bytes.Fields(back.Events[0]), nil)) // indented in the document
	if !reflect.DeepEqual(back, want) {
		t.Errorf("got  %+v\nwant %+v", back, want)
	}
}

func TestSetRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := EncodeSet(&b, Set{Runs: []Run{sample(), sample()}}); err != nil {
		t.Fatal(err)
	}
	set, err := DecodeSet(bytes.NewReader(b.Bytes()))
	if err != nil || len(set.Runs) != 2 || set.Runs[1].Name != "deaf" {
		t.Errorf("%v: %+v", err, set)
	}
	b.Reset()
	if err := Encode(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if set, err = DecodeSet(&b); err != nil || len(set.Runs) != 1 || set.Schema != SetSchema {
		t.Errorf("one run alone: %v: %+v", err, set)
	}
}

func TestBadDocuments(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, sample()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for name, c := range map[string]struct {
		text, want string
		schema     bool
	}{
		"nothing":          {"", "EOF", false},
		"no JSON":          {"hello", "invalid character", false},
		"cut short":        {good[:len(good)/2], "unexpected EOF", false},
		"no schema":        {"{}", `unknown schema "": this version reads nats-reader/chaos-run/v1`, true},
		"another version":  {strings.Replace(good, "chaos-run/v1", "chaos-run/v2", 1), `unknown schema "nats-reader/chaos-run/v2"`, true},
		"an unknown field": {strings.Replace(good, `"target"`, `"tarjet"`, 1), "tarjet", false},
		"one in a verdict": {strings.Replace(good, `"lost_prefix"`, `"lost_prefiks"`, 1), "lost_prefiks", false},
		"one in a session": {strings.Replace(good, `"consumer"`, `"konsumer"`, 1), "konsumer", false},
		"two documents":    {good + good, "there is more behind the document", false},
		"a wrong type":     {strings.Replace(good, `"seed": 18446744073709551615`, `"seed": -1`, 1), "seed", false},
		"another document": {`{"schema":"nats-reader/event/v1","kind":"gap"}`, "unknown schema", true},
	} {
		_, err := Decode(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrSchema) != c.schema || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if _, err := DecodeSet(strings.NewReader(c.text)); err == nil {
			t.Errorf("%s is read as a set", name)
		}
	}
	set := `{"schema":"nats-reader/chaos-runs/v1","runs":[{"schema":"nats-reader/chaos-run/v9"}]}`
	if _, err := DecodeSet(strings.NewReader(set)); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "run 1") {
		t.Errorf("got %v", err)
	}
}
