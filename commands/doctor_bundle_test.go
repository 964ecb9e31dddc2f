package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// What stood in a bundle's place is lost only to a whole new one; a link stays a link.
func TestWriteBundle(t *testing.T) {
	f := doctor.Facts{Schema: doctor.FactsSchema, Stream: "S"}
	dir := t.TempDir()
	path := filepath.Join(dir, "facts.gz")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(temporary(path), 0o700); err != nil { // in the way of the new one
		t.Fatal(err)
	}
	if err := writeBundle(path, f); err == nil {
		t.Error("a bundle that could not be written is no error")
	}
	if old, err := os.ReadFile(path); string(old) != "old" {
		t.Errorf("the old bundle is %q, %v", old, err)
	}
	_ = os.Remove(temporary(path)) //nolint:errcheck // a failure may have taken it away
	to := path
	if runtime.GOOS != "windows" {
		to = filepath.Join(dir, "link")
		if err := os.Symlink(path, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeBundle(to, f); err != nil {
		t.Fatal(err)
	}
	got, err := readBundle(path)
	if err != nil || got.Stream != "S" {
		t.Errorf("read %+v, %v", got, err)
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Name() != "facts.gz" && e.Name() != "link" {
			t.Errorf("%s is left", e.Name())
		}
	}
}
