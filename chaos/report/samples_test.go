package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

var start = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return start.Add(d) }

// staged is a run whose verdict comes from an oracle that was told its history.
type staged struct {
	*oracle.Oracle
	end    oracle.Ending
	events []reader.Event
	run    result.Run
}

func stage(name, target string, rules oracle.Rules, length time.Duration) *staged {
	x := &staged{Oracle: oracle.New(rules), end: oracle.Ending{Time: at(length)}}
	x.run = result.Run{
		Name: name, Target: target, Seed: 4711, Server: result.Server{Version: "2.15.3", Nodes: 1, Replicas: 1, Storage: "file"},
		Began: start, Ended: at(length), Expected: oracle.Held,
		Phases: []result.Phase{
			{Name: "steady", From: start, To: at(length / 6), Text: "the reader reads"}, {Name: "inject", From: at(length / 6), To: at(length / 2)},
			{Name: "clear", From: at(length / 2), To: at(length/2 + 10*ms)}, {Name: "recover", From: at(length/2 + 10*ms), To: at(length * 2 / 3)},
			{Name: "drain", From: at(length * 2 / 3), To: at(length - 50*ms)}, {Name: "judge", From: at(length - 50*ms), To: at(length)},
		},
		Plan: "schema: nats-reader/chaos-plan/v1\nname: " + name + "\nsteps:\n  - when: 10s\n    fault: drop-subscription\n",
	}
	return x
}

// flow publishes every so often until the end, and has it read at once but for times in which nothing is read.
func (x *staged) flow(every time.Duration, silent ...[2]time.Duration) *staged {
	n, last := uint64(0), time.Duration(0)
	for t := 10 * ms; t < x.end.Time.Sub(start)-100*ms; t += every {
		n++
		read := max(t+2*ms, last)
		for _, span := range silent {
			if read >= span[0] && read < span[1] {
				read = span[1]
			}
		}
		last = read
		id := oracle.ID("w", n)
		x.Attempted(id, at(t))
		x.Acknowledged(id, n, at(t+ms))
		if read < x.end.Time.Sub(start) {
			x.Read(oracle.Delivery{ID: id, Sequence: n, ConsumerSequence: n, Session: 1, Time: at(read)})
		}
	}
	return x
}

func (x *staged) fault(text, where string, from, to time.Duration) *staged {
	x.end.Periods = append(x.end.Periods, oracle.Period{Fault: text, From: at(from), To: at(to)})
	x.run.Faults = append(x.run.Faults, result.Fault{Text: text, Where: where, From: at(from), To: at(to), Target: "consumer=reader-1"})
	return x
}

func (x *staged) event(e reader.Event) *staged {
	x.Event(e)
	x.events = append(x.events, e)
	return x
}

// finish judges.
func (x *staged) finish() result.Run {
	seen := x.Observe(x.end)
	r := x.run
	r.Verdict = x.Judge(x.end)
	r.Met = r.Verdict.Finding == r.Expected
	if !r.Met {
		r.ExitCode = 2
	}
	r.Sessions, r.Deaf, r.Silences, r.Series, r.APIRequests = seen.Sessions, seen.Deaf, seen.Silences, seen.Series, seen.Requests
	for _, e := range x.events {
		b, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		r.Events = append(r.Events, b)
	}
	return r
}

// held is a run of ours that lost two sessions and held its contract.
func held() result.Run {
	x := stage("deaf-after-power-outage", "reader", oracle.Rules{Measure: oracle.ByIDs}, 60*s)
	x.run.Title, x.run.Why = "Deaf after a power outage", "A server that came back without the reader's subscription left it open and deaf for good."
	x.flow(20*ms, [2]time.Duration{12 * s, 16*s + 10*ms}, [2]time.Duration{20 * s, 22 * s})
	x.fault("drop-subscription", "wire", 12*s, 12*s).fault("kill-server", "process", 20*s, 21*s).fault("latency(delay=20ms)", "wire", 19*s, 28*s)
	x.event(reader.Event{Kind: session.KindSessionOpened, Time: at(5 * ms), Session: 1, Consumer: "reader-1", From: 1})
	x.event(reader.Event{Kind: session.KindSessionSilent, Time: at(16 * s), Session: 1, Deaf: 4 * s})
	for i, kind := range []string{"consumer_info", "consumer_create", "consumer_delete"} {
		x.event(reader.Event{Kind: session.KindAPIRequest, Time: at(16*s + time.Duration(i)*ms), Request: kind})
	}
	x.event(reader.Event{Kind: session.KindSessionReplaced, Time: at(16*s + 8*ms), Session: 2, Cause: session.CauseAnswersLost, Consumer: "reader-2", Deaf: 4*s + 8*ms, Took: 8 * ms, From: 600})
	x.event(reader.Event{Kind: session.KindSessionReplaced, Time: at(22 * s), Session: 3, Cause: session.CauseReconnected, Consumer: "reader-3", Deaf: 2 * s, Took: 950 * ms, From: 1000})
	x.Consumers(2)
	x.end.WireBytes = 123456
	r := x.finish()
	r.Notes = []result.Note{{Time: at(12 * s), Text: "fault latency met nothing to act on"}}
	return r
}

// deaf is a run of a peer that never read again.
func deaf() result.Run {
	x := stage("deaf-after-power-outage", "consume", oracle.Rules{Measure: oracle.ByIDs, Blind: true, NeverEnds: true}, 60*s)
	x.run.Expected, x.run.Server.Nodes, x.run.Server.Replicas = oracle.Broken, 3, 3
	x.flow(20*ms, [2]time.Duration{12 * s, time.Hour}).fault("drop-subscription", "wire", 12*s, 12*s)
	x.end.Orphans = oracle.NotCounted
	return x.finish()
}

// everything is a run with each kind of violation that ids can have, not as expected.
func everything() result.Run {
	x := stage("everything", "exec:python3 bad.py", oracle.Rules{Measure: oracle.ByIDs, Blind: true, Limits: oracle.Limits{Orphans: new(uint64)}}, 20*s)
	x.flow(100*ms).fault("cut", "wire", 5*s, 6*s)
	for range 3 {
		x.Read(oracle.Delivery{ID: "w-5", Sequence: 5, Time: at(10 * s)})
	}
	x.Attempted("x-1", at(s))
	x.Attempted("x-2", at(s))
	x.Acknowledged("x-1", 1001, at(s))
	x.Acknowledged("x-2", 1002, at(s))
	x.Read(oracle.Delivery{ID: "x-2", Time: at(11 * s)})
	x.Read(oracle.Delivery{ID: "x-1", Time: at(11 * s)})
	x.Read(oracle.Delivery{ID: "nobody-1", Time: at(11 * s)})
	x.end.Orphans = 1
	x.end.Failed = []error{fmt.Errorf("fault pause-consumer: no such consumer")}
	return x.finish()
}

// unjudged is a run that could not be made.
func unjudged() result.Run {
	r := stage("no-server", "reader", oracle.Rules{Measure: oracle.ByIDs}, 2*s).finish()
	r.Error, r.ExitCode = "steady state: the server does not answer", 3
	return r
}

// long is a run of ten minutes with as many events as are kept, sessions and faults in plenty.
func long() result.Run {
	x := stage("soak", "reader", oracle.Rules{Measure: oracle.ByIDs}, 600*s)
	x.flow(50 * ms)
	for i := range 600 {
		when := time.Duration(i+1) * 950 * ms
		if i < 300 {
			x.fault(fmt.Sprintf("drop-message(nth=%d)", i), "wire", 2*when, 2*when+s)
		}
		x.event(reader.Event{Kind: session.KindSessionReplaced, Time: at(when), Session: i + 2, Cause: session.CauseGap, Consumer: fmt.Sprintf("reader-abcdef01-%d", i), Deaf: 30 * ms, Took: 20 * ms, From: uint64(i * 20)})
	}
	for i := len(x.events); i < result.MaxEvents; i++ {
		x.event(reader.Event{Kind: session.KindAPIRequest, Time: at(time.Duration(i) * 60 * ms), Session: i, Consumer: "reader-abcdef01-77", Inbox: "_INBOX.abcdefghijklmnopqrstuvw.*", Request: "consumer_create"})
	}
	r := x.finish()
	r.EventsDropped = 17
	return r
}
