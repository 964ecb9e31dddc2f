package commands

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader"
)

func TestReplaceFileLeavesOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "position")
	// What a crash has left of an earlier write is overwritten.
	if err := os.WriteFile(path+".new", []byte("half of a much longer posi"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := replaceFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file is left: %v", err)
	}
}

func TestReplaceFileThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "position")
	if err := replaceFile(path, []byte("x"), 0o644); err == nil {
		t.Error("a missing folder is no error")
	}
}

// The position is the reader's cursor where the output holds all that was accepted,
// and the last message's otherwise.
func TestPlaceToGoOnFrom(t *testing.T) {
	created, stored := time.Unix(100, 0), time.Unix(200, 0)
	last := reader.Message{Msg: nats.NewMsg("a"), Sequence: 7, Timestamp: stored}
	for _, test := range []struct {
		name    string
		status  reader.Status
		pending bool
		want    reader.Position
		known   bool
	}{
		{
			"all is in the output", reader.Status{State: reader.StateIdle, Stream: "S", StreamCreated: created, Cursor: 7}, true,
			reader.Position{Stream: "S", StreamCreated: created, Sequence: 7, Time: stored}, true,
		},
		{
			"the reader stands behind its last message: another stream, or skipped", reader.Status{State: reader.StateReading, Stream: "S", StreamCreated: created, Cursor: 100}, false,
			reader.Position{Stream: "S", StreamCreated: created, Sequence: 100}, true,
		},
		{
			"more is buffered", reader.Status{State: reader.StateReading, Stream: "S", StreamCreated: created, Cursor: 9, Buffered: 2}, true,
			reader.Position{Sequence: 7, Time: stored}, true,
		},
		{
			"between two sessions the cursor may be of another stream", reader.Status{State: reader.StateRecovering, Stream: "S", StreamCreated: created, Cursor: 100}, true,
			reader.Position{Sequence: 7, Time: stored}, true,
		},
		{
			"between two sessions and nothing new", reader.Status{State: reader.StateRecovering, Stream: "S", StreamCreated: created, Cursor: 100}, false,
			reader.Position{}, false,
		},
	} {
		f := &resumeFile{last: last, pending: test.pending}
		got, known := f.place(test.status)
		if known != test.known || known && got != test.want {
			t.Errorf("%s: got %+v, %v, want %+v, %v", test.name, got, known, test.want, test.known)
		}
	}
}
