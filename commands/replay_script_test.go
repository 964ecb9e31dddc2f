package commands_test

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// runOf reads the run of a JSON report.
func runOf(ts *testscript.TestScript, file string) (r struct{ Command, Plan string }) {
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &r))
	if r.Command == "" || r.Plan == "" {
		ts.Fatalf("%s is no run", file)
	}
	return r
}

// again FILE FLAGS...: plays again what a report says plays it again, with the same exit code 2.
func playAgain(ts *testscript.TestScript, _ bool, args []string) {
	line := strings.Fields(runOf(ts, args[0]).Command)
	expectCode(ts, false, append(append([]string{"2"}, line...), args[1:]...))
}

// sameplan FILE FILE: two reports are of the same plan, byte for byte.
func expectSamePlan(ts *testscript.TestScript, _ bool, args []string) {
	if a, b := runOf(ts, args[0]), runOf(ts, args[1]); a.Plan != b.Plan {
		ts.Fatalf("%s and\n%s", a.Plan, b.Plan)
	}
}
