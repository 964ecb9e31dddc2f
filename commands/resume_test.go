package commands

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestReplaceFileLeavesOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "position")
	// What a crash has left of an earlier write is overwritten.
	if err := os.WriteFile(path+".new", []byte("half of a much longer posi"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := replaceFile(path, []byte(text)); err != nil {
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
	if err := replaceFile(path, []byte("x")); err == nil {
		t.Error("a missing folder is no error")
	}
}
