package proxy

import "strings"

// subscription is what the proxy knows of one SUB of a connection.
type subscription struct {
	sid, subject, queue string
	delivered           uint64 // messages the server sent on it
	max                 uint64 // the server ends it after so many; 0: never
	pulls               bool   // its subject matched the reply of a pull
	fed                 bool   // JetStream delivers to it unasked, as to a push consumer's
	forgotten           bool   // the server was made to forget it, or never heard of it

	waiting                          []*pull // on this inbox, the next to be served first
	lastReply                        []byte  // of the last JetStream delivery
	consumerSequence, streamSequence uint64  // of the last heartbeat
}

// subscriptions are the live subscriptions of one connection by sid, and by what a reply subject
// must look like to reach them, so that finding a pull's inbox does not cost a look at each.
type subscriptions struct {
	bySID    map[string]*subscription
	exact    map[string]map[*subscription]struct{} // by subject, or by what stands before a wildcard at the end
	anywhere map[*subscription]struct{}            // a wildcard in the middle
}

func newSubscriptions() subscriptions {
	return subscriptions{
		bySID:    make(map[string]*subscription),
		exact:    make(map[string]map[*subscription]struct{}),
		anywhere: make(map[*subscription]struct{}),
	}
}

// indexKey returns the literal start of a subject ("X." of X.* and X.>, all of a literal one), or "" when a
// wildcard stands before its end.
func indexKey(subject string) string {
	literal := subject
	if strings.HasSuffix(subject, ".*") || strings.HasSuffix(subject, ".>") {
		literal = subject[:len(subject)-1]
	}
	for rest, more := literal, true; more; {
		var token string
		if token, rest, more = cutToken(rest); token == "*" || token == ">" {
			return ""
		}
	}
	return literal
}

func (s *subscriptions) add(sub *subscription) {
	s.remove(sub.sid)
	s.bySID[sub.sid] = sub
	key := indexKey(sub.subject)
	if key == "" {
		s.anywhere[sub] = struct{}{}
		return
	}
	if s.exact[key] == nil {
		s.exact[key] = make(map[*subscription]struct{}, 1)
	}
	s.exact[key][sub] = struct{}{}
}

func (s *subscriptions) remove(sid string) {
	sub := s.bySID[sid]
	if sub == nil {
		return
	}
	delete(s.bySID, sid)
	delete(s.anywhere, sub)
	key := indexKey(sub.subject)
	delete(s.exact[key], sub)
	if len(s.exact[key]) == 0 {
		delete(s.exact, key)
	}
}

// reached calls f for each subscription that a message on subject reaches.
func (s *subscriptions) reached(subject string, f func(*subscription)) {
	visit := func(subs map[*subscription]struct{}) {
		for sub := range subs {
			if pattern(sub.subject).matches(subject) {
				f(sub)
			}
		}
	}
	visit(s.exact[subject])
	for i := range len(subject) {
		if subject[i] == '.' {
			visit(s.exact[subject[:i+1]])
		}
	}
	visit(s.anywhere)
}
