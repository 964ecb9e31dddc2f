package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Load is a stream that is read: so many messages of one size.
type Load struct {
	Size  int // bytes of a payload, from MinSize
	Count int // messages
}

// MinSize is the size of a payload that has room for its number alone.
const MinSize = 8

// Pulls says how much the readers ask for ahead.
type Pulls string

// How much the readers ask for ahead.
const (
	Equal    Pulls = "equal"    // all of them Plan.Batch messages
	Defaults Pulls = "defaults" // each as its library has it by itself
)

// Plan says what is measured.
type Plan struct {
	Contestants []string // names of Contestants; the order of the first round
	Loads       []Load
	Rounds      int
	Pulls       []Pulls
	Batch       int           // messages asked for ahead by Equal
	Bases       []string      // contestants that the others are compared with; may be none
	Work        time.Duration // what the caller does with a message takes so long; 0: nothing is done
	Metadata    bool          // every contestant knows the stream sequence of each message
	Memory      bool          // the stream is kept in memory, not in files
	// Limit bounds one reading; 0: a minute, three times the work, and a second for each MiB of the stream, these two
	// up to 100 hours.
	Limit time.Duration
}

// The largest values that make sense.
const (
	MaxRounds = 1000
	MaxBatch  = 100_000
	MaxCount  = 1_000_000_000
)

// ErrPlan marks a plan that cannot be carried out as it is.
var ErrPlan = errors.New("plan of a bench")

// Check tells what is wrong with a plan. Errors wrap ErrPlan.
func (p Plan) Check() error {
	bad := func(field, format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrPlan, field, fmt.Sprintf(format, args...))
	}
	for _, list := range []struct {
		field string
		names []string
	}{{"Contestants", p.Contestants}, {"Bases", p.Bases}} {
		for i, name := range list.names {
			switch {
			case find(name) == nil:
				return bad(list.field, "%q is no contestant", name)
			case slices.Contains(list.names[:i], name):
				return bad(list.field, "%s is named twice", name)
			case !slices.Contains(p.Contestants, name):
				return bad(list.field, "%s is not among the contestants", name)
			}
		}
	}
	switch {
	case len(p.Contestants) == 0:
		return bad("Contestants", "there is none")
	case len(p.Loads) == 0:
		return bad("Loads", "there is none")
	case len(p.Pulls) == 0:
		return bad("Pulls", "there is none")
	case p.Rounds < 1 || p.Rounds > MaxRounds:
		return bad("Rounds", "%d is not 1 to %d", p.Rounds, MaxRounds)
	case p.Batch < 1 || p.Batch > MaxBatch:
		return bad("Batch", "%d is not 1 to %d", p.Batch, MaxBatch)
	case p.Work < 0:
		return bad("Work", "%s is below 0", p.Work)
	case p.Limit < 0:
		return bad("Limit", "%s is below 0", p.Limit)
	}
	for _, l := range p.Loads {
		switch {
		case l.Size < MinSize:
			return bad("Size", "%d is below %d: a payload has its number in it", l.Size, MinSize)
		case l.Count < 1 || l.Count > MaxCount:
			return bad("Count", "%d is not 1 to %d", l.Count, MaxCount)
		}
	}
	for _, pulls := range p.Pulls {
		if pulls != Equal && pulls != Defaults {
			return bad("Pulls", "%q is neither %s nor %s", pulls, Equal, Defaults)
		}
	}
	return nil
}

// limit bounds one reading of a load.
func (p Plan) limit(l Load) time.Duration {
	if p.Limit > 0 {
		return p.Limit
	}
	const least, rate, most = time.Minute, 1 << 20, 100 * time.Hour
	seconds := 3*p.Work.Seconds()*float64(l.Count) + float64(l.Size)*float64(l.Count)/rate
	return least + time.Duration(min(seconds, most.Seconds())*float64(time.Second))
}

func (p Plan) storage() jetstream.StorageType {
	if p.Memory {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// Readings is how many there are in all.
func (p Plan) Readings() int { return len(p.Loads) * len(p.Pulls) * p.Rounds * len(p.Contestants) }

// order is the order of n contestants in a round, counted from 0: each is first as often as any other, and behind
// each other one as often as before it.
func order(n, round int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = (i + round/2) % n
	}
	if round%2 == 1 {
		slices.Reverse(all)
	}
	return all
}
