package commands

import (
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/bench"
)

// benchOf is a result with one contestant.
func benchOf(entries ...bench.Entry) bench.Result {
	return bench.Result{Schema: bench.Schema, Series: []bench.Series{{Size: 64, Count: 10, Pulls: bench.Equal, Entries: entries}}}
}

// What a reading has told of a login is in no format.
func TestBenchHidesSecrets(t *testing.T) {
	const told = "no server at nats://ann:sesame@host:4222,\nbob:sesame@other: connection refused"
	for _, format := range []string{"text", "json", "markdown"} {
		r := benchOf(bench.Entry{
			Contestant: bench.Contestant{Name: "next"}, Stopped: "round 1: " + told,
			Readings: []bench.Reading{{Round: 1, Error: told, Said: []string{told}}},
		})
		hideSecrets(r)
		var out strings.Builder
		if err := printBench(&out, benchPlan{format: format}, r); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Contains(text, "sesame") || !strings.Contains(text, "xxxxx") {
			t.Errorf("%s: %s", format, text)
		}
	}
}

func TestExitCodeOfABench(t *testing.T) {
	good := bench.Entry{Readings: []bench.Reading{{}, {}}}
	stopped := bench.Entry{Stopped: "round 1: it did not come to the last message", Readings: []bench.Reading{{Error: "it did not"}}}
	lossy := bench.Entry{Readings: []bench.Reading{{}, {Lost: 1}}}
	repeated, odd := bench.Entry{Readings: []bench.Reading{{Again: 1}}}, bench.Entry{Readings: []bench.Reading{{Odd: 1}}}
	for i, c := range []struct {
		entries []bench.Entry
		want    int
	}{
		{[]bench.Entry{good, good}, exitGood}, {[]bench.Entry{good, stopped}, exitCannotJudge}, {[]bench.Entry{stopped, lossy, good}, exitCritical},
		{[]bench.Entry{good, repeated}, exitCritical}, {[]bench.Entry{odd, good}, exitCritical},
	} {
		if got := exitOfBench(benchOf(c.entries...)); got != c.want {
			t.Errorf("%d: exit code %d, want %d", i, got, c.want)
		}
	}
}
