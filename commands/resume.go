package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// saveEvery is how often the position of messages is written at most.
const saveEvery = 100 * time.Millisecond

// resumeFile keeps a reader's position in a file. It is written as a whole: a
// crash at any moment leaves the old one or the new one. Nil keeps nothing.
type resumeFile struct {
	path    string
	from    uint64          // the sequence that the command line starts at; 0: another start
	last    reader.Message  // the newest in the output; the zero value: none yet
	pending bool            // last is not written yet
	kept    reader.Position // what the file holds
	saved   time.Time       // when a message's position was written

	mu    sync.Mutex
	moved bool                    // the reader may stand elsewhere than its last message says
	wake  context.CancelCauseFunc // ends the wait for messages; nil: none waits
}

// resumeOf opens the file of --resume and lets the reader go on from it.
func resumeOf(c *cli.Context, cfg *reader.Config) (*resumeFile, error) {
	path := c.String(flagResume)
	if path == "" {
		if c.IsSet(flagResume) {
			return nil, usage{problem: "flag --resume: the name of the file is empty"}
		}
		return nil, nil
	}
	if cfg.Durable != "" {
		return nil, usage{problem: "flags --resume and --durable exclude each other", hint: "a durable keeps its position on the server"}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, usage{problem: fmt.Sprintf("flag --resume: there is no folder %s", filepath.Dir(path)), hint: "make it first"}
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &resumeFile{path: path, from: c.Uint64(flagFrom)}, writable(path)
	}
	if err != nil {
		return nil, usage{problem: fmt.Sprintf("flag --resume: %v", err), cause: err}
	}
	var position reader.Position
	if err := json.Unmarshal(data, &position); err != nil {
		return nil, usage{problem: fmt.Sprintf("flag --resume: %s holds no position: %v", path, err), hint: "name another file, or remove this one to start anew", cause: err}
	}
	if cfg.Stream != "" && position.Stream != "" && position.Stream != cfg.Stream {
		return nil, usage{problem: fmt.Sprintf("flag --resume: %s is a position in stream %s, not in %s", path, position.Stream, cfg.Stream), hint: "use a file for each stream"}
	}
	cfg.Start = reader.FromPosition(position)
	return &resumeFile{path: path, kept: position}, writable(path)
}

// writable tries whether a position can be written, before there is output that
// would be repeated for want of it.
func writable(path string) error {
	f, err := os.OpenFile(temporary(path), os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(temporary(path)))
	}
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --resume: %s cannot be written: %v", path, err), hint: "name a file in a folder that can be written to", cause: err}
	}
	return nil
}

// reached tells the last message that was put into the output.
func (f *resumeFile) reached(m reader.Message) {
	if f != nil {
		f.last, f.pending = m, true
	}
}

// due gives when the position must be written, if it must.
func (f *resumeFile) due() (time.Time, bool) {
	if f == nil || !f.pending {
		return time.Time{}, false
	}
	return f.saved.Add(saveEvery), true
}

func (f *resumeFile) overdue() bool {
	due, pending := f.due()
	return pending && !time.Now().Before(due)
}

// moves looks out for what moves the reader without a message: a session of another
// stream, or one that passes messages over. It is called by the reader's observer.
func (f *resumeFile) moves(e reader.Event) {
	if f == nil {
		return
	}
	switch e.Kind {
	case session.KindSessionReplaced, session.KindSkipped:
	default:
		return // what else moves it ends in one of these
	}
	f.mu.Lock()
	f.moved = true
	wake := f.wake
	f.wake = nil
	f.mu.Unlock()
	if wake != nil {
		wake(errSaveDue)
	}
}

// waiting gives what ends a wait for messages when the reader moves; false: it has
// moved already.
func (f *resumeFile) waiting(wake context.CancelCauseFunc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wake = wake
	return !f.moved
}

// place gives where to go on once the output is flushed. All that the reader has
// accepted is in the output where it holds nothing back: then its cursor counts,
// which also follows a stream that was made anew. A reader between two sessions may
// know the new stream and not its own place in it: the last message counts.
func (f *resumeFile) place(s reader.Status) (reader.Position, bool) {
	if !settled(s.State) || s.Buffered > 0 {
		return f.last.Position(), f.pending
	}
	p := reader.Position{Stream: s.Stream, StreamCreated: s.StreamCreated, Sequence: s.Cursor}
	if f.last.Msg != nil && f.last.Sequence == s.Cursor {
		p.Time = f.last.Timestamp
	}
	if p.Time.IsZero() && sameMessage(f.kept, p) {
		p.Time = f.kept.Time
	}
	return p, !f.beyond(p, s)
}

// settled says that the reader has a session that answers.
func settled(s reader.State) bool {
	switch s {
	case reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks, reader.StateBufferFull:
		return true
	case reader.StateOpening, reader.StateRecovering, reader.StateDisconnected, reader.StateClosed:
	}
	return false
}

func sameMessage(a, b reader.Position) bool {
	return a.Stream == b.Stream && a.StreamCreated.Equal(b.StreamCreated) && a.Sequence == b.Sequence
}

// begin writes where a reader begins: what comes from here on is not to be missed,
// also where this run ends before its first message.
func (f *resumeFile) begin(r *reader.Reader) error {
	if f == nil {
		return nil
	}
	if p := r.Position(); !f.beyond(p, r.Status()) {
		return f.keep(p)
	}
	return nil
}

// beyond says that a reader may still wait for --from beyond the end of the stream.
// No message was ever there: a position there would read as one in a stream that was
// rolled back. The same command line says the same the next time.
func (f *resumeFile) beyond(p reader.Position, s reader.Status) bool {
	return f.from > 0 && p.Sequence+1 == f.from && p.Time.IsZero() && s.Pending == 0
}

// save writes the position, after the output up to it was flushed.
func (f *resumeFile) save(r *reader.Reader) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	f.moved = false
	f.mu.Unlock()
	p, known := f.place(r.Status())
	if !known {
		return nil
	}
	if err := f.keep(p); err != nil {
		return err
	}
	if f.pending {
		// Only these are paced: a reader that is killed again and again gets on.
		f.pending, f.saved = false, time.Now()
	}
	return nil
}

// keep writes a position that is another than the file's.
func (f *resumeFile) keep(p reader.Position) error {
	if sameMessage(f.kept, p) && f.kept.Time.Equal(p.Time) {
		return nil
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = replaceFile(f.path, append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the position to %s: %w", f.path, err)
	}
	f.kept = p
	return nil
}

// temporary is where a file is written before it takes its place. The name is fixed:
// what a crash leaves is overwritten the next time.
func temporary(path string) string { return path + ".new" }

// replaceFile puts data in the place of a file so that after a crash there is the
// old content or the new one.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	temporary := temporary(path)
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the new name last over a power cut; Windows has no such call.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
