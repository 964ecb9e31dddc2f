package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/owner"
)

// Leftover is a temporary folder of a lab in this or any other process of this user. A keeper removes its
// folder whatever happens to others; only one that was killed itself, or went down with the machine, leaves it.
type Leftover struct {
	Dir       string
	Lab       owner.Life // of the process that started the keeper; dead: the keeper is about to go
	Keeper    owner.Life // of the process that owns it
	KeeperPID int        // 0: unknown
	Processes []int      // servers that still run from it
}

// ErrKeeperLives is returned by Remove for a folder whose keeper is alive, or may be.
var ErrKeeperLives = errors.New("the keeper of the folder is not known to be dead")

// Leftovers lists the lab's temporary folders of this user, those in use too.
func Leftovers() ([]Leftover, error) {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("folders of labs: %w", err)
	}
	var all []Leftover
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ours(info) {
			continue // gone meanwhile, or somebody else's
		}
		l := Leftover{Dir: dir}
		l.look()
		if l.Processes, err = serversOf(dir); err != nil {
			return all, fmt.Errorf("processes of %s: %w", dir, err)
		}
		all = append(all, l)
	}
	return all, nil
}

func (l *Leftover) look() {
	l.Lab, _ = owner.Of(filepath.Join(l.Dir, labMark))
	l.Keeper, l.KeeperPID = owner.Of(filepath.Join(l.Dir, keeperMark))
}

// Leaving says whether the keeper lives, and the process that started it does not: it ends its server and
// removes the folder.
func (l Leftover) Leaving() bool { return l.Keeper == owner.Alive && l.Lab == owner.Dead }

// Settle waits for what passes by itself, at most for a few seconds, and says whether the folder is gone: a
// keeper that is leaving, and the moments before a keeper has its mark and after it gave it back.
func (l *Leftover) Settle() (gone bool) {
	const leaving, unmarked = 15 * time.Second, 2 * time.Second
	settled := func() bool {
		l.look()
		_, err := os.Lstat(l.Dir)
		gone = errors.Is(err, os.ErrNotExist)
		return gone || l.Keeper != owner.Unknown
	}
	if !ask(20*time.Millisecond, unmarked, settled) || gone || !l.Leaving() {
		return gone
	}
	ask(20*time.Millisecond, leaving, func() bool { return settled() && !l.Leaving() })
	if !gone && l.Keeper == owner.Unknown { // it gave its mark back at the last moment
		ask(20*time.Millisecond, unmarked, settled)
	}
	return gone
}

// Remove kills the servers that still run from the folder and removes it. It does neither unless the keeper
// is dead at this moment: ErrKeeperLives.
func (l Leftover) Remove() error {
	const limit = 10 * time.Second
	if life, _ := owner.Of(filepath.Join(l.Dir, keeperMark)); life != owner.Dead {
		return fmt.Errorf("remove %s: %w", l.Dir, ErrKeeperLives)
	}
	var left []int
	var err error
	ended := ask(20*time.Millisecond, limit, func() bool {
		if left, err = serversOf(l.Dir); err != nil || len(left) == 0 {
			return true
		}
		for _, pid := range left {
			if p, found := os.FindProcess(pid); found == nil {
				_ = p.Kill() // one that is gone meanwhile is not found the next time
			}
		}
		return false
	})
	switch {
	case err != nil:
		return fmt.Errorf("processes of %s: %w", l.Dir, err)
	case !ended:
		return fmt.Errorf("remove %s: processes %v are still there %s after KILL", l.Dir, left, limit)
	}
	return removeFolder(l.Dir)
}

// runsFrom says whether a command line is that of a server of the lab's with its config in the folder.
func runsFrom(dir string, args []string) bool {
	for i := 0; i+1 < len(args); i++ {
		if args[i] == "-c" && args[i+1] == filepath.Join(dir, mainConfig) {
			return true
		}
	}
	return false
}

// words cuts what separates the arguments of a listed command line.
func words(line, separator string) []string {
	return strings.Split(strings.TrimSuffix(line, separator), separator)
}
