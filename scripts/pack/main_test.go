//go:build !windows

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)

// tree writes a folder name-1.0 with a program and two texts, with times and modes of its own.
func tree(t *testing.T, program os.FileMode, when time.Time) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "name-1.0")
	for name, mode := range map[string]os.FileMode{"program": program, "README": 0o600, "man/page.1": 0o664} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("the text of "+name), mode); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(path, mode), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func packed(t *testing.T, name, folder string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	if err := pack(to, at, []string{folder}); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	for _, name := range []string{"a.tar.gz", "a.zip"} {
		one := packed(t, name, tree(t, 0o700, time.Now()))
		other := packed(t, name, tree(t, 0o755, time.Now().Add(-time.Hour)))
		if !bytes.Equal(one, other) {
			t.Errorf("%s differs", name)
		}
	}
}

var want = []string{"name-1.0/README -rw-r--r--", "name-1.0/man/page.1 -rw-r--r--", "name-1.0/program -rwxr-xr-x"}

func TestTar(t *testing.T) {
	zipped, err := gzip.NewReader(bytes.NewReader(packed(t, "a.tar.gz", tree(t, 0o700, time.Now()))))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || string(text) != "the text of "+strings.TrimPrefix(h.Name, "name-1.0/") {
			t.Errorf("%s is %q, %v", h.Name, text, err)
		}
		if !h.ModTime.Equal(at) || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%+v", h)
		}
		got = append(got, h.Name+" "+h.FileInfo().Mode().String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestZip(t *testing.T) {
	archive := packed(t, "a.zip", tree(t, 0o700, time.Now()))
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.File {
		if !f.Modified.Equal(at) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
		got = append(got, f.Name+" "+f.Mode().String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What cannot be packed is told, and leaves no archive.
func TestWrongInput(t *testing.T) {
	linked := tree(t, 0o700, time.Now())
	if err := os.Symlink("README", filepath.Join(linked, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		to, want string
		folders  []string
	}{
		{"a.rar", "want a name that ends with", []string{linked}},
		{"a.zip", "0 folders", nil},
		{"a.zip", "no such file", []string{linked + "-not"}},
		{"a.tar.gz", "link is no regular file", []string{linked}},
	} {
		to := filepath.Join(t.TempDir(), c.to)
		if err := pack(to, at, c.folders); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: %v, want %q", c.to, c.folders, err, c.want)
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%s was left", c.to)
		}
	}
}
