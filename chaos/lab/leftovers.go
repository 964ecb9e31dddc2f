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
		l.Keeper, l.KeeperPID = owner.Of(filepath.Join(dir, keeperMark))
		if l.Processes, err = serversOf(dir); err != nil {
			return all, fmt.Errorf("processes of %s: %w", dir, err)
		}
		all = append(all, l)
	}
	return all, nil
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
