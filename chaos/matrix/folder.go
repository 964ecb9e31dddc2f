package matrix

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/owner"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// Errors of a folder.
var (
	ErrOtherSettings = errors.New("the folder holds cells of another matrix")
	ErrInUse         = errors.New("another process plays a matrix in this folder")
	ErrForeign       = errors.New("the folder is not empty, and holds no matrix")
)

// Folder keeps the cells of one matrix:
//
//	matrix.json       its settings
//	cells/            what came of each cell, a file each
//	runs/             of each that did not hold, the whole run as JSON and as a page
//
// A file is there as a whole or not at all.
type Folder struct {
	path string
	mark *owner.Mark
	done []Outcome
}

// The names within a folder.
const (
	settingsFile = "matrix.json"
	cellsFolder  = "cells"
	runsFolder   = "runs"
	markFile     = ".playing"
	halfWritten  = ".half-"
)

// OpenFolder opens a folder for a matrix, or makes it. One that holds cells of other settings is refused, and so is
// one that another process is at work in. Close it.
func OpenFolder(path string, s Settings) (*Folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("the folder of the cells: %w", err)
	}
	mark, err := owner.Take(filepath.Join(path, markFile))
	if err != nil {
		if life, pid := owner.Of(filepath.Join(path, markFile)); life == owner.Alive {
			return nil, fmt.Errorf("%s: %w (process %d)", path, ErrInUse, pid)
		}
		return nil, fmt.Errorf("the folder of the cells: %w", err)
	}
	f := &Folder{path: path, mark: mark}
	if err := f.begin(s); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// begin compares the settings, or writes them, and reads what is there.
func (f *Folder) begin(s Settings) error {
	text, err := os.ReadFile(filepath.Join(f.path, settingsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.empty(); err != nil {
			return err
		}
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return err
		}
		if err := f.write(settingsFile, append(text, '\n')); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("the settings of the cells: %w", err)
	default:
		if err := f.alike(text, s); err != nil {
			return err
		}
	}
	for _, sub := range []string{cellsFolder, runsFolder} {
		if err := os.MkdirAll(filepath.Join(f.path, sub), 0o755); err != nil {
			return fmt.Errorf("the folder of the cells: %w", err)
		}
	}
	return f.read()
}

// empty says that nothing of others is in the folder.
func (f *Folder) empty() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("the folder of the cells: %w", err)
	}
	for _, e := range entries {
		if e.Name() != markFile && !strings.HasPrefix(e.Name(), halfWritten) {
			return fmt.Errorf("%s: %w (there is %s)", f.path, ErrForeign, e.Name())
		}
	}
	return nil
}

func (f *Folder) alike(text []byte, s Settings) error {
	path := filepath.Join(f.path, settingsFile)
	err := ofSchema(text, SettingsSchema)
	var before Settings
	if err == nil {
		err = result.Strictly(text, &before)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if other := before.Differences(s); len(other) > 0 {
		return fmt.Errorf("%s: %w: %s", f.path, ErrOtherSettings, strings.Join(other, "; "))
	}
	return nil
}

// read takes in the cells that are there, and removes what a killed process has half written.
func (f *Folder) read() error {
	for _, sub := range []string{".", cellsFolder, runsFolder} {
		half, err := filepath.Glob(filepath.Join(f.path, sub, halfWritten+"*"))
		if err != nil {
			return err
		}
		for _, path := range half {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("what was half written: %w", err)
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(f.path, cellsFolder))
	if err != nil {
		return fmt.Errorf("the folder of the cells: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(f.path, cellsFolder, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("a finished cell: %w", err)
		}
		var o Outcome
		if err = ofSchema(text, OutcomeSchema); err == nil {
			err = result.Strictly(text, &o)
		}
		if err == nil && e.Name() != o.file(".json") {
			err = fmt.Errorf("it holds the cell %s", o.Cell)
		}
		if err != nil {
			return fmt.Errorf("a finished cell: %s: %w", path, err)
		}
		f.done = append(f.done, o)
	}
	return nil
}

// Done are the cells that were finished before.
func (f *Folder) Done() []Outcome { return f.done }

// Keep writes down a finished cell, and its run where the contract was not held.
func (f *Folder) Keep(o Outcome, r result.Run) error {
	if o.Finding != oracle.Held {
		for _, form := range []report.Format{report.JSON, report.HTML} {
			var text bytes.Buffer
			if err := report.Write(&text, form, r); err != nil {
				return fmt.Errorf("keep cell %s: %w", o.Cell, err)
			}
			if err := f.write(filepath.Join(runsFolder, o.file(form.Extension())), text.Bytes()); err != nil {
				return fmt.Errorf("keep cell %s: %w", o.Cell, err)
			}
		}
	}
	text, err := json.MarshalIndent(o, "", "  ")
	if err == nil {
		err = f.write(filepath.Join(cellsFolder, o.file(".json")), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep cell %s: %w", o.Cell, err)
	}
	return nil
}

// write makes or replaces a file as a whole.
func (f *Folder) write(name string, text []byte) error {
	path := filepath.Join(f.path, name)
	half, err := os.CreateTemp(filepath.Dir(path), halfWritten+"*")
	if err != nil {
		return err
	}
	_, err = half.Write(text)
	if err == nil {
		err = half.Sync()
	}
	if err == nil {
		err = half.Chmod(0o644)
	}
	if err = errors.Join(err, half.Close()); err == nil {
		err = os.Rename(half.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(half.Name()))
	}
	return nil
}

// Close lets others use the folder.
func (f *Folder) Close() error { return f.mark.Release() }

// longestFile bounds the name of a target within that of a file.
const longestFile = 40

// file is the name of a cell's file.
func (c Cell) file(extension string) string {
	target := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, c.Target)
	if target != c.Target || len(target) > longestFile {
		sum := sha256.Sum256([]byte(c.Target))
		target = target[:min(len(target), longestFile)] + "-" + hex.EncodeToString(sum[:4])
	}
	return fmt.Sprintf("%s~%s~%s~%d%s", c.Server, c.Fault, target, c.Round, extension)
}
