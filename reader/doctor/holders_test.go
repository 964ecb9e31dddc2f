package doctor

import (
	"slices"
	"testing"
)

// The proof that a reader of nats-reader is there and does not hear its consumer: its
// own word, in the metadata, and inboxes of attempts that come and go.
func TestOwnerProof(t *testing.T) {
	const inbox = "_INBOX.xjoMdL4liXFHDTf6nGonJo."
	const another = "_INBOX.xjoMdL4liXFHDTf6nGonLq."
	of := func(name string, now, before []string, more ...Consumer) Facts {
		f := clients(around(append([]Consumer{watched(name, ownReads, pendingIs(10))}, more...)...), now...)
		f.Connections.List[0].Ended = before
		return f
	}
	for _, c := range []struct {
		name string
		f    Facts
		want []string
	}{
		{"attempt after attempt", of("reader-f6nGonHM-1", []string{inbox + "5.*"}, []string{inbox + "4.*"}), []string{"READER_001"}},
		{"between two attempts at the end", of("reader-f6nGonHM-1", []string{orderedInbox}, []string{inbox + "4.*"}), []string{"READER_001"}},
		{"one attempt, which may be bound to it", of("reader-f6nGonHM-1", []string{inbox + "5.*"}, nil), nil},
		{"it holds its own", of("reader-f6nGonHM-4", []string{inbox + "5.*"}, []string{inbox + "4.*"}), nil},
		{"it holds its own, and nothing else", of("reader-f6nGonHM-1", []string{inbox + "1.*"}, nil), nil},
		{"of two readers", of("reader-f6nGonHM-1", []string{inbox + "5.*", another + "6.*"}, []string{inbox + "4.*"}), nil},
		{"a name of its own", of("mine", []string{inbox + "5.*"}, []string{inbox + "4.*"}), nil},
		{"it reads with a later one", of("reader-f6nGonHM-1", []string{inbox + "5.*"}, []string{inbox + "4.*"}, watched("reader-f6nGonHM-5", ownReads, waitingIs(1))), nil},
	} {
		if got := idsOf(Judge(c.f, JudgeOptions{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
	}
}
