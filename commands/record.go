package commands

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/tui"
)

// The schemas of a record's lines, beside those of watch's JSON lines.
const (
	recordSchema   = "nats-reader/record/v1"
	snapshotSchema = "nats-reader/snapshot/v1"
	contractSchema = "nats-reader/contract/v1"
)

// recordEvery is how often a record has where the reader stands.
const recordEvery = 500 * time.Millisecond

// recordHead is the first line of a record.
type recordHead struct {
	Schema  string   `json:"schema"`
	Type    string   `json:"type"`
	Time    string   `json:"time"`
	Version string   `json:"version"`
	Title   string   `json:"title"`
	Where   string   `json:"where,omitempty"`
	Readers []string `json:"readers,omitempty"` // by Reader; one reader needs none
}

// snapshotJSON is where a reader stands.
type snapshotJSON struct {
	Schema string        `json:"schema"`
	Type   string        `json:"type"`
	Time   time.Time     `json:"time"`
	Stored time.Time     `json:"stored,omitzero"` // the message that was handed out last
	Read   time.Time     `json:"read,omitzero"`
	Status reader.Status `json:"status"`
}

// contractJSON is what was judged so far.
type contractJSON struct {
	Schema string    `json:"schema"`
	Type   string    `json:"type"`
	Time   time.Time `json:"time"`
	tui.Contract
}

// recorder writes a run to a file as JSON lines, each one as soon as it is told: those of --format json, and
// where the reader stood meanwhile.
type recorder struct {
	*printer

	file *recordFile
	last map[string]time.Time // of the snapshots
	said []byte               // the contract that was written last
	mu   sync.Mutex
}

// newRecorder writes the head of a record. gone is called when the file takes no more.
func newRecorder(f *recordFile, head recordHead, gone func()) *recorder {
	r := &recorder{printer: &printer{json: true, out: f, gone: gone}, file: f}
	head.Schema, head.Type, head.Time = recordSchema, "record", stamp(time.Now())
	r.document(head)
	return r
}

// progress is told by snapshots.
func (r *recorder) progress(time.Time, reader.Status, float64) {}

func (r *recorder) snapshot(at time.Time, s reader.Status, h handed) {
	r.mu.Lock()
	due := r.due(s.Stream, at)
	r.mu.Unlock()
	if due {
		r.document(snapshotJSON{Schema: snapshotSchema, Type: "snapshot", Time: at.UTC(), Stored: h.stored, Read: h.read, Status: s})
	}
}

// due says whether it is time for a snapshot; mu is held.
func (r *recorder) due(key string, at time.Time) bool {
	if r.last == nil {
		r.last = map[string]time.Time{}
	}
	if last := r.last[key]; at.Sub(last) < recordEvery {
		return false
	}
	r.last[key] = at
	return true
}

// judged writes a contract that is not the one that was written last.
func (r *recorder) judged(at time.Time, v oracle.Verdict, final bool) {
	c := contractOf(v, final)
	b, err := json.Marshal(c)
	if err != nil {
		return // it always marshals
	}
	r.mu.Lock()
	same := string(b) == string(r.said)
	r.said = b
	r.mu.Unlock()
	if !same {
		r.document(contractJSON{Schema: contractSchema, Type: "contract", Time: at.UTC(), Contract: c})
	}
}

// sum writes the verdict as the last line.
func (r *recorder) sum(v oracle.Verdict, interrupted bool) {
	if r != nil {
		r.summary(v, interrupted)
	}
}

// recordFile is the file of a record. Every line is in it once Write has returned.
type recordFile struct {
	path   string
	hidden bool // nobody asked for it: it goes when the run is over

	mu  sync.Mutex
	f   *os.File
	err error
}

func createRecord(path string) (*recordFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, usage{problem: fmt.Sprintf("flag --%s: %v", flagRecord, err), hint: "name a file that can be written", cause: err}
	}
	return &recordFile{path: path, f: f}, nil
}

// createHiddenRecord makes a record for a later export.
func createHiddenRecord() (*recordFile, error) {
	f, err := os.CreateTemp("", "nats-reader-run-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("the run could not be kept for an export: %w", err)
	}
	return &recordFile{path: f.Name(), f: f, hidden: true}, nil
}

func (r *recordFile) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return 0, os.ErrClosed
	}
	n, err := r.f.Write(b)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}

// failure is the first write that failed.
func (r *recordFile) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// close ends the file, and says what could not be written to it.
func (r *recordFile) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	err := errors.Join(r.err, r.f.Close())
	r.f = nil
	if r.hidden {
		os.Remove(r.path) //nolint:errcheck // nobody asked for it
		return nil
	}
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagRecord, err), hint: "the record is not whole", cause: err}
	}
	return nil
}

// copyTo writes all lines so far.
func (r *recordFile) copyTo(w io.Writer) error {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, bufio.NewReader(f))
	return errors.Join(err, f.Close())
}
