package plan

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"time"
)

// lots are the draws of one seed at one place. A draw depends on the seed, the place and
// what is drawn there; never on what was drawn before.
type lots struct {
	seed  uint64
	place string
}

// at are the draws of a place below this one.
func (l lots) at(place string, number int) lots {
	return lots{l.seed, l.place + "/" + place + "#" + strconv.Itoa(number)}
}

// below draws a number from 0 to n-1; of 0 it is 0.
func (l lots) below(what string, n int) int {
	if n < 1 {
		return 0
	}
	place := fnv.New64a()
	place.Write([]byte(l.place + ":" + what)) //nolint:errcheck // a hash never fails
	drawn, _ := bits.Mul64(rand.NewPCG(l.seed, place.Sum64()).Uint64(), uint64(n))
	return int(drawn) //nolint:gosec // below n
}

// one draws one of some words.
func (l lots) one(what string, of ...string) string { return of[l.below(what, len(of))] }

// number draws a number between two, both included.
func (l lots) number(what string, from, to int) string {
	return strconv.Itoa(from + l.below(what, to-from+1))
}

// chance says yes in so many of a hundred cases.
func (l lots) chance(what string, percent int) bool { return l.below(what, 100) < percent }

// between draws a length of whole milliseconds between two, both included.
func (l lots) between(what string, from, to time.Duration) time.Duration {
	return from + time.Duration(l.below(what, int((to-from)/time.Millisecond)+1))*time.Millisecond
}
