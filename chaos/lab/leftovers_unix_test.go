//go:build unix

package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

func leftover(t *testing.T, dir string) Leftover {
	t.Helper()
	all, err := Leftovers()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(l Leftover) bool { return l.Dir == dir })
	if i < 0 {
		t.Fatalf("%s is not among %+v", dir, all)
	}
	return all[i]
}

func TestLabInUseIsSpared(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := leftover(t, s.TempDir())
	if l.Keeper != owner.Alive || !slices.Contains(l.Processes, s.PID()) {
		t.Errorf("a lab in use, server %d: %+v", s.PID(), l)
	}
	if err := l.Remove(); !errors.Is(err, ErrKeeperLives) {
		t.Errorf("got %v", err)
	}
	if !s.Running() {
		t.Error("its server was ended")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if all, err := Leftovers(); err != nil || len(all) != 0 {
		t.Errorf("after Close: %+v, %v", all, err)
	}
}

// Whoever cleans up right behind a lab that was killed waits for its keeper, who removes the folder.
func TestKeeperOfADeadLabIsWaitedFor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := leftover(t, s.TempDir())
	if l.Lab != owner.Alive || l.Leaving() || l.Settle() {
		t.Errorf("a lab in use: %+v", l)
	}
	if err := s.hold.life.Abandon(); err != nil { // as the system does for a process that is killed
		t.Fatal(err)
	}
	s.hold.life = nil
	l = leftover(t, s.TempDir())
	if !l.Leaving() {
		t.Errorf("its process is dead: %+v", l)
	}
	gone := make(chan bool)
	go func() { gone <- l.Settle() }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !<-gone {
		t.Errorf("it did not wait for the end: %+v", l)
	}
}

// A script that starts a server survives a keeper that is killed, and so does its folder.
func TestLeftoverIsRemoved(t *testing.T) {
	temp := t.TempDir()
	dir := filepath.Join(temp, tempPrefix+"1")
	if err := os.MkdirAll(filepath.Join(dir, tempStore), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	if l := leftover(t, dir); l.Keeper != owner.Unknown || !errors.Is(l.Remove(), ErrKeeperLives) {
		t.Errorf("a folder without a mark: %+v", l)
	}
	// A process that no longer exists.
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, keeperMark), []byte(strconv.Itoa(gone.Process.Pid)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("sh", "-c", "echo up; read line", "nats-server", "-c", filepath.Join(dir, mainConfig))
	stdin, err := orphan.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() //nolint:errcheck // it is killed
	var said strings.Builder
	up := make(chan struct{})
	orphan.Stdout = onWrite{&said, up}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	<-up
	ended := make(chan error, 1)
	go func() { ended <- orphan.Wait() }()
	l := leftover(t, dir)
	if l.Keeper != owner.Dead || l.KeeperPID != gone.Process.Pid || !slices.Equal(l.Processes, []int{orphan.Process.Pid}) {
		t.Errorf("server %d: %+v", orphan.Process.Pid, l)
	}
	if err := l.Remove(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

// onWrite tells the first write.
type onWrite struct {
	*strings.Builder
	first chan struct{}
}

func (w onWrite) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		close(w.first)
	}
	return w.Builder.Write(p)
}
