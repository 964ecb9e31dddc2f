package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settled is how long a healthy follower may take to have what its leader had: one
// hears of a commit with the next entry, or with a heartbeat each second.
const settled = 3 * time.Second

// replicas are what nodes told of, by node, stream and consumer.
type replicas struct {
	nodes       map[string]*Node
	first, last map[[3]string]*ConsumerReplica
	system      bool // the system account was answered: who is not here did not answer
}

func replicasOf(f *Facts) replicas {
	r := replicas{nodes: map[string]*Node{}, first: map[[3]string]*ConsumerReplica{}, last: map[[3]string]*ConsumerReplica{}}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		r.nodes[n.Name] = n
		r.system = r.system || n.By == bySystem && n.Last != nil
		for look, into := range map[*NodeLook]map[[3]string]*ConsumerReplica{n.First: r.first, n.Last: r.last} {
			if look == nil {
				continue
			}
			for j := range look.Streams {
				s := &look.Streams[j]
				for k := range s.Consumers {
					into[[3]string{n.Name, s.Name, s.Consumers[k].Name}] = &s.Consumers[k]
				}
			}
		}
	}
	return r
}

// known says whether any node told of a stream: then one that does not has none.
func (r *replicas) known(stream string) bool {
	for _, n := range r.nodes {
		if n.Last.stream(stream) != nil {
			return true
		}
	}
	return false
}

// apart is what is wrong with the replicas of a stream and its consumers.
type apart struct {
	texts []string
	facts []Figure
}

// disagreement compares what followers hold with what the leader told when the
// watch began: a follower that has not come that far since then stands behind.
func (s *subject) disagreement(t *Stream) (a apart) {
	if t.Group == nil || t.Group.Name == "" || t.Created.IsZero() || !s.replicas.known(t.Name) {
		return a
	}
	watched := s.Ended.Sub(s.Began)
	for _, p := range t.Group.Replicas {
		n := s.replicas.nodes[p.Name]
		switch {
		case n == nil || n.Last == nil:
			if s.replicas.system || n != nil {
				a.facts = append(a.facts, figures("of "+p.Name, "it does not answer "+cmp.Or(by(n), bySystem))...)
			}
			continue
		case n.Last.Disabled:
			a.add(p.Name+" has no JetStream, or no longer", "of "+p.Name, "jetstream disabled, by "+n.By)
			continue
		}
		had, has := n.First.stream(t.Name), n.Last.stream(t.Name)
		switch {
		case has == nil:
			if n.First != nil && had == nil {
				a.add(p.Name+" does not hold it", "of "+p.Name, "no such stream there, by "+n.By)
			}
			continue
		case watched < settled:
		case has.LastSeq < t.First.LastSeq:
			a.add(fmt.Sprintf("%s is behind", p.Name), "of "+p.Name, fmt.Sprintf("it ends at stream sequence %d%s, and the leader did at %d already %s before; by %s", has.LastSeq, was(had), t.First.LastSeq, age(watched), n.By))
		case t.rested() && had != nil && had.LastSeq == has.LastSeq && had.Messages == has.Messages && has.LastSeq == t.Last.LastSeq && has.Messages != t.Last.Messages:
			a.add(fmt.Sprintf("%s holds other messages", p.Name), "of "+p.Name, fmt.Sprintf("%d messages to stream sequence %d, and the leader has %d; by %s", has.Messages, has.LastSeq, t.Last.Messages, n.By))
		}
		s.consumersApart(&a, t, n)
	}
	return a
}

// rested says that nothing came and nothing went during the watch.
func (t *Stream) rested() bool {
	return t.First.LastSeq == t.Last.LastSeq && t.First.Messages == t.Last.Messages && t.First.FirstSeq == t.Last.FirstSeq
}

func by(n *Node) string {
	if n == nil {
		return ""
	}
	return n.By
}

func was(had *StreamReplica) string {
	if had == nil {
		return ""
	}
	return fmt.Sprintf(" (%d when the watch began)", had.LastSeq)
}

func (a *apart) add(text, name, value string) {
	a.texts = append(a.texts, text)
	a.facts = append(a.facts, figures(name, value)...)
}

// fewNames is how many consumers are named of those that a node is behind with.
const fewNames = 5

// consumersApart looks for consumers that a follower of the stream lacks, or whose
// place there is one that their leader had left when the watch began.
func (s *subject) consumersApart(a *apart, t *Stream, n *Node) {
	var missing, late []string
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if c.Stream != t.Name || !c.watched() || c.LeaderChanged || c.Group == nil || c.Created.After(s.Began) || c.span() < settled ||
			!slices.ContainsFunc(c.Group.Replicas, func(p Peer) bool { return p.Name == n.Name }) {
			continue
		}
		key := [3]string{n.Name, c.Stream, c.Name}
		has := s.replicas.last[key]
		switch {
		case has == nil:
			if n.First.stream(t.Name) != nil && s.replicas.first[key] == nil {
				missing = append(missing, c.Name)
			}
		case c.last().Delivered.Consumer < c.first().Delivered.Consumer: // it was reset meanwhile
		case has.Delivered.Consumer < c.first().Delivered.Consumer:
			late = append(late, fmt.Sprintf("%s (delivered %d, the leader %d before)", c.Name, has.Delivered.Consumer, c.first().Delivered.Consumer))
		case has.AckFloor.Consumer < c.first().AckFloor.Consumer:
			late = append(late, fmt.Sprintf("%s (ack floor %d, the leader %d before)", c.Name, has.AckFloor.Consumer, c.first().AckFloor.Consumer))
		}
	}
	if len(missing) > 0 {
		a.add(fmt.Sprintf("%s lacks %s", n.Name, plural(len(missing), "consumer")), "not on "+n.Name, fewOf(missing)+"; by "+n.By)
	}
	if len(late) > 0 {
		a.add(fmt.Sprintf("%s is behind with %s", n.Name, plural(len(late), "consumer")), "old on "+n.Name, fewOf(late)+"; by "+n.By)
	}
}

func fewOf(names []string) string {
	text := strings.Join(names[:min(len(names), fewNames)], ", ")
	if more := len(names) - fewNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// fewNodes is how many nodes' views of one consumer are shown.
const fewNodes = 7

// witness says which node answered for a consumer, and what others would have said:
// of what waits its leader alone knows.
func (s *subject) witness(c *Consumer) (facts []Figure) {
	if c.Group == nil || c.Group.Name == "" || c.Group.Leader == "" {
		return nil
	}
	facts = figures("answered_by", c.Group.Leader+", its leader")
	for i, n := range s.Nodes {
		has := s.replicas.last[[3]string{n.Name, c.Stream, c.Name}]
		if has == nil || n.Name == c.Group.Leader || i >= fewNodes {
			continue
		}
		facts = append(facts, figures("as "+n.Name+" holds it", fmt.Sprintf("delivered %d, ack floor %d, num_pending %d (a follower's says nothing)", has.Delivered.Consumer, has.AckFloor.Consumer, has.Pending))...)
	}
	return facts
}
