package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// write tells one id of a writer, stored under a sequence.
func (s *story) write(writer string, n, sequence uint64, when time.Duration) *story {
	s.Attempted(ID(writer, n), at(when))
	s.Acknowledged(ID(writer, n), sequence, at(when+time.Millisecond))
	return s
}

// hand tells one message of a writer that was read.
func (s *story) hand(writer string, n, sequence uint64, when time.Duration) *story {
	s.Read(Delivery{ID: ID(writer, n), Sequence: sequence, Time: at(when)})
	return s
}

// steady publishes and reads n messages, one each 10 ms, but for those left out.
func (s *story) steady(n uint64, without ...uint64) *story {
	s.published(n)
	for i := uint64(1); i <= n; i++ {
		if !slices.Contains(without, i) {
			s.read(i)
		}
	}
	s.end.Time = at(time.Duration(n)*10*time.Millisecond + 50*time.Millisecond)
	return s
}

func limits(change func(*Limits)) Rules {
	r := Rules{Measure: ByIDs}
	change(&r.Limits)
	return r
}

// Every kind of violation, and one short of each.
func TestEachKindOfViolation(t *testing.T) {
	request := func(n int, each time.Duration) func(*story) {
		return func(s *story) {
			for i := range n {
				s.Request("consumer_create", at(time.Duration(i)*each))
			}
		}
	}
	two := limits(func(l *Limits) {
		l.Lost, l.Duplicated, l.OutOfOrder, l.Unexpected, l.Orphans = new(uint64(2)), new(uint64(2)), new(uint64(2)), new(uint64(2)), new(uint64(2))
	})
	repeat := func(n int) func(*story) {
		return func(s *story) {
			for range n {
				s.read(20)
			}
		}
	}
	strange := func(n int) func(*story) {
		return func(s *story) {
			for i := range n {
				s.Read(Delivery{ID: fmt.Sprintf("garbage %d", i), Time: at(time.Second)})
			}
		}
	}
	disorder := func(n uint64) func(*story) {
		return func(s *story) { // 21..24 are published and read behind 25
			for i := uint64(21); i <= 25; i++ {
				s.write("w", i, i, 210*time.Millisecond)
			}
			order := []uint64{25, 24, 23, 22, 21}[:n+1]
			for i := uint64(21); i <= 25; i++ {
				if !slices.Contains(order, i) {
					s.readAt(i, i, 215*time.Millisecond)
				}
			}
			for _, i := range order {
				s.readAt(i, i, 220*time.Millisecond)
			}
		}
	}
	silent := func(wait time.Duration) func(*story) {
		return func(s *story) {
			s.write("w", 21, 21, time.Second)
			s.readAt(21, 21, time.Second+time.Millisecond+wait)
			s.end.Time = at(time.Minute)
		}
	}
	deaf := func(lasted time.Duration) func(*story) {
		return func(s *story) {
			s.event(session.KindSessionOpened, 1, 0, 0).event(session.KindSessionReplaced, 2, 30*time.Second, lasted)
		}
	}
	recovery := func(after time.Duration) func(*story) {
		return func(s *story) {
			s.fault("drop-subscription", 300*time.Millisecond, 300*time.Millisecond, 0)
			s.write("w", 21, 21, 301*time.Millisecond)
			s.readAt(21, 21, 300*time.Millisecond+after)
		}
	}
	const s5 = 5 * time.Second
	for _, test := range []struct {
		kind    Kind
		rules   Rules
		short   func(*story) // what is allowed
		beyond  func(*story)
		text    string
		samples int
	}{
		{KindLost, two, func(s *story) { s.lose(2) }, func(s *story) { s.lose(3) }, "3 messages lost, allowed 2", 3},
		{KindDuplicated, two, repeat(2), repeat(3), "3 messages delivered twice, allowed 2", 3},
		{KindOutOfOrder, two, disorder(2), disorder(3), "3 messages out of order, allowed 2", 3},
		{KindUnexpected, two, strange(2), strange(3), "3 messages read but never published, allowed 2", 3},
		{KindOrphans, two, func(s *story) { s.end.Orphans = 2 }, func(s *story) { s.end.Orphans = 3 }, "3 consumers of its own left on the server, allowed 2", 0},
		{KindDeaf, Rules{Measure: ByIDs}, deaf(limit), deaf(limit + time.Millisecond), "deaf for 12.001s after answers_lost, allowed 12s", 1},
		{KindDeaf, limits(func(l *Limits) { l.Deaf = new(s5) }), deaf(s5), deaf(s5 + time.Millisecond), "deaf for 5.001s after answers_lost, allowed 5s", 1},
		{KindSilence, Rules{Measure: ByIDs}, silent(limit), silent(limit + time.Millisecond), "stored messages waited 12.001s and none was handed out, allowed 12s", 1},
		{KindSilence, limits(func(l *Limits) { l.Silence = new(s5) }), silent(s5), silent(s5 + time.Millisecond), "waited 5.001s", 1},
		{KindRecovery, limits(func(l *Limits) { l.Recovery = new(s5) }), recovery(s5), recovery(s5 + time.Millisecond), "read again 5.001s after the end of fault drop-subscription, allowed 5s", 1},
		{KindEnded, Rules{Measure: ByIDs, NeverEnds: true}, func(*story) {}, func(s *story) { s.end.Err = errors.New("consumer deleted") }, "the target ended by itself: consumer deleted", 1},
		{KindSessions, limits(func(l *Limits) { l.Sessions = new(uint64(2)) }), func(s *story) { s.event(session.KindSessionOpened, 2, 0, 0) }, func(s *story) { s.event(session.KindSessionOpened, 3, 0, 0) }, "3 sessions, allowed 2", 0},
		{KindAPIRequests, limits(func(l *Limits) { l.APIRequests = new(uint64(4)) }), request(4, 0), request(5, 0), "5 API requests, allowed 4", 0},
		{KindAPIRequestsPerMinute, limits(func(l *Limits) { l.APIRequestsPerMinute = new(uint64(4)) }), request(100, 15*time.Second), request(100, 14*time.Second), "5 API requests in one minute, allowed 4", 0},
		{KindConsumers, limits(func(l *Limits) { l.Consumers = new(uint64(3)) }), func(s *story) { s.Consumers(3) }, func(s *story) { s.Consumers(4) }, "4 consumers at one time, allowed 3", 0},
		{KindWireBytes, limits(func(l *Limits) { l.WireBytes = new(uint64(10)) }), func(s *story) { s.end.WireBytes = 10 }, func(s *story) { s.end.WireBytes = 11 }, "11 bytes on the wire, allowed 10", 0},
	} {
		t.Run(string(test.kind)+" "+test.text, func(t *testing.T) {
			held := newStory(test.rules).steady(20)
			test.short(held)
			if v := held.Judge(held.end); v.Finding != Held || len(v.Violations) > 0 {
				t.Errorf("one short of it: %s, %q", v.Finding, v.Reasons())
			}
			broken := newStory(test.rules).steady(20)
			test.beyond(broken)
			v := broken.Judge(broken.end)
			if v.Finding != Broken || len(v.Violations) != 1 || v.Violations[0].Kind != test.kind {
				t.Fatalf("got %s, %+v, want one violation: %s", v.Finding, v.Violations, test.kind)
			}
			if x := v.Violations[0]; !strings.Contains(x.Text, test.text) || len(x.Samples) != test.samples {
				t.Errorf("got %q with %d samples, want %q with %d", x.Text, len(x.Samples), test.text, test.samples)
			}
		})
	}
	covered := []Kind{KindLost, KindDuplicated, KindOutOfOrder, KindUnexpected, KindDeaf, KindSilence, KindRecovery, KindEnded, KindSessions, KindAPIRequests, KindAPIRequestsPerMinute, KindOrphans, KindConsumers, KindWireBytes}
	if !slices.Equal(covered, Kinds()) {
		t.Errorf("the kinds are %v", Kinds())
	}
}

// lose publishes n more that are never read, with one behind them that is.
func (s *story) lose(n uint64) {
	for i := range n + 1 {
		s.write("w", 21+i, 21+i, 210*time.Millisecond)
	}
	s.readAt(21+n, 21+n, 215*time.Millisecond)
}

func TestWhereMessagesAreLost(t *testing.T) {
	for _, test := range []struct {
		name                    string
		without                 []uint64
		prefix, middle, postfix uint64
		text                    string
	}{
		{name: "none"},
		{name: "prefix", without: []uint64{1, 2}, prefix: 2, text: "prefix: w-3 was the first that was read"},
		{name: "middle", without: []uint64{4, 6}, middle: 2, text: "middle: a message behind it was read at 12:00:00.052"},
		{name: "postfix", without: []uint64{9, 10}, postfix: 2, text: "postfix: w-8 was the last that was read"},
		{name: "each", without: []uint64{1, 5, 10}, prefix: 1, middle: 1, postfix: 1, text: "prefix"},
		{name: "all", without: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, postfix: 10, text: "postfix: nothing of w was read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStory(Rules{Measure: ByIDs}).steady(10, test.without...)
			v := s.Judge(s.end)
			if v.LostPrefix != test.prefix || v.LostMiddle != test.middle || v.LostPostfix != test.postfix || v.Lost != uint64(len(test.without)) {
				t.Errorf("got prefix %d, middle %d, postfix %d of %d", v.LostPrefix, v.LostMiddle, v.LostPostfix, v.Lost)
			}
			if test.text == "" {
				return
			}
			first := v.Violations[0].Samples[0]
			if !strings.Contains(first.Text, test.text) || first.ID != ID("w", test.without[0]) || first.Sequence != test.without[0] || first.Time.IsZero() {
				t.Errorf("sample %+v, want %q", first, test.text)
			}
		})
	}
}

func TestSamplesAreBounded(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(200).read(200)
	for range 100 {
		s.read(200)
		s.Read(Delivery{ID: strings.Repeat("x", 1000), Time: at(time.Second)})
	}
	for _, x := range s.Judge(s.end).Violations {
		if x.Kind != KindSilence && x.Count > MaxSamples && len(x.Samples) != MaxSamples {
			t.Errorf("%s: %d samples of %d", x.Kind, len(x.Samples), x.Count)
		}
		for _, sample := range x.Samples {
			if len(sample.ID)+len(sample.Text) > 200 {
				t.Errorf("a sample of %d bytes", len(sample.Text))
			}
		}
	}
}

// What was attempted and not acknowledged may be stored or not.
func TestUnknownIsNoViolation(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).steady(5)
	s.Attempted("w-6", at(60*time.Millisecond))
	s.Attempted("w-7", at(60*time.Millisecond))
	s.readAt(7, 7, 65*time.Millisecond)
	v := s.Judge(s.end)
	if v.Finding != Held || v.Unknown != 1 || v.UnknownRead != 1 || v.Attempted != 7 || v.Acknowledged != 5 {
		t.Errorf("got %+v", v)
	}
	s.Acknowledged("w-7", 7, at(time.Second)) // its answer came late
	if v := s.Judge(s.end); v.UnknownRead != 0 || v.Acknowledged != 6 || v.LongestSilence != 0 {
		t.Errorf("got %+v", v)
	}
}

func TestAtLeastOnce(t *testing.T) {
	rules := Rules{Measure: ByIDs, AtLeastOnce: true}
	s := newStory(rules).steady(10, 4).read(3).readAt(4, 4, 150*time.Millisecond)
	v := s.Judge(s.end)
	if v.Finding != Held || v.Redelivered != 2 || v.Duplicated+v.OutOfOrder != 0 {
		t.Errorf("redelivery is allowed: got %+v", v)
	}
	if s = newStory(rules).steady(10, 4); s.Judge(s.end).Lost != 1 {
		t.Error("a loss is none of it")
	}
	rules.Limits.Duplicated = new(uint64)
	s = newStory(rules).steady(10).read(3)
	if v := s.Judge(s.end); v.Finding != Broken || v.Duplicated != 1 || v.Redelivered != 0 {
		t.Errorf("a limit that is given is judged: got %+v", v)
	}
}

func TestBlindTargetHasNoSessions(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs, Blind: true, Limits: Limits{Sessions: new(uint64), Deaf: new(time.Duration)}}).steady(10)
	s.event(session.KindSessionReplaced, 2, 30*time.Second, 20*time.Second)
	if v := s.Judge(s.end); v.Finding != Held || v.Sessions != 0 || v.LongestDeaf != 0 || !v.Blind {
		t.Errorf("got %+v", v)
	}
}

// The order of the stream holds for all writers together, where the target tells sequences.
func TestOrderOfSeveralWriters(t *testing.T) {
	tell := func(swap bool) *story {
		s := newStory(Rules{Measure: ByIDs}).write("a", 1, 1, 0).write("b", 1, 2, 0).write("a", 2, 3, 0)
		if swap {
			return s.hand("b", 1, 2, time.Millisecond).hand("a", 1, 1, time.Millisecond).hand("a", 2, 3, time.Millisecond)
		}
		return s.hand("a", 1, 1, time.Millisecond).hand("b", 1, 2, time.Millisecond).hand("a", 2, 3, time.Millisecond)
	}
	s := tell(false)
	if v := s.Judge(s.end); v.Finding != Held {
		t.Errorf("in order: %q", v.Reasons())
	}
	s = tell(true)
	if v := s.Judge(s.end); v.OutOfOrder != 1 || v.Violations[0].Samples[0].ID != "a-1" {
		t.Errorf("got %+v", v)
	}
	s = tell(true).fault("recreate-stream", 0, 0, 9)
	if v := s.Judge(s.end); v.OutOfOrder != 0 {
		t.Errorf("a new stream begins at 1 again: %q", v.Reasons())
	}
	s = tell(true)
	s.Event(reader.Event{Kind: session.KindStreamReset, Time: at(0), Session: 1})
	if v := s.Judge(s.end); v.OutOfOrder != 0 {
		t.Errorf("it was told: %q", v.Reasons())
	}
}
