package oracle

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestJSONRoundTrip(t *testing.T) {
	rules := limits(func(l *Limits) { l.Deaf, l.Sessions = new(5*time.Second), new(uint64(3)) })
	s := newStory(rules).steady(20, 5, 20).fault("cut", 100*ms, 110*ms, 0)
	s.event(session.KindSessionOpened, 1, 0, 0).event(session.KindSessionReplaced, 2, 30*time.Second, 6*time.Second)
	for _, orphans := range []int{0, 4, NotCounted} {
		s.end.Orphans = orphans
		v := s.Judge(s.end)
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back Verdict
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(v, back) {
			t.Errorf("got  %+v\nwant %+v", back, v)
		}
		for _, want := range []string{`"longest_deaf":"6s"`, `"longest_deaf_ns":6000000000`, `"deaf":"5s"`, `"deaf_ns":5000000000`, `"took":"`} {
			if !strings.Contains(string(b), want) {
				t.Errorf("no %s in %s", want, b)
			}
		}
		if null := strings.Contains(string(b), `"orphans":null`); null != (orphans == NotCounted) {
			t.Errorf("orphans %d: null %v", orphans, null)
		}
	}
	seen := s.Observe(s.end)
	b, err := json.Marshal(seen)
	var back Observed
	if err != nil || json.Unmarshal(b, &back) != nil || !reflect.DeepEqual(seen, back) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, back, seen)
	}
}

func TestJSONIsStrict(t *testing.T) {
	for _, into := range []any{new(Verdict), new(Limits), new(Recovery), new(Session), new(Series)} {
		if err := json.Unmarshal([]byte(`{"typo":1}`), into); err == nil || !strings.Contains(err.Error(), "typo") {
			t.Errorf("%T: %v", into, err)
		}
	}
}
