package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// Environment variables that choose the server where Options.ServerBin is
// empty, so that every test that faces a server runs on another one unchanged.
const (
	// ServerBinVariable holds the path of a nats-server binary. It wins over
	// ServerVersionVariable.
	ServerBinVariable = "NATS_READER_SERVER_BIN"
	// ServerVersionVariable holds a version such as 2.10.22, taken from the
	// cache that scripts/servers.sh fills; Start fails when it is not there.
	ServerVersionVariable = "NATS_READER_SERVER_VERSION"
	// CacheVariable holds the folder of that cache; the default is
	// nats-reader/servers below $XDG_CACHE_HOME or ~/.cache.
	CacheVariable = "NATS_READER_SERVERS"
)

// EmbeddedVersion is the version of the embedded nats-server.
const EmbeddedVersion = server.VERSION

// Versions lists the versions of nats-server that this module is tested with, the oldest first: those that
// scripts/servers.sh builds, and the embedded one.
func Versions() []string {
	return []string{"2.10.7", "2.10.22", "2.11.17", "2.12.15", "2.14.0", "2.14.10", EmbeddedVersion}
}

// ErrNotCached says that a server version was not built yet.
var ErrNotCached = errors.New("nats-server is not in the cache")

// CachedServer returns the path of the nats-server binary of a version
// ("2.10.22") in the cache that scripts/servers.sh fills. The error wraps
// ErrNotCached, and says how to build it, when it is not there.
func CachedServer(version string) (string, error) {
	version = strings.TrimPrefix(version, "v")
	if version == "" || strings.ContainsAny(version, `/\`) {
		return "", fmt.Errorf("%q is no version of nats-server: give one such as 2.10.22", version)
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, version, "nats-server")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("version %s (%s): %w: build it with scripts/servers.sh %s", version, path, ErrNotCached, version)
	}
	return path, nil
}

// cacheFolder is where scripts/servers.sh keeps its builds: the same rule as there.
func cacheFolder() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "nats-reader", "servers"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the cache of nats-servers: set %s: %w", CacheVariable, err)
	}
	return filepath.Join(home, ".cache", "nats-reader", "servers"), nil
}

// serverBinary is the absolute path of the binary to run; "" is the embedded
// server.
func serverBinary(asked string) (string, error) {
	from := "Options.ServerBin"
	if asked == "" {
		asked, from = os.Getenv(ServerBinVariable), ServerBinVariable
	}
	if asked == "" {
		version := os.Getenv(ServerVersionVariable)
		if version == "" {
			return "", nil
		}
		path, err := CachedServer(version)
		if err != nil {
			return "", fmt.Errorf("%s: %w", ServerVersionVariable, err)
		}
		return filepath.Abs(path)
	}
	path, err := exec.LookPath(asked)
	if err != nil {
		return "", fmt.Errorf("%s: no server can be run there: %w", from, err)
	}
	return filepath.Abs(path)
}
