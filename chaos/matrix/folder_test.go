package matrix

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

func settingsOf(t *testing.T, m Matrix) Settings {
	t.Helper()
	s, err := m.Settings()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t *testing.T, path string, m Matrix) *Folder {
	t.Helper()
	f, err := OpenFolder(path, settingsOf(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func closed(t *testing.T, f *Folder) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestFolderKeeps(t *testing.T) {
	m := small(t)
	m.Targets[1] = "exec:node 'a/b' | tee ../../c " + strings.Repeat("long ", 100)
	path := filepath.Join(t.TempDir(), "new", "folder")
	f := opened(t, path, m)
	if len(f.Done()) != 0 {
		t.Errorf("%v is done in a new folder", f.Done())
	}
	held := Outcome{Schema: OutcomeSchema, Cell: m.Cells()[0], Finding: oracle.Held, End: Reads}
	broken := Outcome{Schema: OutcomeSchema, Cell: m.Cells()[1], Finding: oracle.Broken, End: Deaf}
	for _, o := range []Outcome{held, broken} {
		if err := f.Keep(o, result.Run{Name: o.Fault}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, f)
	runs, err := filepath.Glob(filepath.Join(path, runsFolder, "*"))
	if err != nil || len(runs) != 2 {
		t.Errorf("%v, %v", runs, err)
	}
	// What a killed process has half written is not a cell.
	half := filepath.Join(path, cellsFolder, halfWritten+"1")
	if err := os.WriteFile(half, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	f = opened(t, path, m)
	defer closed(t, f)
	if len(f.Done()) != 2 || f.Done()[0].Cell != broken.Cell && f.Done()[1].Cell != broken.Cell {
		t.Errorf("%v", f.Done())
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if missing := m.Missing(f.Done()); len(missing) != 2 {
		t.Errorf("%v", missing)
	}
}

func TestFolderRefuses(t *testing.T) {
	m := small(t)
	path := t.TempDir()
	f := opened(t, path, m)
	if _, err := OpenFolder(path, settingsOf(t, m)); !errors.Is(err, ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	o := Outcome{Schema: OutcomeSchema, Cell: m.Cells()[0], Finding: oracle.Held}
	if err := f.Keep(o, result.Run{}); err != nil {
		t.Fatal(err)
	}
	closed(t, f)

	other := small(t)
	other.Seed = 9
	if _, err := OpenFolder(path, settingsOf(t, other)); !errors.Is(err, ErrOtherSettings) || !strings.Contains(err.Error(), "seed 1 there, 9 here") {
		t.Errorf("other settings: %v", err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cell := filepath.Join(cellsFolder, o.file(".json"))
	good, err := os.ReadFile(filepath.Join(path, cell))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cut short": string(good[:len(good)/2]), "another cell": strings.Replace(string(good), "quick-deleted", "quick-cut", 1), "another schema": "{}"} {
		write(cell, text)
		if _, err := OpenFolder(path, settingsOf(t, m)); err == nil || !strings.Contains(err.Error(), o.file(".json")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(cell, string(good))
	write(settingsFile, "{}")
	if _, err := OpenFolder(path, settingsOf(t, m)); !errors.Is(err, ErrSchema) {
		t.Errorf("settings of another schema: %v", err)
	}

	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(foreign, settingsOf(t, m)); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("a folder of others: %v", err)
	}
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
		t.Errorf("it left something there: %v, %v", entries, err)
	}
	if _, err := OpenFolder(filepath.Join(foreign, "thesis.txt"), settingsOf(t, m)); err == nil {
		t.Error("a file is a folder")
	}
}

// A cell that cannot be kept is an error, and no half of it is there.
func TestFolderGone(t *testing.T) {
	m := small(t)
	path := filepath.Join(t.TempDir(), "f")
	f := opened(t, path, m)
	if err := os.RemoveAll(filepath.Join(path, cellsFolder)); err != nil {
		t.Fatal(err)
	}
	err := f.Keep(Outcome{Schema: OutcomeSchema, Cell: m.Cells()[0], Finding: oracle.Held}, result.Run{})
	if err == nil || !strings.Contains(err.Error(), "keep cell reader quick-deleted on embedded") {
		t.Errorf("%v", err)
	}
	closed(t, f)
}
