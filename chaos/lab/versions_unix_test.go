//go:build unix

package lab_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// cacheThisBinary puts this test binary into a cache of its own as a server of
// that version and lets it act as one.
func cacheThisBinary(t *testing.T, version string) (path string) {
	t.Helper()
	cache := t.TempDir()
	path = filepath.Join(cache, version, "nats-server")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self(t), path); err != nil {
		t.Fatal(err)
	}
	t.Setenv(lab.CacheVariable, cache)
	t.Setenv(actVariable, actServer)
	return path
}

func TestCachedServer(t *testing.T) {
	want := cacheThisBinary(t, "2.10.99")
	for _, version := range []string{"2.10.99", "v2.10.99"} {
		if got, err := lab.CachedServer(version); got != want || err != nil {
			t.Errorf("CachedServer(%s) is %s, %v; want %s", version, got, err, want)
		}
	}
	_, err := lab.CachedServer("2.10.98")
	if !errors.Is(err, lab.ErrNotCached) || !strings.Contains(err.Error(), "scripts/servers.sh 2.10.98") {
		t.Errorf("CachedServer of what is not there: %v, want ErrNotCached and how to build it", err)
	}
	for _, nonsense := range []string{"", "../2.10.99"} {
		if _, err := lab.CachedServer(nonsense); err == nil || errors.Is(err, lab.ErrNotCached) {
			t.Errorf("CachedServer(%q): %v, want it called no version", nonsense, err)
		}
	}
}

func TestVersionsAreThoseOfTheScript(t *testing.T) {
	listed, err := exec.Command("../../scripts/servers.sh", "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append(strings.Fields(string(listed)), lab.EmbeddedVersion)
	if got := lab.Versions(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheEnvironmentChoosesTheServer(t *testing.T) {
	cached := cacheThisBinary(t, "2.10.99")
	other := filepath.Join(t.TempDir(), "other-server")
	if err := os.Symlink(self(t), other); err != nil {
		t.Fatal(err)
	}
	t.Setenv(lab.ServerBinVariable, "")
	t.Setenv(lab.ServerVersionVariable, "2.10.99")
	if got := start(t, lab.Options{}).Binary(); got != cached {
		t.Errorf("with a version in the environment %s runs, want %s", got, cached)
	}
	if got := start(t, lab.Options{ServerBin: other}).Binary(); got != other {
		t.Errorf("with ServerBin set %s runs, want %s", got, other)
	}
	t.Setenv(lab.ServerVersionVariable, "2.10.98")
	if _, err := lab.Start(patient(t), lab.Options{}); !errors.Is(err, lab.ErrNotCached) ||
		!strings.Contains(err.Error(), lab.ServerVersionVariable) {
		t.Errorf("with a version that is not cached: %v, want ErrNotCached and the variable", err)
	}
	t.Setenv(lab.ServerBinVariable, other)
	if got := start(t, lab.Options{}).Binary(); got != other {
		t.Errorf("with a binary in the environment %s runs, want %s", got, other)
	}
}
