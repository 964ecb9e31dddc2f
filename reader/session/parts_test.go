package session

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestPauseGrowsToItsMaximum(t *testing.T) {
	p := Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, Jitter: 0.2}
	for i, want := range []time.Duration{0, 200, 400, 800, 1600, 2000, 2000} {
		if got := p.Pause(i, 0.5); got != want*time.Millisecond {
			t.Errorf("pause %d is %v, want %v", i, got, want*time.Millisecond)
		}
	}
	if low, high := p.Pause(1, 0), p.Pause(1, 1); low != 160*time.Millisecond || high != 240*time.Millisecond {
		t.Errorf("jitter varies the first pause from %v to %v, want 160ms to 240ms", low, high)
	}
	p.Jitter = 0
	if got := p.Pause(1<<30, 0.9); got != p.Max {
		t.Errorf("a late pause is %v, want %v", got, p.Max)
	}
}

func TestProofWaitDoubles(t *testing.T) {
	for i, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		if got := proofWaitAfter(i); got != want*time.Second {
			t.Errorf("after %d failures the wait is %v, want %v", i, got, want*time.Second)
		}
	}
}

func TestPaceKeepsAnUnhealthySessionSlow(t *testing.T) {
	policy := Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2}
	var p pace
	for i, want := range []time.Duration{200, 400, 800, 1600, 2000} {
		if got := p.first(policy, 100*time.Millisecond, 0.5); got != want*time.Millisecond {
			t.Errorf("death %d: pause %v, want %v", i+1, got, want*time.Millisecond)
		}
	}
	if got := p.first(policy, 2*time.Second, 0.5); got != 2*time.Second {
		t.Errorf("healthy as long as the last pause: pause %v, want 2s", got)
	}
	if got := p.first(policy, 2001*time.Millisecond, 0.5); got != 0 {
		t.Errorf("healthy longer than the last pause: pause %v, want none", got)
	}
	if got := p.next(policy, 0.5); got != 200*time.Millisecond {
		t.Errorf("after a healthy session the first failure pauses %v, want 200ms", got)
	}
}

// TestStatusTable holds every code and text that servers were seen to send to a
// pull (SERVER-ANSWERS 2a to 2q).
func TestStatusTable(t *testing.T) {
	for _, c := range []struct {
		code   int
		text   string
		inUse  reaction
		proves bool
	}{
		{100, "Idle Heartbeat", stays, true},
		{404, "No Messages", again, true},
		{408, "Request Timeout", again, true},
		{408, "Requests Pending", again, true},
		{408, "Interest Expired", soon, true},
		{409, "Batch Completed", again, true},
		{409, "Message Size Exceeds MaxBytes", room, true},
		{409, "Consumer Deleted", gone, false},
		{409, "Leadership Change", soon, false},
		{409, "Server Shutdown", soon, false},
		{409, "Exceeded MaxRequestBatch of 10", limited, false},
		{409, "Exceeded MaxRequestExpires of 5s", limited, false},
		{409, "Exceeded MaxRequestMaxBytes of 1000", limited, false},
		{409, "Exceeded MaxWaiting", refused, false},
		{409, "Consumer is push based", refused, false},
		{409, "", refused, false},
		{400, "Bad Request - heartbeat value too large", refused, false},
		{400, "Bad Request - unexpected end of JSON input", refused, false},
		{400, "Bad Request - Priority Group missing", refused, false},
		{412, "Required Api Level", refused, false},
		{423, "Nats-Wrong-Pin-Id", refused, false},
		{503, "", asks, false},
		{500, "anything", refused, false},
		{409, "consumer deleted", gone, false}, // other case, same meaning
	} {
		r := ruleFor(c.code, c.text)
		if r.inUse != c.inUse || r.proves != c.proves || r.meaning == "" {
			t.Errorf("%d %q: reaction %d proves %v meaning %q, want %d %v", c.code, c.text, r.inUse, r.proves, r.meaning, c.inUse, c.proves)
		}
	}
}

func TestNamedReadsTheLimit(t *testing.T) {
	for _, c := range []struct {
		text string
		want Limits
		ok   bool
	}{
		{"Exceeded MaxRequestBatch of 10", Limits{Batch: 10}, true},
		{"Exceeded MaxRequestMaxBytes of 1000", Limits{Bytes: 1000}, true},
		{"Exceeded MaxRequestExpires of 5s", Limits{Expires: 5 * time.Second}, true},
		{"Exceeded MaxRequestExpires of 1m30s", Limits{Expires: 90 * time.Second}, true},
		{"Exceeded MaxRequestBatch of 0", Limits{}, false},
		{"Exceeded MaxRequestBatch of -1", Limits{Batch: -1}, false},
		{"Exceeded MaxRequestBatch of ten", Limits{}, false},
		{"Exceeded MaxRequestBatch", Limits{}, false},
		{"Exceeded MaxWaiting", Limits{}, false},
		{"Something of 10", Limits{}, false},
	} {
		if got, ok := named(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v %v, want %+v %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestObeyTakesTheTighterLimit(t *testing.T) {
	l := Limits{Batch: 100, Expires: time.Second}
	l.obey(Limits{Batch: 500, Bytes: 10})
	l.obey(Limits{Batch: 50, Expires: time.Minute, Bytes: 20})
	if want := (Limits{Batch: 50, Expires: time.Second, Bytes: 10}); l != want {
		t.Errorf("limits %+v, want %+v", l, want)
	}
}

func TestJudge(t *testing.T) {
	at := Cursor{Sequence: 100, Time: 1000}
	for _, c := range []struct {
		what    string
		cursor  Cursor
		created int64
		now     StreamFacts
		seen    int64
		want    identity
	}{
		{"same", at, 1, StreamFacts{Created: 1, Last: 100}, 0, sameStream},
		{"same, the message seen", at, 1, StreamFacts{Created: 1, Last: 200}, 1000, sameStream},
		{"tail lost", at, 1, StreamFacts{Created: 1, Last: 99}, 0, rolledBack},
		{"another message at the cursor", at, 1, StreamFacts{Created: 1, Last: 200}, 1001, rolledBack},
		{"nothing was read at the cursor", Cursor{Sequence: 100}, 1, StreamFacts{Created: 1, Last: 200}, 1001, sameStream},
		{"re-created lower", at, 1, StreamFacts{Created: 2, Last: 5}, 0, recreated},
		{"re-created beyond", at, 1, StreamFacts{Created: 2, Last: 500}, 0, recreated},
		{"a mirror made again", at, 1, StreamFacts{Created: 2, Last: 5, Mirror: true}, 0, resyncing},
		{"created unknown", at, 0, StreamFacts{Created: 2, Last: 100}, 0, sameStream},
		{"created unknown, tail lost", at, 0, StreamFacts{Created: 2, Last: 9}, 0, rolledBack},
	} {
		if got := c.cursor.judge(c.created, c.cursor.Sequence, c.now, c.seen); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

func TestPassed(t *testing.T) {
	c := Cursor{Sequence: 10}
	for next, want := range map[uint64]span{9: {}, 10: {}, 11: {}, 12: {11, 11}, 20: {11, 19}} {
		got, ok := c.passed(next)
		if got != want || ok != (want != span{}) {
			t.Errorf("next %d: %v %v, want %v", next, got, ok, want)
		}
	}
	if c.overlap() != 10 || (Cursor{}).overlap() != 1 {
		t.Error("a replacement starts at the cursor, and at 1 where there is none")
	}
}

func TestNatureOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want nature
	}{
		{&APIError{404, 10059, "stream not found"}, streamMissing},
		{&APIError{404, 10014, "consumer not found"}, temporary},
		{&APIError{400, 10026, "maximum consumers limit reached"}, noSlot},
		{&APIError{400, 10148, "consumer already exists"}, nameTaken},
		{&APIError{503, 10039, "JetStream not enabled for account"}, noJetStream},
		{&APIError{503, 10076, "JetStream not enabled"}, noJetStream},
		{&APIError{503, 10008, "JetStream system temporarily unavailable"}, temporary},
		{&APIError{503, 10023, "insufficient resources"}, temporary},
		{&APIError{400, 10005, "no suitable peers for placement"}, temporary},
		{&APIError{400, 10002, "resource limits exceeded for account"}, temporary},
		{&APIError{400, 10101, "consumer must be deliver all on workqueue stream"}, misfit},
		{&APIError{500, 10012, "start sequence can not be updated"}, temporary},
		{ErrNoAnswer, temporary},
		{ErrNoResponders, temporary},
		{&deniedError{subject: "a"}, denied},
		{fmt.Errorf("look: %w", &APIError{404, 10059, "stream not found"}), streamMissing},
	} {
		if got := natureOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestMarkedKeepsTheServersWords(t *testing.T) {
	err := marked(&APIError{404, 10059, "stream not found"})
	if !errors.Is(err, ErrStreamNotFound) || codeOf(err) != 10059 || err.Error() != "stream not found (404/10059)" {
		t.Errorf("%v", err)
	}
	err = marked(marked(&APIError{400, 10026, "maximum consumers limit reached"}))
	if !errors.Is(err, ErrConsumerLimit) || err.Error() != "consumer limit reached: maximum consumers limit reached (400/10026)" {
		t.Errorf("%v", err)
	}
}

func TestEventAndCauseListsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		seen[string(k)] = true
	}
	for _, c := range Causes() {
		seen[string(c)] = true
	}
	if len(seen) < len(Kinds()) || seen[""] {
		t.Error("an event kind is empty or listed twice")
	}
}
