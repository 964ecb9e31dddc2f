package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestEveryWordIsExplained(t *testing.T) {
	want := map[topic][]string{
		topicFault:  chaos.FaultNames(),
		topicStatus: {"100", "400", "404", "408", "409", "412", "423", "503"},
		topicCode: {
			"10003", "10008", "10012", "10014", "10023", "10025", "10026", "10027", "10039", "10056", "10059", "10084",
			"10094", "10101", "10131", "10148", "10149", "10204",
		},
	}
	for _, k := range session.Kinds() {
		want[topicEvent] = append(want[topicEvent], string(k))
	}
	for _, c := range session.Causes() {
		want[topicCause] = append(want[topicCause], string(c))
	}
	for _, s := range []reader.State{
		reader.StateOpening, reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks,
		reader.StateBufferFull, reader.StateRecovering, reader.StateDisconnected, reader.StateClosed,
	} {
		want[topicState] = append(want[topicState], string(s))
	}
	for topic, words := range want {
		for _, w := range words {
			found := false
			for _, e := range lookUp(entries(), w) {
				found = found || e.Topic == topic && e.Word == w
			}
			if !found {
				t.Errorf("no entry for the %s %s", topic, w)
			}
		}
	}
}

func TestEntriesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries() {
		if e.Means == "" || e.Reader == "" || e.Do == "" {
			t.Errorf("%s %s %q lacks a part: %+v", e.Topic, e.Word, e.Text, e)
		}
		key := string(e.Topic) + e.Word + e.Text
		if seen[key] {
			t.Errorf("%s %s %q is there twice", e.Topic, e.Word, e.Text)
		}
		seen[key] = true
	}
}

func TestLookUp(t *testing.T) {
	for word, want := range map[string]string{
		"409 consumer deleted":                    "Consumer Deleted",
		"Consumer Deleted":                        "Consumer Deleted",
		"no messages":                             "No Messages",
		"Exceeded MaxRequestBatch of 10":          "Exceeded MaxRequestBatch",
		"Bad Request - heartbeat value too large": "Bad Request",
		"stream not found":                        "stream not found",
	} {
		found := lookUp(entries(), word)
		if len(found) == 0 || found[0].Text != want {
			t.Errorf("%q found %+v, want %q", word, found, want)
		}
	}
	if found := lookUp(entries(), "409"); len(found) < 8 {
		t.Errorf("409 found %d entries, want all its texts", len(found))
	}
	if found := lookUp(entries(), "session-replaced"); len(found) != 1 {
		t.Errorf("a dash must do for an underscore, found %+v", found)
	}
}

func TestExplainCommand(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := Main(t.Context(), []string{"explain", "kill-servr"}, nil, &stdout, &stderr, ""); code != exitCannotJudge {
		t.Errorf("an unknown word ends with %d", code)
	}
	if !strings.Contains(stderr.String(), "did you mean kill-server?") {
		t.Errorf("no suggestion: %s", stderr.String())
	}
	if code := Main(t.Context(), []string{"explain", "--json"}, nil, &stdout, &stderr, ""); code != exitGood {
		t.Errorf("explain --json ends with %d: %s", code, stderr.String())
	}
	var doc struct {
		Schema  string
		Entries []entry
	}
	if err := json.Unmarshal([]byte(stdout.String()), &doc); err != nil || doc.Schema != explainSchema || len(doc.Entries) != len(entries()) {
		t.Errorf("schema %q, %d entries, %v", doc.Schema, len(doc.Entries), err)
	}
}
