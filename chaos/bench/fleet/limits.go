package fleet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

const mostNodes = lab.MostNodes

// Room is how many consumers a stream may have, and how many the readers need.
type Room struct {
	Limit     int    `json:"limit"` // of one stream; 0: none is known
	From      string `json:"from,omitempty"`
	PerStream int    `json:"per_stream"` // readers of the fullest stream
}

// roomFor tells how full streams become.
func roomFor(readers, streams, limit int, from string) Room {
	return Room{Limit: limit, From: from, PerStream: ceil(readers, streams)}
}

func ceil(a, b int) int { return (a + b - 1) / b }

// refuse is the error of readers that do not fit at all, with the number of streams on which they would.
func (r Room) refuse(readers, streams int) error {
	if r.Limit == 0 || r.PerStream <= r.Limit {
		return nil
	}
	return &PlanError{
		Flag:    "streams",
		Problem: fmt.Sprintf("%d readers on %d streams are %d consumers a stream, and %s allows %d", readers, streams, r.PerStream, r.From, r.Limit),
		Hint:    fmt.Sprintf("--streams %d at least; %d leave each reader room for its next consumer", ceil(readers, r.Limit), streamsWithRoom(readers, r.Limit)),
	}
}

// narrow says that replacements of all readers at once do not fit beside what they replace.
func (r Room) narrow() bool { return r.Limit > 0 && 2*r.PerStream > r.Limit }

// streamsWithRoom is on how many streams each reader can have two consumers: it makes the next one before it
// deletes the last.
func streamsWithRoom(readers, limit int) int { return ceil(2*readers, limit) }

// Servers from this version on allow so many consumers of a stream that sets no limit, nor the account: measured
// on 2.15.3; 2.14.10 has no such limit.
const (
	limitedSince    = "2.15.0"
	limitOfDefaults = 1000
)

// refuseFiles is the error of more connections than this process may have files open.
func refuseFiles(connections int, limit uint64) error {
	const others = 64 // the lab's pipes, ports and cables, and what the process has open anyway
	if limit == 0 || uint64(connections)+others <= limit {
		return nil
	}
	return &PlanError{
		Flag:    "connections",
		Problem: fmt.Sprintf("%d connections need %d open files, and this process may have %d", connections, connections+others, limit),
		Hint:    "fewer connections, or ulimit -n",
	}
}

func (p *Plan) openFiles() error { return refuseFiles(p.Connections, openFilesLimit()) }

// limitOf is how many consumers a stream that sets no limit may have; 0: no limit is known.
func limitOf(account int, version string) (limit int, from string) {
	if account > 0 {
		return account, "the account"
	}
	if atLeast(version, limitedSince) {
		return limitOfDefaults, "nats-server " + version
	}
	return 0, ""
}

// atLeast compares versions such as 2.15.3; what stands behind a dash does not count.
func atLeast(version, least string) bool {
	var a, b [3]int
	parse := func(text string, into *[3]int) bool {
		text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "-")
		n, err := fmt.Sscanf(text, "%d.%d.%d", &into[0], &into[1], &into[2])
		return err == nil && n == len(into)
	}
	if !parse(version, &a) || !parse(least, &b) {
		return false
	}
	return slices.Compare(a[:], b[:]) >= 0
}
