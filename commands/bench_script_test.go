package commands_test

import (
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// streams N: so many streams are on the server.
func countStreams(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	var names []string
	list := js.StreamNames(ctx)
	for name := range list.Name() {
		names = append(names, name)
	}
	ts.Check(list.Err())
	if strconv.Itoa(len(names)) != args[0] {
		ts.Fatalf("there are the streams %v, want %s", names, args[0])
	}
}
