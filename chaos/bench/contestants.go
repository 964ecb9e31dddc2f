package bench

import (
	"context"
	"fmt"
	"slices"
)

// Contestant describes one of the readers that can be measured.
type Contestant struct {
	Name  string `json:"name"`
	Words string `json:"words"` // who it is, for people
	Ours  bool   `json:"ours"`  // this module's

	usual func(Load) string // what it asks for ahead by itself
	equal func(batch int) string
	// read opens the reader and reads to the last message, or until ctx ends. It leaves what closes
	// the reader in r.close; after ctx has ended the reader is stopped when it returns.
	read func(ctx context.Context, r *reading) error
}

// Base is the contestant that the others are compared with where nobody says another.
const Base = "consume"

// The readers of nats.go ask for so many messages by themselves. Fetch has no default: it is measured with Consume's.
const usualBatch = 500

func catalogue() []Contestant {
	ahead := func(n int) string { return fmt.Sprintf("%d messages", n) }
	pulls := func(c Contestant) Contestant {
		c.usual = func(Load) string { return ahead(usualBatch) }
		c.equal = ahead
		return c
	}
	ours := func(c Contestant) Contestant {
		c.Ours = true
		c.usual = func(Load) string { return "4096 messages, 8 MiB" }
		c.equal = ahead
		return c
	}
	return []Contestant{
		ours(Contestant{Name: "next", Words: "nats-reader: Next", read: readNext}),
		ours(Contestant{Name: "next-batch", Words: fmt.Sprintf("nats-reader: NextBatch of %d", batchRoom), read: readNextBatch}),
		ours(Contestant{Name: "iterator", Words: "nats-reader: Messages", read: readIterator}),
		pulls(Contestant{Name: Base, Words: "nats.go: a pull consumer, Consume with a callback", read: readConsume}),
		pulls(Contestant{Name: "messages", Words: "nats.go: a pull consumer, Messages and Next", read: readMessages}),
		pulls(Contestant{Name: "fetch", Words: "nats.go: a pull consumer, Fetch again and again", read: readFetch}),
		pulls(Contestant{Name: "ordered-consume", Words: "nats.go: OrderedConsumer, Consume with a callback", read: readOrderedConsume}),
		pulls(Contestant{Name: "ordered-messages", Words: "nats.go: OrderedConsumer, Messages and Next", read: readOrderedMessages}),
		{
			Name: "legacy-ordered", Words: "nats.go, the older API: Subscribe with OrderedConsumer", read: readLegacyOrdered,
			usual: func(Load) string { return "pushed, with flow control" }, equal: func(int) string { return "pushed, with flow control" },
		},
	}
}

// Contestants are all that can be measured, ours first.
func Contestants() []Contestant { return catalogue() }

// Names are those of all contestants.
func Names() (names []string) {
	for _, c := range catalogue() {
		names = append(names, c.Name)
	}
	return names
}

func find(name string) *Contestant {
	all := catalogue()
	i := slices.IndexFunc(all, func(c Contestant) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// ahead says what a contestant asks for ahead.
func (c Contestant) ahead(pulls Pulls, batch int, l Load) string {
	if pulls == Equal {
		return c.equal(batch)
	}
	return c.usual(l)
}
