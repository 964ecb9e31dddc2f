package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader"
)

// saveEvery is how often a position is written at most.
const saveEvery = 100 * time.Millisecond

// resumeFile keeps a reader's position in a file. It is written as a whole: a
// crash at any moment leaves the old one or the new one. Nil keeps nothing.
type resumeFile struct {
	path    string
	last    reader.Message
	pending bool // last is not written yet
	saved   time.Time
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
		return &resumeFile{path: path}, nil
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
	return &resumeFile{path: path}, nil
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

// save writes the position, after the output up to it was flushed.
func (f *resumeFile) save() error {
	if f == nil || !f.pending {
		return nil
	}
	data, err := json.Marshal(f.last.Position())
	if err == nil {
		err = replaceFile(f.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the position to %s: %w", f.path, err)
	}
	f.pending, f.saved = false, time.Now()
	return nil
}

// replaceFile puts data in the place of a file so that after a crash there is the
// old content or the new one. The name of the temporary file is fixed: what a
// crash leaves is overwritten the next time.
func replaceFile(path string, data []byte) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
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
