package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

const ms = time.Millisecond

// What a fault took is no loss of the reader's, and only what it can have taken.
func TestDestroyed(t *testing.T) {
	base := func() *story { return newStory(Rules{Measure: ByIDs}).published(9) } // 10 ms apart, the last at 90 ms
	for _, test := range []struct {
		name       string
		story      *story
		told, lost uint64
	}{
		{"purged behind the cursor", base().read(1, 2, 3).fault("purge-stream", 100*ms, 101*ms, 3), 6, 0},
		{"where the cursor is not known", base().read(1, 2, 3).fault("purge-stream", 100*ms, 101*ms, 0), 6, 0},
		{"passed over before it", base().read(1, 3, 4).fault("purge-stream", 100*ms, 101*ms, 0), 5, 1},
		{"accepted before it", base().read(1, 2, 3).fault("purge-stream", 100*ms, 101*ms, 5), 4, 2},
		{"published behind it", base().read(1, 2, 3).fault("purge-stream", 35*ms, 36*ms, 3), 0, 6},
		{"a fault that destroys nothing", base().read(1, 2, 3).fault("cut", 100*ms, 101*ms, 3), 0, 6},
		{"it lasts", func() *story {
			s := base().read(1, 2, 3).fault("recreate-stream", 35*ms, 0, 3)
			s.end.Periods[0].To = time.Time{}
			return s
		}(), 6, 0},
		{"two of them", base().read(1, 2, 5, 6).fault("purge-stream", 45*ms, 46*ms, 2).fault("purge-stream", 100*ms, 101*ms, 6), 5, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.story.Judge(test.story.end)
			if v.Told != test.told || v.Lost != test.lost || (v.Finding == Held) != (test.lost == 0) {
				t.Errorf("got told %d, lost %d, %s", v.Told, v.Lost, v.Finding)
			}
		})
	}
}

// A killed server may come back without what it acknowledged last; a sequence that it gives again proves it.
func TestTakenBack(t *testing.T) {
	tell := func(fault string) *story {
		s := newStory(Rules{Measure: ByIDs}).published(5).read(1, 2, 3) // 4 and 5 are stored, and not read
		if fault != "" {
			s.fault(fault, 60*ms, 80*ms, 0)
			s.end.Periods[0].SetsBack = fault == "kill-server"
		}
		s.write("w", 6, 4, 100*ms).write("w", 7, 5, 110*ms)
		return s.readAt(6, 4, 105*ms).readAt(7, 5, 115*ms)
	}
	for _, test := range []struct {
		fault      string
		finding    Finding
		told, lost uint64
	}{
		{"kill-server", Held, 2, 0},
		{"cut", Unknown, 2, 0},
		{"", Unknown, 2, 0},
	} {
		s := tell(test.fault)
		if v := s.Judge(s.end); v.Finding != test.finding || v.Told != test.told || v.Lost != test.lost {
			t.Errorf("%q: got %s, told %d, lost %d, %q", test.fault, v.Finding, v.Told, v.Lost, v.Reasons())
		}
	}
	s := tell("kill-server")
	if v := s.Judge(s.end); v.OutOfOrder != 0 {
		t.Errorf("sequences that go back are no disorder: %q", v.Reasons())
	}
	// One that was passed over before the kill was lost before.
	s = newStory(Rules{Measure: ByIDs}).published(5).read(1, 2, 5).fault("kill-server", 60*ms, 80*ms, 0)
	s.end.Periods[0].SetsBack = true
	s.write("w", 6, 3, 100*ms).readAt(6, 3, 105*ms)
	if v := s.Judge(s.end); v.Lost != 2 {
		t.Errorf("3 and 4 were passed over: got lost %d", v.Lost)
	}
	// Acknowledgements of several writers that overtake each other prove nothing.
	s = newStory(Rules{Measure: ByIDs})
	s.Attempted("a-1", at(0))
	s.Attempted("b-1", at(0))
	s.Acknowledged("b-1", 2, at(ms))
	s.Acknowledged("a-1", 1, at(2*ms))
	if v := s.Judge(s.end); v.Lost != 2 || v.Told != 0 {
		t.Errorf("got lost %d, told %d", v.Lost, v.Told)
	}
}

func TestToldCoversWhatWasPublishedBefore(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(9).read(1, 9)
	s.Event(reader.Event{Kind: session.KindMissed, Time: at(85 * ms), From: 2, To: 4})
	s.Event(reader.Event{Kind: session.KindSkipped, Time: at(85 * ms), From: 3, To: 6})
	s.Event(reader.Event{Kind: session.KindMissed, Time: at(75 * ms), From: 8, To: 8}) // published at 80 ms: another one
	v := s.Judge(s.end)
	if v.Told != 5 || v.Lost != 2 {
		t.Errorf("got told %d, lost %d", v.Told, v.Lost)
	}
	var ids []string
	for _, x := range v.Violations[0].Samples {
		ids = append(ids, x.ID)
	}
	if got := strings.Join(ids, " "); got != "w-7 w-8" {
		t.Errorf("lost %s", got)
	}
}
