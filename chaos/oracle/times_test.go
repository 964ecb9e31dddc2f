package oracle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Silence is a time without a message while one waits, not a time without messages.
func TestSilence(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		name    string
		story   *story
		longest time.Duration
		open    bool
	}{
		{name: "nothing to read", story: newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 20*s).readAt(6, 6, 20*s+2*ms)},
		{name: "one that waits", story: newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 20*s).readAt(6, 6, 23*s+ms), longest: 3 * s},
		{name: "the first of several that wait tells", story: newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 20*s).write("w", 7, 7, 22*s).readAt(6, 6, 23*s+ms).readAt(7, 7, 23*s+ms), longest: 3 * s},
		{name: "told in the other order", story: func() *story {
			x := newStory(Rules{Measure: ByIDs}).steady(5)
			x.Attempted("w-6", at(20*s))
			x.readAt(6, 6, 23*s)
			x.Acknowledged("w-6", 6, at(21*s))
			return x
		}(), longest: 2 * s},
		{name: "a backlog that moves", story: func() *story {
			x := newStory(Rules{Measure: ByIDs})
			for i := uint64(1); i <= 100; i++ {
				x.write("w", i, i, 0)
			}
			for i := uint64(1); i <= 100; i++ {
				x.readAt(i, i, time.Duration(i)*s/5)
			}
			return x
		}(), longest: s / 5},
		{name: "what waited before reading began", story: func() *story {
			x := newStory(Rules{Measure: ByIDs}).write("w", 1, 1, 0)
			x.Ready(at(30 * s))
			return x.readAt(1, 1, 31*s)
		}(), longest: s},
		{name: "to the end", story: func() *story {
			x := newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 20*s)
			x.end.Time = at(24*s + ms)
			return x
		}(), longest: 4 * s, open: true},
		{name: "one that is passed over waits no more", story: func() *story {
			x := newStory(Rules{Measure: ByIDs}).steady(6, 5)
			x.end.Time = at(50 * s)
			return x
		}()},
		{name: "but a durable's does, once the server sends it again", story: func() *story {
			x := newStory(Rules{Measure: ByIDs, AtLeastOnce: true}).steady(6, 5)
			x.end.Time = at(50*s + 62*ms)
			return x
		}(), longest: 20 * s, open: true},
		{name: "a durable's that was lost on the way and comes again", story: func() *story {
			x := newStory(Rules{Measure: ByIDs, AtLeastOnce: true}).steady(6, 5).readAt(5, 5, 62*ms+31*s)
			x.end.Time = at(32 * s)
			return x
		}(), longest: s},
		{name: "one that is purged waits until then", story: func() *story {
			x := newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 10*s)
			x.end.Time = at(50 * s)
			return x.fault("purge-stream", 13*s+ms, 13*s+2*ms, 5)
		}(), longest: 3 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := test.story.Observe(test.story.end)
			if v := test.story.Judge(test.story.end); v.LongestSilence != test.longest {
				t.Errorf("longest %s, want %s: %v", v.LongestSilence, test.longest, seen.Silences)
			}
			if open := slices.ContainsFunc(seen.Silences, func(x Span) bool { return x.Open }); open != test.open {
				t.Errorf("open %v", open)
			}
		})
	}
}

// Too many times without messages: the longest silence is kept.
func TestSilencesAreBounded(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs})
	for i := uint64(1); i <= 3*maxStretches; i++ {
		when, late := time.Duration(i)*10*time.Second, 150*ms
		if i == 17 {
			late = 4 * time.Second
		}
		s.write("w", i, i, when).readAt(i, i, when+ms+late)
		s.end.Time = at(when + time.Second)
	}
	if kept := len(s.quiet.stretches); kept >= maxStretches {
		t.Errorf("%d stretches are kept", kept)
	}
	if v := s.Judge(s.end); v.LongestSilence != 4*time.Second {
		t.Errorf("longest %s", v.LongestSilence)
	}
}

func TestRecoveryOfEachFault(t *testing.T) {
	const s = time.Second
	x := newStory(Rules{Measure: ByIDs})
	n := uint64(0)
	one := func(when, late time.Duration) {
		n++
		x.write("w", n, n, when).readAt(n, n, when+ms+late)
	}
	one(1*s, 300*ms) // its ordinary pace
	x.fault("cut", 10*s, 10*s, 0)
	one(10*s+100*ms, 2*s) // until 12.101 s
	one(20*s, 200*ms)     // no more than the pace
	x.fault("latency", 30*s, 35*s, 0)
	one(31*s, s) // over before the end of the fault
	x.fault("black-hole", 40*s, 42*s, 0)
	one(41*s, 3*s)        // until 44.001 s
	one(44*s+500*ms, 1*s) // follows closely: until 45.501 s
	one(50*s, 1*s)        // does not
	x.event(session.KindSessionReplaced, 2, 46*s, 2*s)
	x.fault("drop-subscription", 55*s, 55*s, 0)
	x.write("w", n+1, n+1, 55*s) // never read
	v := x.Judge(x.end)
	want := []Recovery{
		{"cut", at(10 * s), at(10 * s), 2101 * ms, true, false},
		{"latency", at(30 * s), at(35 * s), 0, true, false},
		{"black-hole", at(40 * s), at(42 * s), 4 * s, true, false},
		{"drop-subscription", at(55 * s), at(55 * s), 5 * s, false, false},
	}
	if !slices.Equal(v.Recoveries, want) {
		t.Errorf("got  %v\nwant %v", v.Recoveries, want)
	}
}

// The recovery from one fault is over when the next begins, whatever that one does.
func TestRecoveryEndsAtTheNextFault(t *testing.T) {
	const s = time.Second
	x := newStory(Rules{Measure: ByIDs})
	n := uint64(0)
	one := func(when, late time.Duration) {
		n++
		x.write("w", n, n, when).readAt(n, n, when+ms+late)
	}
	one(1*s, 100*ms)
	x.fault("delete-consumer", 10*s, 10*s, 0)
	one(10*s, 200*ms)
	x.fault("drop-message", 11*s, 11*s+500*ms, 0)
	one(11*s, 300*ms) // within a second of the recovery before, and not its doing
	x.fault("cut", 12*s, 12*s, 0)
	one(12*s-10*ms, 160*ms) // it waited before the cut, and not since the fault before
	x.fault("half-open", 20*s, 20*s, 0)
	one(20*s, 3*s) // until 23.001 s, over the next fault
	x.fault("delete-consumer", 22*s, 22*s, 0)
	x.fault("drop-subscription", 30*s, 30*s, 0) // with the next one
	x.fault("api-timeout", 30*s+ms, 31*s, 0)
	one(30*s+2*ms, 3*s)
	v := x.Judge(x.end)
	want := []Recovery{
		{"delete-consumer", at(10 * s), at(10 * s), 201 * ms, true, false},
		{"drop-message", at(11 * s), at(11*s + 500*ms), 0, true, false},
		{"cut", at(12 * s), at(12 * s), 151 * ms, true, false},
		{"half-open", at(20 * s), at(20 * s), 2 * s, true, true},
		{"delete-consumer", at(22 * s), at(22 * s), 1001 * ms, true, false},
		{"drop-subscription", at(30 * s), at(30 * s), 3003 * ms, true, false},
		{"api-timeout", at(30*s + ms), at(31 * s), 2003 * ms, true, false},
	}
	if !slices.Equal(v.Recoveries, want) {
		t.Errorf("got  %v\nwant %v", v.Recoveries, want)
	}
}

// A recovery cannot come while another fault acts: the limit does not count that time.
func TestRecoveryBeyondOtherFaults(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		late time.Duration
		want Finding
	}{{7 * s, Held}, {8*s + 200*ms, Broken}} {
		five := 5 * s / 2
		x := newStory(Rules{Measure: ByIDs, Limits: Limits{Recovery: &five}}).steady(20)
		x.fault("api-timeout", 10*s, 16*s, 0).fault("delete-consumer", 10*s+500*ms, 10*s+500*ms, 0)
		x.write("w", 21, 21, 10*s+600*ms).readAt(21, 21, 10*s+600*ms+test.late)
		if v := x.Judge(x.end); v.Finding != test.want {
			t.Errorf("%s late: %s, %q", test.late, v.Finding, v.Reasons())
		}
	}
}

// A reader that is to end may wait for its stream before it does, and no other is given that time.
func TestGraceBeforeTheEnd(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		name  string
		grace time.Duration
		heals time.Duration // 0: it ends
		want  Finding
	}{
		{"it ends within the grace", 10 * s, 0, Held},
		{"it ends, and was not to", 0, 0, Broken},
		{"it is deaf for as long before", 10 * s, 15 * s, Broken},
	} {
		x := newStory(Rules{Measure: ByIDs}).steady(20).event(session.KindSessionOpened, 1, 0, 0)
		x.event(session.KindSessionLost, 1, 10*s, 0)
		x.end.Grace, x.end.Time = test.grace, at(25*s)
		if test.heals > 0 {
			x.event(session.KindSessionHealed, 1, 10*s+test.heals, test.heals)
		}
		if v := x.Judge(x.end); v.Finding != test.want {
			t.Errorf("%s: %s, %q", test.name, v.Finding, v.Reasons())
		}
	}
}

// While an operator pauses the consumer, and the reader tells it, nothing has to be read.
func TestPausesByAnOperator(t *testing.T) {
	const s = time.Second
	paused := func() *story { // the last message came at 10 s; the pause is told at 16 s
		x := newStory(Rules{Measure: ByIDs}).steady(5).write("w", 6, 6, 10*s-2*ms).readAt(6, 6, 10*s)
		x.end.Time = at(60 * s)
		return x.event(session.KindSessionOpened, 1, 0, 0).write("w", 7, 7, 11*s)
	}
	told := func(x *story) *story { return x.event(session.KindPaused, 1, 16*s, 0) }
	fault := func(x *story) *story {
		x.end.Periods = append(x.end.Periods, Period{Fault: "pause-consumer", Name: "pause-consumer", Pauses: true, From: at(10 * s), To: at(20 * s)})
		return x
	}
	for _, test := range []struct {
		name   string
		story  *story
		want   Finding
		reason string
	}{
		{"a silence that nobody explained", paused().readAt(7, 7, 50*s), Broken, "waited"},
		{"it is told, and then over", told(paused()).readAt(7, 7, 50*s), Held, ""},
		{"it lasts to the end", told(paused()), Unknown, "an operator has paused the consumer, and messages wait: 1"},
		{"a message is passed over in it", told(paused()).write("w", 8, 8, 50*s).readAt(8, 8, 51*s), Broken, "1 message lost"},
		{"the session is lost in it", told(paused()).event(session.KindSessionLost, 1, 20*s, 0), Broken, "deaf"},
		{"the fault that made it is over", told(fault(paused())), Broken, "1 message lost"},
		{"it is read soon after the fault", told(fault(paused())).readAt(7, 7, 21*s), Held, ""},
	} {
		v := test.story.Judge(test.story.end)
		if reasons := strings.Join(v.Reasons(), "; "); v.Finding != test.want || !strings.Contains(reasons, test.reason) {
			t.Errorf("%s: %s, %q", test.name, v.Finding, reasons)
		}
	}
}

func TestObserved(t *testing.T) {
	s := newStory(Rules{Measure: ByIDs}).steady(100, 50)
	s.event(session.KindSessionOpened, 1, 0, 0).event(session.KindSessionReplaced, 2, 500*ms, 20*ms)
	s.Request("consumer_create", at(0))
	seen := s.Observe(s.end)
	if len(seen.Sessions) != 2 || !seen.Sessions[0].To.Equal(at(500*ms)) || seen.Sessions[0].Cause == "" || !seen.Sessions[1].To.Equal(s.end.Time) || seen.Sessions[1].Cause != "" {
		t.Errorf("sessions %+v", seen.Sessions)
	}
	if seen.Requests["consumer_create"] != 1 || len(seen.Deaf) != 1 {
		t.Errorf("requests %v, deaf %v", seen.Requests, seen.Deaf)
	}
	var published, read float64
	for i := range seen.Series.Published {
		published += seen.Series.Published[i] * seen.Series.Step.Seconds()
		read += seen.Series.Read[i] * seen.Series.Step.Seconds()
	}
	if published != 100 || read != 99 || seen.Series.Lag[len(seen.Series.Lag)-1] != 0 {
		t.Errorf("published %v, read %v, lag %v", published, read, seen.Series.Lag)
	}
}

// A long run has as many steps as a short one, and loses no count.
func TestSeriesIsBounded(t *testing.T) {
	var s series
	const n = 100_000
	for i := range int64(n) {
		s.at(1+i*int64(time.Second)).published++
	}
	f := s.figures(nil, n*int64(time.Second))
	total := 0.0
	for _, rate := range f.Published {
		total += rate * f.Step.Seconds()
	}
	if len(f.Published) > maxSteps || int(total+0.5) != n || f.Lag[len(f.Lag)-1] != n {
		t.Errorf("%d steps of %s, %f in all", len(f.Published), f.Step, total)
	}
}
