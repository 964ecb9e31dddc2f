package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// replicated are facts of a stream and a durable on three nodes, n1 leading, as the
// system account tells of all, with what a case changes.
func replicated(change func(f *Facts, n3 *Node)) Facts {
	group := &Group{Name: "c", Leader: "n1", Replicas: []Peer{{Name: "n2", Current: true}, {Name: "n3", Current: true}}}
	c := watched("D", durable, at(700), waitingIs(1), always(func(s *Sample) { s.AckFloor.Consumer = 690 }))
	c.Group = group
	f := around(c)
	f.Streams[0].Group, f.Streams[0].First = group, f.Streams[0].Last
	look := func() *NodeLook {
		return &NodeLook{Time: t0, Streams: []StreamReplica{{Name: "S", Leader: "n1", Messages: 1000, LastSeq: 1000, Consumers: []ConsumerReplica{{
			Name: "D", Leader: "n1", Delivered: Sequences{Consumer: 700}, AckFloor: Sequences{Consumer: 690}, Pending: 300,
		}}}}}
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		f.Nodes = append(f.Nodes, Node{Name: name, By: bySystem, First: look(), Last: look()})
	}
	if change != nil {
		change(&f, &f.Nodes[2])
	}
	return f
}

func TestReplicasThatDiffer(t *testing.T) {
	onStream := func(n *Node, change func(*StreamReplica)) {
		change(&n.First.Streams[0])
		change(&n.Last.Streams[0])
	}
	for _, c := range []struct {
		name string
		f    Facts
		want string // in the finding; empty: none
	}{
		{"all agree", replicated(nil), ""},
		{"the stream is behind", replicated(func(_ *Facts, n *Node) { n.Last.Streams[0].LastSeq = 999 }), "n3 is behind"},
		{"it has caught up", replicated(func(_ *Facts, n *Node) { n.First.Streams[0].LastSeq = 10 }), ""},
		{"watched too shortly", replicated(func(f *Facts, n *Node) {
			n.Last.Streams[0].LastSeq, f.Ended = 999, f.Began.Add(settled-time.Millisecond)
		}), ""},
		{"behind what came during the watch", replicated(func(f *Facts, n *Node) { f.Streams[0].Last.LastSeq, f.Streams[0].Last.Messages = 2000, 2000 }), ""},
		{"the stream is not there", replicated(func(_ *Facts, n *Node) { n.First.Streams, n.Last.Streams = nil, nil }), "n3 does not hold it"},
		{"it was there at first", replicated(func(_ *Facts, n *Node) { n.Last.Streams = nil }), ""},
		{"nobody told at first", replicated(func(_ *Facts, n *Node) { n.First, n.Last.Streams = nil, nil }), ""},
		{"JetStream is off there", replicated(func(_ *Facts, n *Node) { n.Last.Disabled, n.Last.Streams = true, nil }), "n3 has no JetStream"},
		{"of another account", replicated(func(f *Facts, _ *Node) {
			for i := range f.Nodes {
				f.Nodes[i].First.Streams, f.Nodes[i].Last.Streams = nil, nil
			}
		}), ""},
		{"no replica of it", replicated(func(_ *Facts, n *Node) { n.Name, n.First.Streams, n.Last.Streams = "n4", nil, nil }), ""},
		{"it does not answer", replicated(func(_ *Facts, n *Node) { n.Last = nil }), ""},
		{"other messages", replicated(func(_ *Facts, n *Node) { onStream(n, func(s *StreamReplica) { s.Messages = 998 }) }), "n3 holds other messages"},
		{"other messages, while some come and go", replicated(func(f *Facts, n *Node) {
			onStream(n, func(s *StreamReplica) { s.Messages = 998 })
			f.Streams[0].First.Messages = 998
		}), ""},
		{"other messages for a moment", replicated(func(_ *Facts, n *Node) { n.Last.Streams[0].Messages = 998 }), ""},
		{"the consumer is not there", replicated(func(_ *Facts, n *Node) { onStream(n, func(s *StreamReplica) { s.Consumers = nil }) }), "n3 lacks 1 consumer"},
		{"it has one replica", replicated(func(f *Facts, n *Node) {
			onStream(n, func(s *StreamReplica) { s.Consumers = nil })
			f.Consumers[0].Group = &Group{Name: "c", Leader: "n1"}
		}), ""},
		{"it was made meanwhile", replicated(func(f *Facts, n *Node) {
			onStream(n, func(s *StreamReplica) { s.Consumers = nil })
			f.Consumers[0].Created = f.Began.Add(time.Millisecond)
		}), ""},
		{"its place is old", replicated(func(_ *Facts, n *Node) { n.Last.Streams[0].Consumers[0].Delivered.Consumer = 699 }), "n3 is behind with 1 consumer"},
		{"its acks are old", replicated(func(_ *Facts, n *Node) { n.Last.Streams[0].Consumers[0].AckFloor.Consumer = 689 }), "n3 is behind with 1 consumer"},
		{"its place is old, and another led", replicated(func(f *Facts, n *Node) {
			n.Last.Streams[0].Consumers[0].Delivered.Consumer, f.Consumers[0].LeaderChanged = 699, true
		}), ""},
		{"it was reset", replicated(func(f *Facts, n *Node) {
			n.Last.Streams[0].Consumers[0].Delivered.Consumer, f.Consumers[0].Samples[2].Delivered.Consumer = 5, 5
		}), ""},
		{"what waits is the leader's word alone", replicated(func(_ *Facts, n *Node) { onStream(n, func(s *StreamReplica) { s.Consumers[0].Pending = 0 }) }), ""},
	} {
		r := Judge(c.f, JudgeOptions{})
		switch {
		case c.want == "" && len(r.Findings) > 0:
			t.Errorf("%s: found %+v", c.name, r.Findings)
		case c.want != "" && (len(r.Findings) != 1 || r.Findings[0].Check != "READER_015" || r.Findings[0].Severity != Warning || !strings.Contains(r.Findings[0].Text, c.want)):
			t.Errorf("%s: found %+v, want %s", c.name, r.Findings, c.want)
		}
	}
}

// A node that does not answer is told beside what else is wrong with the replicas.
func TestReplicaThatDoesNotAnswer(t *testing.T) {
	r := Judge(replicated(func(f *Facts, n *Node) {
		n.Last = nil
		f.Streams[0].Group.Replicas[1].Current = false
	}), JudgeOptions{})
	if len(r.Findings) != 1 || !slices.Contains(r.Findings[0].Facts, Figure{"of n3", "it does not answer the system account"}) {
		t.Errorf("found %+v", r.Findings)
	}
}

// Who answered, and what followers would have said, stands with a finding.
func TestWitness(t *testing.T) {
	r := Judge(replicated(func(f *Facts, n *Node) {
		f.Consumers[0].Samples = watched("D", durable, pendingIs(300)).Samples
		n.Last.Streams[0].Consumers[0].Pending = 0
	}), JudgeOptions{})
	if len(r.Findings) != 1 || r.Findings[0].Check != idNoPuller {
		t.Fatalf("found %+v", r.Findings)
	}
	for _, want := range []Figure{
		{"answered_by", "n1, its leader"}, {"num_pending", "300 to 300"},
		{"as n2 holds it", "delivered 700, ack floor 690, num_pending 300 (a follower's says nothing)"},
		{"as n3 holds it", "delivered 700, ack floor 690, num_pending 0 (a follower's says nothing)"},
	} {
		if !slices.Contains(r.Findings[0].Facts, want) {
			t.Errorf("no %+v among %+v", want, r.Findings[0].Facts)
		}
	}
}

// A server of the account that has used its storage up.
func TestFullNode(t *testing.T) {
	for used, want := range map[uint64]int{899: 0, 900: 1} {
		r := Judge(replicated(func(_ *Facts, n *Node) { n.Last.Storage, n.Last.MaxStorage = used, 1000 }), JudgeOptions{})
		if len(r.Findings) != want || want == 1 && (r.Findings[0].Check != "READER_018" || !strings.Contains(r.Findings[0].Text, "server n3")) {
			t.Errorf("with %d of 1000 used: %+v", used, r.Findings)
		}
	}
}
