package run

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// ledger passes on to the oracle what is published and read, and knows when something
// that was published after a certain moment has been read.
type ledger struct {
	oracle *oracle.Oracle

	mu           sync.Mutex
	acknowledged uint64
	read         uint64
	marks        []*mark
	nexts        []chan struct{}
}

// mark is a moment in the load.
type mark struct {
	first map[string]uint64 // by writer: the first id attempted since
	read  chan struct{}     // closed when a message published since was read
}

// Attempted is chaos.Ledger's.
func (l *ledger) Attempted(id string, at time.Time) {
	l.oracle.Attempted(id, at)
	writer, n := splitID(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.marks {
		if _, known := m.first[writer]; !known {
			m.first[writer] = n
		}
	}
}

// Acknowledged is chaos.Ledger's.
func (l *ledger) Acknowledged(id string, sequence uint64, at time.Time) {
	l.oracle.Acknowledged(id, sequence, at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged++
}

// Deduplicated is chaos.Ledger's.
func (l *ledger) Deduplicated(id string) { l.oracle.Deduplicated(id) }

// delivered tells a message that the target was handed.
func (l *ledger) delivered(d oracle.Delivery) {
	l.oracle.Read(d)
	writer, n := splitID(d.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read++
	for _, n := range l.nexts {
		close(n)
	}
	l.nexts = nil
	left := l.marks[:0]
	for _, m := range l.marks {
		if first, known := m.first[writer]; known && n >= first {
			close(m.read)
		} else {
			left = append(left, m)
		}
	}
	l.marks = left
}

// mark marks the present moment. What it gives is closed when a message was read that
// was published since.
func (l *ledger) mark() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &mark{first: map[string]uint64{}, read: make(chan struct{})}
	l.marks = append(l.marks, m)
	return m.read
}

// next gives what is closed when the target is handed its next message.
func (l *ledger) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := make(chan struct{})
	l.nexts = append(l.nexts, n)
	return n
}

func (l *ledger) counts() (acknowledged, read uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acknowledged, l.read
}

// unread takes what the target is not to read: it is no business of the oracle's.
type unread struct{}

func (unread) Attempted(string, time.Time)            {}
func (unread) Acknowledged(string, uint64, time.Time) {}
func (unread) Deduplicated(string)                    {}

var (
	_ chaos.Ledger = (*ledger)(nil)
	_ chaos.Ledger = unread{}
)

// splitID cuts "<writer>-<n>"; of anything else n is 0.
func splitID(id string) (writer string, n uint64) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return id, 0
	}
	n, err := strconv.ParseUint(id[i+1:], 10, 64)
	if err != nil {
		return id, 0
	}
	return id[:i], n
}
