package commands

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestPlainEvent(t *testing.T) {
	for _, test := range []struct {
		event reader.Event
		want  string
	}{
		{
			reader.Event{
				Kind: session.KindSessionReplaced, Session: 2, Cause: session.CauseConsumerDeleted, From: 1042,
				Took: 3 * time.Millisecond, Deaf: 4 * time.Millisecond, Consumer: "reader-Ab12-2",
			},
			"session 2 replaced session 1  cause=consumer_deleted took=3ms deaf=4ms from=1042 consumer=reader-Ab12-2",
		},
		{reader.Event{Kind: session.KindDisconnected}, "disconnected"},
		{
			reader.Event{Kind: session.KindReplaceFailed, Session: 1, Attempt: 2, Err: errors.New("dial nats://ann:secret@h: no")},
			`an attempt to replace session 1 failed  attempt=2 error="dial nats://xxxxx@h: no"`,
		},
		{reader.Event{Kind: session.KindReplaceFailed, Attempt: 1}, "an attempt to open failed  attempt=1"},
		{
			reader.Event{Kind: session.KindOrphanLeft, Code: 10014, Consumer: "reader-Ab12-3", Text: "more words of the same"},
			"a consumer whose create was not answered may still come into being: its delete is asked for again  code=10014 consumer=reader-Ab12-3",
		},
		{
			reader.Event{Kind: session.KindOrphanLeft, Consumer: "reader-Ab12-3", Text: "not deleted in time"},
			`a consumer of ours is left for now  consumer=reader-Ab12-3 text="not deleted in time"`,
		},
	} {
		if got := plainEvent(test.event); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestEveryKindHasItsSentence(t *testing.T) {
	seen := map[string]session.Kind{}
	for _, k := range session.Kinds() {
		text := sentence(reader.Event{Kind: k, Session: 2})
		if other, twice := seen[text]; twice || text == "" {
			t.Errorf("%s and %s read alike: %q", k, other, text)
		}
		seen[text] = k
		if _, fixed := sentences[k]; !fixed && text == string(k) {
			t.Errorf("%s has no sentence", k)
		}
	}
}

// The last line is what scripts read: its form is a contract.
func TestSummaryLine(t *testing.T) {
	v := oracle.Verdict{Finding: oracle.Held, Delivered: 2391, Sessions: 4, LongestDeaf: 4010 * time.Millisecond, APIRequests: 14}
	const want = "contract held  delivered=2391 lost=0 duplicated=0 out_of_order=0 sessions=4 longest_deaf=4.01s api_requests=14 orphans=0"
	if got := report.Summary(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for finding, code := range map[oracle.Finding]int{oracle.Held: 0, oracle.Broken: 2, oracle.Unknown: 3} {
		if got := exitOf(finding); got != code {
			t.Errorf("%s ends with %d, want %d", finding, got, code)
		}
	}
}

// A verdict ends the output, whatever an event that comes late has to say.
func TestVerdictIsTheLastLine(t *testing.T) {
	var out strings.Builder
	p := &printer{out: &out, gone: func() {}}
	p.note("first")
	p.summary(oracle.Verdict{Finding: oracle.Held}, false)
	p.event(reader.Event{Kind: session.KindClosed})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "contract held ") {
		t.Errorf("the last line is %q", last)
	}
}

// What the end waits for is told where it takes its time, and only there.
func TestTheEndTellsWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		c := &scene{lines: &printer{out: &out, gone: func() {}}}
		quick := c.tellWait("something quick")
		<-time.After(waitTold / 2)
		quick()
		slow := c.tellWait("the clean-up on the server", "consumers", "2")
		<-time.After(2 * waitTold)
		synctest.Wait()
		slow()
		if got := out.String(); strings.Contains(got, "quick") || !strings.HasSuffix(got, " the end waits for the clean-up on the server  consumers=2\n") {
			t.Errorf("got %q", got)
		}
	})
}
