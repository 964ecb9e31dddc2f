package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

// JournalSchema is the schema of a journal's file.
const JournalSchema = "nats-reader/journal/v1"

const (
	journalSuffix = ".json"
	markSuffix    = ".mark" // held by the process the journal belongs to
)

// Journal keeps on disk what this process has to undo on servers, so that another
// process can when this one is killed. It has a file only while there is something
// in it. A nil Journal keeps nothing. Its methods are safe for concurrent use.
type Journal struct {
	dir   string
	place Place

	mu      sync.Mutex
	base    string // path of its files without the suffix; "" before the first
	mark    *owner.Mark
	entries []Entry
}

// journalFile is the document on disk.
type journalFile struct {
	Schema  string  `json:"schema"`
	PID     int     `json:"pid"`
	Entries []Entry `json:"entries"`
}

// JournalDir is the folder of the journals of this user.
func JournalDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the folder of the journal: %w", err)
	}
	return filepath.Join(cache, "nats-reader", "journal"), nil
}

// NewJournal makes an empty journal of faults on one place. Nothing is written yet.
func NewJournal(dir string, place Place) *Journal { return &Journal{dir: dir, place: place} }

// add keeps an entry; when it returns without an error the entry is on disk.
func (j *Journal) add(e Entry) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.open(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	e.Place = j.place
	j.entries = append(j.entries, e)
	if err := j.write(); err != nil {
		j.entries = j.entries[:len(j.entries)-1]
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// remove forgets an entry that is undone.
func (j *Journal) remove(id string) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool { return e.ID == id })
	if err := j.write(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Close ends the journal of this process and says how many faults it could not
// undo: these stay on disk.
func (j *Journal) Close() (left int, err error) {
	if j == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mark == nil {
		return 0, nil
	}
	mark := j.mark
	j.mark = nil
	if len(j.entries) > 0 {
		// The mark stays, and nobody holds it: this process is done with it.
		return len(j.entries), mark.Abandon()
	}
	return 0, mark.Release()
}

// open takes the mark before there is a file: one without would belong to nobody.
func (j *Journal) open() error {
	if j.mark != nil {
		return nil
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	j.base = filepath.Join(j.dir, fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano()))
	mark, err := owner.Take(j.base + markSuffix)
	j.mark = mark
	return err
}

func (j *Journal) write() error {
	return writeJournal(j.base+journalSuffix, journalFile{Schema: JournalSchema, PID: os.Getpid(), Entries: j.entries})
}

// writeJournal replaces the file as a whole, on disk when it returns; an empty one
// is removed.
func writeJournal(path string, f journalFile) error {
	if len(f.Entries) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = temp.Write(append(b, '\n'))
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	return err
}

// LeftJournal is the journal of another process, or of an earlier one.
type LeftJournal struct {
	Path    string
	Owner   owner.Life
	PID     int
	Entries []Entry
	Err     error // it cannot be read
}

// Journals lists the journals in a folder, those of living processes too.
func Journals(dir string) ([]LeftJournal, error) {
	marks, err := filepath.Glob(filepath.Join(dir, "*"+markSuffix))
	if err != nil {
		return nil, fmt.Errorf("journals: %w", err)
	}
	var all []LeftJournal
	for _, path := range marks {
		l := LeftJournal{Path: strings.TrimSuffix(path, markSuffix) + journalSuffix}
		l.Owner, l.PID = owner.Of(path)
		if l.PID == 0 {
			number, _, _ := strings.Cut(filepath.Base(path), "-")
			l.PID, _ = strconv.Atoi(number)
		}
		l.Entries, l.Err = readJournal(l.Path)
		all = append(all, l)
	}
	return all, nil
}

// readJournal reads what is to be undone; without a file that is nothing.
func readJournal(path string) ([]Entry, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var f journalFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	if f.Schema != JournalSchema {
		return nil, fmt.Errorf("journal %s: schema %q is not %s", path, f.Schema, JournalSchema)
	}
	return f.Entries, nil
}

// Done forgets an entry that is undone; behind the last one the files go.
func (l *LeftJournal) Done(id string) error {
	l.Entries = slices.DeleteFunc(l.Entries, func(e Entry) bool { return e.ID == id })
	if err := writeJournal(l.Path, journalFile{Schema: JournalSchema, PID: l.PID, Entries: l.Entries}); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if len(l.Entries) > 0 {
		return nil
	}
	return l.Remove()
}

// Remove removes the files of a journal in which nothing is left.
func (l *LeftJournal) Remove() error {
	base := strings.TrimSuffix(l.Path, journalSuffix)
	for _, path := range []string{l.Path, l.Path + ".new", base + markSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("journal: %w", err)
		}
	}
	return nil
}
