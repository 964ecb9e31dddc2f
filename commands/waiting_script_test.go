package commands_test

import (
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"
)

// awaitfile FILE PATTERN: waits until the file's content matches.
func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[1])
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && pattern.Match(content) {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			ts.Fatalf("%s holds %q (%v), and never what matches %s", args[0], content, err, args[1])
		}
	}
}

// delete STREAM
func deleteStream(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	ts.Check(js.DeleteStream(ctx, args[0]))
}

// take STREAM DURABLE N: so many messages are handed out and never acknowledged.
func takeMessages(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	c, err := js.Consumer(ctx, args[0], args[1])
	ts.Check(err)
	batch, err := c.Fetch(n, jetstream.FetchContext(ctx))
	ts.Check(err)
	for range batch.Messages() {
		n--
	}
	if ts.Check(batch.Error()); n != 0 {
		ts.Fatalf("%d messages did not come", n)
	}
}
