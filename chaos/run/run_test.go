package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

func TestReaderHolds(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps:
  - {when: {at: 200ms}, fault: delete-consumer}
  - {when: {at: 400ms}, fault: slow-reader(pause=30ms), for: 300ms}
  - {when: {at: 1s}, fault: kill-server, for: 300ms}
phases: {steady: 300ms}
`)
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
	if !got.Met || got.Expected != oracle.Held {
		t.Errorf("met %v, expected %s", got.Met, got.Expected)
	}
	if len(got.Faults) != 3 || len(got.Phases) != len(Phases()) || got.Verdict.Sessions < 3 || got.Verdict.Orphans != 0 {
		t.Errorf("faults %v, phases %v, sessions %d, orphans %d", got.Faults, got.Phases, got.Verdict.Sessions, got.Verdict.Orphans)
	}
	if got.APIRequests["consumer_create"] < 3 || got.Verdict.WireBytes == 0 || got.Verdict.MostConsumers == 0 {
		t.Errorf("requests %v, bytes %d, consumers %d", got.APIRequests, got.Verdict.WireBytes, got.Verdict.MostConsumers)
	}
	if got.Server.Version == "" || got.Seed != 1 || !strings.Contains(got.Plan, "seed: 1") || len(got.Events) == 0 || len(got.Sessions) == 0 || len(got.Series.Read) == 0 {
		t.Errorf("server %+v, seed %d, events %d, sessions %v, series %+v", got.Server, got.Seed, len(got.Events), got.Sessions, got.Series)
	}
}

// What the origin was: the inbox is forgotten, the API answers nothing for a while. The
// consumer lives on; nats.go's Consume never reads again, the reader does.
const powerOutage = quick + `
steps:
  - {when: {at: 0s}, fault: drop-subscription}
  - {when: {at: 0s}, fault: api-timeout, for: 2s}
phases: {steady: 300ms, recover: 4s, drain: 4s}
`

func TestConsumeGoesDeaf(t *testing.T) {
	t.Parallel()
	got := played(t.Context(), t, optionsOf(t, planOf(t, powerOutage), "consume"))
	want(t, got, oracle.Broken, ExitBroken, "lost")
	v := got.Verdict
	if !slices.Contains(kindsOf(v), oracle.KindSilence) || v.LostPostfix != v.Lost || v.Duplicated > 0 || !v.Blind {
		t.Errorf("not broken for being deaf: %+v", v)
	}
	if got.Met {
		t.Error("the plan expects it to hold, and it is said to be as expected")
	}
}

func TestReaderHearsAgain(t *testing.T) {
	t.Parallel()
	got := played(t.Context(), t, optionsOf(t, planOf(t, powerOutage), "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
}

// A judge that cannot say "broken" is worthless: each way to read badly, by a program
// outside, is found for what it is. They go wrong at the 50th message.
func TestEveryWayToReadBadly(t *testing.T) {
	t.Parallel()
	for kind, wrong := range map[bad.Kind]oracle.Kind{
		bad.Skip: oracle.KindLost, bad.Twice: oracle.KindDuplicated, bad.Swap: oracle.KindOutOfOrder, bad.Invent: oracle.KindUnexpected,
		bad.Garbage: oracle.KindUnexpected, bad.Stop: oracle.KindSilence, bad.Exit: oracle.KindEnded, bad.Die: oracle.KindEnded, bad.Good: "",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, quick+`
load: {rate: 10}
steps: [{when: {sequence: 60}, fault: cut}]
phases: {steady: 100ms, recover: 5s, drain: 5s}
`)
			got := played(t.Context(), t, optionsOf(t, p, "exec:"+bad.Command(kind)))
			if wrong == "" {
				want(t, got, oracle.Held, ExitHeld, "")
				return
			}
			want(t, got, oracle.Broken, ExitBroken, "")
			if !slices.Contains(kindsOf(got.Verdict), wrong) {
				t.Errorf("the violations are %v, want %s among them", kindsOf(got.Verdict), wrong)
			}
			for _, v := range got.Verdict.Violations {
				if judge := got.Phases[len(got.Phases)-1]; v.Kind == oracle.KindEnded && v.Samples[0].Time.After(judge.From) {
					t.Errorf("it ended at %s, and the judge began at %s", v.Samples[0].Time, judge.From)
				}
			}
		})
	}
}

// The limits of a plan that are no matter of single messages, and all told at once.
func TestEveryLimit(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {at: 100ms}, fault: drop-subscription}]
phases: {steady: 100ms}
contract: {deaf: 1ms, silence: 1ms, recovery: 1ms, sessions: 1, api_requests: 1, api_requests_per_minute: 1, consumers: 0, wire_bytes: 1}
`)
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Broken, ExitBroken, "")
	kinds := kindsOf(got.Verdict)
	for _, kind := range []oracle.Kind{
		oracle.KindDeaf, oracle.KindSilence, oracle.KindRecovery, oracle.KindSessions, oracle.KindAPIRequests, oracle.KindAPIRequestsPerMinute,
		oracle.KindConsumers, oracle.KindWireBytes,
	} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the violations are %v, want %s among them", kinds, kind)
		}
	}
}

// Publishing goes on for a while once the target reads again.
func TestSettles(t *testing.T) {
	t.Parallel()
	settles := quick + "steps:\n  - {when: {at: 100ms}, fault: delete-consumer}\nphases: {steady: 300ms, settle: 700ms}\n"
	got := played(t.Context(), t, optionsOf(t, planOf(t, settles), "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
	i := slices.IndexFunc(got.Phases, func(p result.Phase) bool { return p.Name == string(Recover) })
	if i < 0 || got.Phases[i].To.Sub(got.Phases[i].From).Milliseconds() < 700 {
		t.Errorf("phases %v", got.Phases)
	}
	if got.Verdict.Acknowledged < 70 { // 100 a second
		t.Errorf("%d published", got.Verdict.Acknowledged)
	}
}

// What a reader of nats.go's leaves lapses by itself: it counts where a contract says so.
func TestOrphans(t *testing.T) {
	t.Parallel()
	const text = "steps: [{when: {at: 100ms}, fault: slow-reader(pause=1ms), for: 100ms}]\nphases: {steady: 100ms}\n"
	got := played(t.Context(), t, optionsOf(t, planOf(t, text), "ordered-messages"))
	want(t, got, oracle.Held, ExitHeld, "")
	got = played(t.Context(), t, optionsOf(t, planOf(t, text+"contract: {orphans: 0}\n"), "ordered-messages"))
	want(t, got, oracle.Broken, ExitBroken, "1 consumer of its own left on the server")
	if kinds := kindsOf(got.Verdict); !slices.Equal(kinds, []oracle.Kind{oracle.KindOrphans}) {
		t.Errorf("the violations are %v", kinds)
	}
}
