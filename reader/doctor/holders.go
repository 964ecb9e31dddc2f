package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Clients of Go name what they make by nuid: 12 characters that are drawn when a
// process starts, and 10 of a counter that grows by less than nuidStep each time.
// An inbox and a consumer that begin with the same 12 are of one process; a reader
// of nats-reader takes its id, the last 8, just before the name of its inbox.
const (
	nuidLength  = 22
	nuidProcess = 12
	nuidStep    = 333
	sameReader  = 64 // readers that are opened at once draw in between
	ownerLength = 8
)

const nuidDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// holders are the clients that can be known by what they subscribe to.
type holders struct {
	known     bool // connections were told at all
	complete  bool // who is not here is not connected
	wide      []*Connection
	processes map[string]*Connection
	drawn     map[string][]int64 // by process: counters of what it subscribes to
	readers   []heldInbox        // inboxes of the shape that readers of nats-reader have
	subjects  map[string]*Connection
	wildcards []heldSubject
}

type heldInbox struct {
	counter int64
	number  int  // of the attempt that subscribed to it
	ended   bool // it was held at the first look, and is no longer
	by      *Connection
}

type heldSubject struct {
	subject string
	by      *Connection
}

func holdersOf(all *Connections) holders {
	h := holders{processes: map[string]*Connection{}, drawn: map[string][]int64{}, subjects: map[string]*Connection{}}
	if all == nil {
		return h
	}
	h.known, h.complete = true, all.Complete
	for i := range all.List {
		by := &all.List[i]
		for _, sub := range by.Subs {
			h.add(sub, by)
		}
		for _, sub := range by.Ended {
			h.addReader(sub, by, true)
		}
	}
	return h
}

func (h *holders) add(sub string, by *Connection) {
	if wide(sub) {
		h.wide = append(h.wide, by)
		return
	}
	if strings.ContainsAny(sub, "*>") {
		h.wildcards = append(h.wildcards, heldSubject{sub, by})
	} else {
		h.subjects[sub] = by
	}
	for token := range strings.SplitSeq(sub, ".") {
		if !isNUID(token) {
			continue
		}
		mark := token[:nuidProcess]
		h.processes[mark] = by
		if !by.Own && strings.HasSuffix(sub, token) { // what ends with .* takes answers to requests
			h.drawn[mark] = append(h.drawn[mark], counter(token[nuidProcess:]))
		}
	}
	h.addReader(sub, by, false)
}

// addReader keeps an inbox of the shape that readers of nats-reader have: a nuid,
// the number of the attempt, *.
func (h *holders) addReader(sub string, by *Connection, ended bool) {
	tokens := strings.Split(sub, ".")
	last := len(tokens) - 1
	if last < 2 || tokens[last] != "*" || !isNUID(tokens[last-2]) {
		return
	}
	if n, err := strconv.Atoi(tokens[last-1]); err == nil {
		h.readers = append(h.readers, heldInbox{counter(tokens[last-2][nuidLength-ownerLength:]), n, ended, by})
	}
}

// wide says whether a subscription takes what is sent to any inbox.
func wide(sub string) bool {
	first, _, more := strings.Cut(sub, ".")
	switch {
	case sub == ">", first == "*" && strings.HasSuffix(sub, ".>"):
		return true
	case more && strings.HasPrefix(first, "_INBOX"):
		return sub == first+".>"
	}
	return false
}

// inboxLike says whether a subscription is kept among the facts: it may take
// answers to pulls.
func inboxLike(sub string) bool {
	if wide(sub) || strings.HasPrefix(sub, "_INBOX") {
		return true
	}
	for token := range strings.SplitSeq(sub, ".") {
		if isNUID(token) {
			return true
		}
	}
	return false
}

func isNUID(token string) bool {
	return len(token) == nuidLength && strings.Trim(token, nuidDigits) == ""
}

// counter is the value of nuid digits.
func counter(digits string) (value int64) {
	for _, d := range digits {
		value = value*int64(len(nuidDigits)) + int64(strings.IndexRune(nuidDigits, d))
	}
	return value
}

// holds tells who holds the inbox of a reader of nats-reader that made the
// consumer; nil: nobody does, as far as connections are known.
func (h *holders) holds(c *Consumer) *Connection {
	id := c.owner()
	if len(id) != ownerLength || strings.Trim(id, nuidDigits) != "" {
		return nil
	}
	made := counter(id)
	for _, inbox := range h.readers {
		if after := inbox.counter - made; after > 0 && after < sameReader*nuidStep {
			return inbox.by
		}
	}
	return nil
}

// recovers tells that the reader of nats-reader that made a consumer is there, and
// makes attempt after attempt at another session: it held the inbox of one when the
// watch began, and that of another when it ended, and never this consumer's, which
// bears the number of the attempt that made it.
func (h *holders) recovers(c *Consumer) (by *Connection, attempts []int) {
	id := c.owner()
	_, own := cutSerial(c.Name)
	if len(id) != ownerLength || strings.Trim(id, nuidDigits) != "" || !strings.HasSuffix(c.Name, fmt.Sprintf("-%s-%d", id, own)) {
		return nil, nil
	}
	made, whose, changes := counter(id), int64(0), false
	for _, inbox := range h.readers {
		if after := inbox.counter - made; after <= 0 || after >= sameReader*nuidStep {
			continue
		}
		if whose != 0 && whose != inbox.counter || inbox.number <= own {
			return nil, nil // of several readers it cannot be told which; or it is this consumer's
		}
		whose, by, changes = inbox.counter, inbox.by, changes || inbox.ended
		attempts = append(attempts, inbox.number)
	}
	if !changes {
		return nil, nil
	}
	slices.Sort(attempts)
	return by, attempts
}

// process gives the mark of the process that made a consumer, by its name: clients
// of Go call an ordered consumer NUID_1, NUID_2, …
func process(name string) string {
	base, _ := cutSerial(name)
	if isNUID(base) {
		return base[:nuidProcess]
	}
	return ""
}

// maker tells the connection of the process that made a consumer: nil and true:
// that process is not connected; nil and false: nobody can tell.
func (h *holders) maker(c *Consumer) (by *Connection, sure bool) {
	if by := h.holds(c); by != nil {
		return by, true
	}
	if c.owner() != "" {
		return nil, h.complete && len(c.owner()) == ownerLength
	}
	mark := process(c.Name)
	if mark == "" {
		return nil, false
	}
	if by := h.processes[mark]; by != nil {
		return by, true
	}
	return nil, h.complete
}

// dropped says that the process that named a consumer is connected, and holds no
// inbox that may be the consumer's: what it drew after the name is no more than those
// of its consumers need that it named later and reads from.
func (s *subject) dropped(c *Consumer) bool {
	mark := process(c.Name)
	if mark == "" || !s.holders.complete || s.holders.processes[mark] == nil {
		return false
	}
	made, unexplained := drawnAt(c), 0
	for _, inbox := range s.holders.drawn[mark] {
		if inbox > made {
			unexplained++
		}
	}
	for i := range s.Consumers {
		if other := &s.Consumers[i]; process(other.Name) == mark && drawnAt(other) > made && other.used() {
			unexplained--
		}
	}
	return unexplained <= 0
}

// drawnAt is the counter in the name of a consumer that process knows.
func drawnAt(c *Consumer) int64 {
	base, _ := cutSerial(c.Name)
	return counter(base[nuidProcess:])
}

// cutSerial takes the number off a name that ends with _N or -N, as clients add it
// with each attempt.
func cutSerial(name string) (base string, serial int) {
	at := strings.LastIndexAny(name, "_-")
	if at <= 0 {
		return name, 0
	}
	n, err := strconv.Atoi(name[at+1:])
	if err != nil || n < 0 || len(name)-at > 8 {
		return name, 0
	}
	return name[:at], n
}

// String names a client for people.
func (c Connection) String() string {
	name := cmp.Or(c.Name, c.User, "a client without a name")
	text := fmt.Sprintf("%q (cid %d", name, c.ID)
	for _, more := range []string{c.IP, strings.TrimSpace(c.Lang + " " + c.Version)} {
		if more != "" {
			text += ", " + more
		}
	}
	return text + ")"
}
