package oracle

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

const limit = 12 * time.Second

// story is a run told to an oracle, one line after the other.
type story struct {
	*Oracle
	end Ending
}

func newStory(rules Rules) *story {
	rules.Deafness = limit
	return &story{New(rules), Ending{Time: at(time.Minute)}}
}

// published tells ids 1..n, stored under sequences 1..n, one each 10 ms.
func (s *story) published(n uint64) *story {
	for i := uint64(1); i <= n; i++ {
		when := at(time.Duration(i) * 10 * time.Millisecond)
		s.Attempted(ID("w", i), when)
		s.Acknowledged(ID("w", i), i, when.Add(time.Millisecond))
	}
	return s
}

func (s *story) read(ids ...uint64) *story {
	for _, i := range ids {
		s.readAt(i, i, time.Duration(i)*10*time.Millisecond+2*time.Millisecond)
	}
	return s
}

func (s *story) readAt(id, sequence uint64, when time.Duration) *story {
	s.Read(Delivery{ID: ID("w", id), Sequence: sequence, ConsumerSequence: sequence, Session: 1, Time: at(when)})
	return s
}

// blindly reads as a target that tells no sequences.
func (s *story) blindly(ids ...uint64) *story {
	for i, id := range ids {
		s.Read(Delivery{ID: ID("w", id), Time: at(time.Duration(i+1)*10*time.Millisecond + 2*time.Millisecond)})
	}
	return s
}

// tried tells that an id was published once more.
func (s *story) tried(id uint64) *story {
	s.Attempted(ID("w", id), at(time.Duration(id)*10*time.Millisecond))
	return s
}

// hadIt tells that the last attempt stored nothing.
func (s *story) hadIt(id uint64) *story {
	s.Deduplicated(ID("w", id))
	return s
}

func (s *story) event(kind reader.Kind, number int, when, deaf time.Duration) *story {
	s.Event(reader.Event{Kind: kind, Session: number, Time: at(when), Deaf: deaf, Cause: session.CauseAnswersLost})
	return s
}

// noStream tells the server's first and last word that there is no stream.
func (s *story) noStream(first, last time.Duration) *story {
	for _, when := range []time.Duration{first, last} {
		s.Event(reader.Event{Kind: session.KindReplaceFailed, Session: 1, Time: at(when), Code: 10059})
	}
	return s
}

func (s *story) fault(text string, from, to time.Duration, cursor uint64) *story {
	destructive := strings.HasPrefix(text, "purge") || strings.HasPrefix(text, "recreate")
	s.end.Periods = append(s.end.Periods, Period{Fault: text, Name: text, Destructive: destructive, From: at(from), To: at(to), Cursor: cursor})
	return s
}

func TestJudgeByIDs(t *testing.T) {
	ids := Rules{Measure: ByIDs}
	for _, test := range []struct {
		name                                   string
		story                                  *story
		contract                               Finding
		delivered, lost, twice, disorder, told uint64
		reason                                 string
	}{
		{name: "all read", story: newStory(ids).published(5).read(1, 2, 3, 4, 5), contract: Held, delivered: 5},
		{name: "lost in the middle", story: newStory(ids).published(5).read(1, 2, 4, 5), contract: Broken, delivered: 4, lost: 1, reason: "1 message lost"},
		{name: "lost at the end", story: newStory(ids).published(5).read(1, 2, 3), contract: Broken, delivered: 3, lost: 2},
		{name: "lost at the start", story: newStory(ids).published(5).read(2, 3, 4, 5), contract: Broken, delivered: 4, lost: 1},
		{name: "twice", story: newStory(ids).published(3).read(1, 2, 3, 3), contract: Broken, delivered: 4, twice: 1},
		{name: "an old one again", story: newStory(ids).published(3).read(1, 2, 3, 1), contract: Broken, delivered: 4, twice: 1},
		{name: "out of order", story: newStory(ids).published(4).read(1, 3, 2, 4), contract: Broken, delivered: 4, disorder: 1},
		{name: "never published", story: newStory(ids).published(2).read(1, 2, 3), contract: Broken, delivered: 3, reason: "never published"},
		{name: "nothing published", story: newStory(ids), contract: Unknown, reason: "no message was published"},
		{name: "stored twice and read twice", story: newStory(ids).published(2).read(1, 2).readAt(2, 3, 40*time.Millisecond), contract: Held, delivered: 3},
		{name: "perhaps stored twice and read twice, without sequences", story: newStory(ids).published(2).tried(2).blindly(1, 2, 2), contract: Held, delivered: 3},
		{name: "perhaps stored twice and read three times", story: newStory(ids).published(2).tried(2).blindly(1, 2, 2, 2), contract: Broken, delivered: 4, twice: 1, reason: "1 message delivered twice"},
		{name: "tried twice, stored once, read twice", story: newStory(ids).published(2).tried(2).hadIt(2).blindly(1, 2, 2), contract: Broken, delivered: 3, twice: 1},
		{name: "tried once and read twice, without sequences", story: newStory(ids).published(2).blindly(1, 2, 2), contract: Broken, delivered: 3, twice: 1},
		{name: "a durable may redeliver", story: newStory(Rules{Measure: ByIDs, AtLeastOnce: true}).published(3).read(1, 2, 3, 2), contract: Held, delivered: 4},
		{name: "purged before its turn", story: newStory(ids).published(5).read(1, 2).readAt(5, 5, 1100*time.Millisecond).fault("purge-stream", time.Second, time.Second, 2), contract: Held, delivered: 3, told: 2},
		{name: "lost long before a purge", story: newStory(ids).published(5).read(1, 2, 4, 5).fault("purge-stream", time.Second, time.Second, 5), contract: Broken, delivered: 4, lost: 1},
		{name: "published after the purge and lost", story: newStory(ids).published(5).read(1, 2, 3, 5).fault("purge-stream", 0, time.Millisecond, 0), contract: Broken, delivered: 4, lost: 1},
		{name: "a message that is no id", story: func() *story {
			s := newStory(ids).published(1).read(1)
			s.Read(Delivery{ID: "hello", Sequence: 2, Session: 1, Time: at(0)})
			return s
		}(), contract: Broken, delivered: 2, reason: "never published"},
		{name: "a message of others", story: func() *story {
			s := newStory(Rules{Measure: ByIDs, OthersPublish: true}).published(1).read(1)
			s.Read(Delivery{ID: "hello", Sequence: 2, Session: 1, Time: at(0)})
			return s
		}(), contract: Held, delivered: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.story.Judge(test.story.end)
			if v.Finding != test.contract || v.Delivered != test.delivered || v.Lost != test.lost ||
				v.Duplicated != test.twice || v.OutOfOrder != test.disorder || v.Told != test.told {
				t.Errorf("got %+v", v)
			}
			if !strings.Contains(strings.Join(v.Reasons(), "; "), test.reason) {
				t.Errorf("reasons %q, want %q", v.Reasons(), test.reason)
			}
			if (v.Finding == Held) != (len(v.Reasons()) == 0) {
				t.Errorf("contract %s with reasons %q", v.Finding, v.Reasons())
			}
		})
	}
}

func TestUnacknowledgedIsNeverLost(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(2).read(1, 2)
	s.Attempted(ID("w", 3), at(time.Second))
	if v := s.Judge(s.end); v.Finding != Held || v.Unknown != 1 || v.Lost != 0 {
		t.Errorf("got %+v", v)
	}
	s.readAt(3, 3, 2*time.Second)
	if v := s.Judge(s.end); v.Finding != Held || v.Unknown != 0 {
		t.Errorf("read all the same: got %+v", v)
	}
}

func TestToldMissedIsNotLost(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(5).read(1, 5)
	s.Event(reader.Event{Kind: session.KindMissed, Session: 1, From: 2, To: 3, Count: 2})
	if v := s.Judge(s.end); v.Lost != 1 || v.Told != 2 {
		t.Errorf("sequence 4 is lost, 2 and 3 were told: got %+v", v)
	}
}

// A reader that follows what is new in a re-created stream is not to read what was
// published there before it came.
func TestFollowNewSkipsWhatCameBefore(t *testing.T) {
	told := func() *story {
		s := newStory(Rules{Measure: ByIDs}).fault("recreate-stream", 15*time.Millisecond, 25*time.Millisecond, 1)
		s.published(1).read(1)
		for i, when := range map[uint64]time.Duration{2: 30, 3: 40, 4: 70} { // sequences 1 to 3 of the new stream
			s.Attempted(ID("w", i), at(when*time.Millisecond))
			s.Acknowledged(ID("w", i), i-1, at(when*time.Millisecond))
		}
		s.event(session.KindStreamReset, 2, 35*time.Millisecond, 0)
		s.event(session.KindSessionReplaced, 2, 50*time.Millisecond, 20*time.Millisecond)
		return s.readAt(4, 3, 71*time.Millisecond)
	}
	s := told()
	if v := s.Judge(s.end); v.Lost != 2 {
		t.Errorf("one that restarts has lost 2 and 3: got %+v", v)
	}
	s = told()
	s.end.SkipsOnReset = true
	if v := s.Judge(s.end); v.Lost != 0 || v.Told != 2 || v.Finding != Held {
		t.Errorf("one that follows what is new has lost nothing: got %+v", v)
	}
}

func TestInterruptedIsJudgedByWhatWasRead(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(5).read(1, 2, 3)
	s.end.Interrupted = true
	if v := s.Judge(s.end); v.Finding != Held {
		t.Errorf("the tail was not read yet: got %+v", v)
	}
	s.read(5)
	if v := s.Judge(s.end); v.Finding != Broken || v.Lost != 1 {
		t.Errorf("4 was passed over: got %+v", v)
	}
}

func TestJudgeDeafness(t *testing.T) {
	rules := Rules{Measure: BySequences}
	opened := func() *story { return newStory(rules).event(session.KindSessionOpened, 1, 0, 0) }
	for _, test := range []struct {
		name     string
		story    *story
		contract Finding
		longest  time.Duration
	}{
		{"never deaf", opened(), Held, 0},
		{"healed in time", opened().event(session.KindSessionLost, 1, 4*time.Second, 4*time.Second).event(session.KindSessionReplaced, 2, 6*time.Second, 6*time.Second), Held, 6 * time.Second},
		{"healed too late", opened().event(session.KindSessionReplaced, 2, 20*time.Second, 13*time.Second), Broken, 13 * time.Second},
		{"a fault's own length is allowed", opened().event(session.KindSessionReplaced, 2, 20*time.Second, 13*time.Second).fault("api-timeout", 8*time.Second, 10*time.Second, 0), Held, 13 * time.Second},
		{"two faults at once count once", opened().event(session.KindSessionReplaced, 2, 20*time.Second, 15*time.Second).
			fault("api-timeout", 8*time.Second, 10*time.Second, 0).fault("cut", 8*time.Second, 10*time.Second, 0), Broken, 15 * time.Second},
		{"a fault of another time does not count", opened().event(session.KindSessionReplaced, 2, 40*time.Second, 13*time.Second).fault("api-timeout", 8*time.Second, 20*time.Second, 0), Broken, 13 * time.Second},
		{"a fault without an end", func() *story {
			s := opened().event(session.KindSessionSilent, 1, 10*time.Second, 4*time.Second)
			s.fault("api-timeout", 8*time.Second, 0, 0)
			s.end.Periods[0].To = time.Time{}
			return s
		}(), Held, 54 * time.Second},
		{"deaf to the end", opened().event(session.KindSessionSilent, 1, 10*time.Second, 4*time.Second), Broken, 54 * time.Second},
		{"lost, and deaf to the end", opened().event(session.KindSessionLost, 1, 10*time.Second, 4*time.Second), Broken, 54 * time.Second},
		{"cut off to the end", opened().event(session.KindDisconnected, 1, 10*time.Second, 4*time.Second), Broken, 54 * time.Second},
		{"cut off with a full buffer", opened().event(session.KindDisconnected, 1, 10*time.Second, 0), Held, 0},
		{"silent, then healed", opened().event(session.KindSessionSilent, 1, 10*time.Second, 4*time.Second).event(session.KindSessionHealed, 1, 11*time.Second, 5*time.Second), Held, 5 * time.Second},
		{"while there is no stream nothing waits", opened().noStream(4*time.Second, 19*time.Second).event(session.KindSessionReplaced, 2, 20*time.Second, 16*time.Second), Held, 16 * time.Second},
		{"but when there is one again", opened().noStream(4*time.Second, 6*time.Second).event(session.KindSessionReplaced, 2, 20*time.Second, 16*time.Second), Broken, 16 * time.Second},
		{"no stream another time", opened().noStream(2*time.Second, 12*time.Second).event(session.KindSessionReplaced, 2, 13*time.Second, 10*time.Second).
			event(session.KindSessionReplaced, 3, 40*time.Second, 13*time.Second), Broken, 13 * time.Second},
		{"the end of a session that was replaced", opened().event(session.KindSessionReplaced, 2, 5*time.Second, time.Second).event(session.KindSessionLost, 1, 6*time.Second, 0), Held, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := test.story.Judge(test.story.end)
			if v.Finding != test.contract || v.LongestDeaf != test.longest {
				t.Errorf("got %s after %s, %q; want %s after %s", v.Finding, v.LongestDeaf, v.Reasons(), test.contract, test.longest)
			}
		})
	}
}

// A reader that tells nothing is caught by the messages that waited.
func TestMessageThatWaitedTooLong(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(2).readAt(1, 1, 20*time.Millisecond).readAt(2, 2, 14*time.Second)
	if v := s.Judge(s.end); v.Finding != Broken || !strings.Contains(strings.Join(v.Reasons(), " "), "waited 13.97") {
		t.Errorf("got %+v", v)
	}
}

// What is done is forgotten, and still judged.
func TestLongRunIsForgottenAndJudged(t *testing.T) {
	const n = 50 * blockSize
	tell := func(late, lost uint64) *story {
		s := newStory(Rules{Measure: ByIDs})
		for i := uint64(1); i <= n; i++ {
			when := time.Duration(i) * time.Millisecond
			s.Attempted(ID("w", i), at(when))
			if i == late {
				s.readAt(i, i, when+14*time.Second)
			} else if i != lost {
				s.readAt(i, i, when)
			}
			s.Acknowledged(ID("w", i), i, at(when))
		}
		return s
	}
	s := tell(0, 0)
	if kept := len(s.writers["w"].store.blocks); kept > 4 {
		t.Errorf("%d blocks of ids are kept", kept)
	}
	if v := s.Judge(s.end); v.Finding != Held || v.Delivered != n {
		t.Errorf("all read: got %+v", v)
	}
	s.readAt(1, 1, time.Minute)
	if v := s.Judge(s.end); v.Duplicated != 1 {
		t.Errorf("an old one again: got %+v", v)
	}
	s = tell(5, 0)
	if v := s.Judge(s.end); v.Finding != Broken || !strings.Contains(strings.Join(v.Reasons(), " "), "waited 14s") {
		t.Errorf("an old one that waited: got %+v", v)
	}
	s = tell(0, 7)
	if v := s.Judge(s.end); v.Lost != 1 {
		t.Errorf("an old one that is lost: got %+v", v)
	}
}

func TestJudgeBySequences(t *testing.T) {
	type d struct {
		session   int
		seq, cseq uint64
	}
	for _, test := range []struct {
		name               string
		filtered, durable  bool
		reads              []d
		events             []reader.Event
		lost, twice, disor uint64
	}{
		{name: "in order", reads: []d{{1, 1, 1}, {1, 2, 2}, {1, 3, 3}}},
		{name: "removed inside the stream", reads: []d{{1, 1, 1}, {1, 5, 2}}},
		{name: "a hole in the consumer's count", reads: []d{{1, 1, 1}, {1, 4, 4}}, lost: 2},
		{name: "again", reads: []d{{1, 1, 1}, {1, 1, 2}}, twice: 1},
		{name: "backwards", reads: []d{{1, 5, 1}, {1, 4, 2}}, disor: 1},
		{name: "next session goes on", reads: []d{{1, 1, 1}, {2, 2, 2}, {2, 3, 3}}},
		{name: "next session leaves a hole", reads: []d{{1, 1, 1}, {2, 4, 2}}, lost: 2},
		{name: "the hole was told", reads: []d{{1, 1, 1}, {2, 4, 2}}, events: []reader.Event{{Kind: session.KindMissed, From: 2, To: 3}}},
		{name: "part of the hole was told", reads: []d{{1, 1, 1}, {2, 4, 2}}, events: []reader.Event{{Kind: session.KindMissed, From: 3, To: 9}}, lost: 1},
		{name: "a filter makes holes", filtered: true, reads: []d{{1, 1, 1}, {2, 40, 2}}},
		{name: "next session begins too early", reads: []d{{1, 1, 1}, {1, 2, 2}, {2, 2, 1}, {2, 3, 2}}, twice: 1},
		{name: "another stream", reads: []d{{1, 90, 1}, {2, 1, 1}, {2, 2, 2}}, events: []reader.Event{{Kind: session.KindStreamReset, Session: 2}}},
		{name: "a durable that others read", durable: true, reads: []d{{1, 1, 1}, {1, 4, 4}, {1, 2, 5}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStory(Rules{Measure: BySequences, Filtered: test.filtered, AtLeastOnce: test.durable})
			for _, r := range test.reads {
				s.Read(Delivery{Sequence: r.seq, ConsumerSequence: r.cseq, Session: r.session, Time: at(0)})
			}
			for _, e := range test.events {
				s.Event(e)
			}
			v := s.Judge(s.end)
			if v.Lost != test.lost || v.Duplicated != test.twice || v.OutOfOrder != test.disor {
				t.Errorf("got lost %d, twice %d, disorder %d", v.Lost, v.Duplicated, v.OutOfOrder)
			}
			if broken := test.lost+test.twice+test.disor > 0; broken != (v.Finding == Broken) {
				t.Errorf("contract %s", v.Finding)
			}
		})
	}
}

func TestDoubts(t *testing.T) {
	for name, change := range map[string]func(*Ending){
		"a fault that could not act": func(e *Ending) { e.Failed = []error{errors.New("no")} },
		"a reader that ended":        func(e *Ending) { e.Err = errors.New("stream gone") },
		"messages not reached":       func(e *Ending) { e.Undrained = 3 },
	} {
		s := newStory(Rules{Measure: BySequences})
		change(&s.end)
		if v := s.Judge(s.end); v.Finding != Unknown || len(v.Reasons()) != 1 {
			t.Errorf("%s: got %+v", name, v)
		}
		s.end.Orphans = 1
		if v := s.Judge(s.end); v.Finding != Broken {
			t.Errorf("%s with an orphan: got %+v", name, v)
		}
	}
	s := newStory(Rules{Measure: BySequences})
	s.end.Orphans = NotCounted
	if v := s.Judge(s.end); v.Finding != Held || v.Orphans != NotCounted {
		t.Errorf("orphans that could not be counted: got %+v", v)
	}
}

func TestAwaitReadEndsWithTheLastRead(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).published(3).read(1)
	done := make(chan error)
	go func() { done <- s.AwaitRead(t.Context(), s.end) }()
	s.read(2)
	s.read(3)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
