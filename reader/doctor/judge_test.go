package doctor

import (
	"slices"
	"testing"
	"time"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// look changes one of the three looks at a consumer.
type look func(i int, s *Sample)

// watched is a consumer that was looked at three times over 6.6s, with what the
// looks change.
func watched(name string, config ConsumerConfig, looks ...look) Consumer {
	c := Consumer{Stream: "S", Name: name, Created: t0.Add(-time.Hour), Config: config}
	for i := range 3 {
		s := Sample{Time: t0.Add(time.Duration(i) * 3300 * time.Millisecond)}
		for _, l := range looks {
			l(i, &s)
		}
		c.Samples = append(c.Samples, s)
	}
	return c
}

func always(change func(*Sample)) look { return func(_ int, s *Sample) { change(s) } }

func pendingIs(n uint64) look { return always(func(s *Sample) { s.Pending = n }) }
func waitingIs(n int) look    { return always(func(s *Sample) { s.Waiting = n }) }
func outIs(n int) look        { return always(func(s *Sample) { s.AckPending = n }) }

func at(seq uint64) look {
	return always(func(s *Sample) { s.Delivered.Consumer, s.Delivered.Stream = seq, seq })
}

// deliveredAgo says how long before the last look the last delivery was.
func deliveredAgo(d time.Duration) look {
	return always(func(s *Sample) {
		active := t0.Add(6600*time.Millisecond - d)
		s.Delivered.Active = &active
	})
}

// moving: n messages are delivered between two looks.
func moving(n uint64) look {
	return func(i int, s *Sample) { s.Delivered.Consumer += n * uint64(i); s.Delivered.Stream += n * uint64(i) }
}

// around are facts with a healthy stream around consumers.
func around(consumers ...Consumer) Facts {
	return Facts{
		Schema: FactsSchema, Began: t0, Ended: t0.Add(6600 * time.Millisecond), Server: Server{Version: "2.15.3"}, Account: Account{Known: true},
		Streams: []Stream{{
			Name: "S", Created: t0.Add(-2 * time.Hour), Config: StreamConfig{Subjects: []string{"s.>"}, Replicas: 1, MaxConsumers: -1},
			Last: StreamState{Time: t0.Add(7 * time.Second), LastSeq: 1000, Messages: 1000, Consumers: len(consumers)},
		}},
		Consumers: consumers,
	}
}

// clients adds a complete list of connections with these subscriptions.
func clients(f Facts, subs ...string) Facts {
	f.Connections = &Connections{Complete: true, List: []Connection{{ID: 7, Name: "app", Got: 1000, Subs: subs}}}
	return f
}

func heard(f Facts, pulls ...Pulls) Facts {
	f.Heard = &Heard{For: 3 * time.Second, Pulls: pulls}
	return f
}

// with changes facts in place.
func with(f Facts, change func(*Facts)) Facts {
	change(&f)
	return f
}

var (
	five        = ConsumerConfig{InactiveThreshold: 5 * time.Second, AckPolicy: "none", MaxWaiting: 512}
	fiveMinutes = ConsumerConfig{InactiveThreshold: 5 * time.Minute}
	durable     = ConsumerConfig{Durable: "D", AckPolicy: "explicit", AckWait: 30 * time.Second, MaxAckPending: 100, MaxWaiting: 512}
	ownReads    = ConsumerConfig{InactiveThreshold: 30 * time.Second, AckPolicy: "none", MaxWaiting: 512, Metadata: map[string]string{ownerKey: "f6nGonHM"}}
)

// The inboxes of the processes that made ordered and ownReads consumers.
const (
	ordered      = "xjoMdL4liXFHDTf6nGonTc_1"
	orderedInbox = "_INBOX.xjoMdL4liXFHDTf6nGonay"
	// Of the same process, drawn after many others.
	orderedLater      = "xjoMdL4liXFHDTf6nGxnTc_1"
	orderedLaterInbox = "_INBOX.xjoMdL4liXFHDTf6nGxnay"
	ownInbox          = "_INBOX.xjoMdL4liXFHDTf6nGonJo.1.*"
	otherInbox        = "_INBOX.AAAAAAAAAAAABBBBBBBBBB"
)

// made is a consumer that was made during the watch.
func made(name string) Consumer {
	c := watched(name, five)
	c.Created, c.Samples = t0.Add(4*time.Second), c.Samples[2:]
	return c
}

// started is one that is read, too.
func started(name string) Consumer {
	c := made(name)
	c.Samples[0].Waiting = 1
	return c
}

func madeBy(name, client string) Advisory {
	return Advisory{Kind: "api_audit", Action: "create", Stream: "S", Consumer: name, Client: client}
}

func storming(names ...string) (all []Advisory) {
	for i, n := range names {
		all = append(all, Advisory{Time: t0.Add(time.Duration(i) * time.Second), Kind: "consumer_action", Action: "create", Stream: "S", Consumer: n})
	}
	return all
}

// Each case fires exactly the checks that it names; those without any are one fact
// away from one that fires.
var cases = []struct {
	name string
	f    Facts
	want []string
}{
	{"a quiet stream", around(watched("C", five, waitingIs(1))), nil},
	{"nothing at all", around(), nil},

	{"deaf: outlived its threshold", around(watched("C", five, pendingIs(10))), []string{"READER_001"}},
	{"not watched for long enough to say deaf", around(watched("C", ConsumerConfig{InactiveThreshold: 5101 * time.Millisecond}, pendingIs(10))), []string{"READER_002"}},
	{"deaf: a pull was heard", heard(around(watched("C", durable, pendingIs(10))), Pulls{Stream: "S", Consumer: "C", Count: 2, Inbox: "_INBOX.x"}), []string{"READER_001"}},
	{"a pull for another consumer", heard(around(watched("C", durable, pendingIs(10)), watched("E", durable, waitingIs(1))), Pulls{Stream: "S", Consumer: "E", Count: 2, Inbox: "_INBOX.x"}), []string{"READER_002"}},
	{"nothing waits", around(watched("C", five)), nil},
	{"one look saw a pull waiting", around(watched("C", five, pendingIs(10), func(i int, s *Sample) { s.Waiting = i % 2 })), nil},
	{"one look saw nothing pending", around(watched("C", five, func(i int, s *Sample) { s.Pending = uint64(i) })), nil},
	{"one message was delivered", around(watched("C", five, pendingIs(10), func(i int, s *Sample) { s.Delivered.Consumer = uint64(i / 2) })), nil},
	{"paused", around(watched("C", five, pendingIs(10), always(func(s *Sample) { s.Paused, s.PauseRemaining = true, time.Minute }))), []string{"READER_014"}},
	{"only two looks", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Consumers[0].Samples = f.Consumers[0].Samples[1:] }), nil},
	{"it lapsed", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Consumers[0].Gone = true }), nil},
	{"it lapsed while it was looked at for longer", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Consumers[0].Gone, f.Consumers[0].Lapsed = true, true }), []string{"READER_002"}},
	{"it did, and its reader reads on", with(around(watched("C-1", five, pendingIs(10)), watched("C-2", five, waitingIs(1))), func(f *Facts) { f.Consumers[0].Gone, f.Consumers[0].Lapsed = true, true }), nil},
	{"it did, and another reads", with(around(watched("C-1", five, pendingIs(10)), watched("E-2", five, waitingIs(1))), func(f *Facts) { f.Consumers[0].Gone, f.Consumers[0].Lapsed = true, true }), []string{"READER_002"}},
	{"it lapsed, and was asked for", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Consumers[0].Gone, f.Consumer, f.Stream = true, "C", "S" }), []string{"READER_002"}},
	{"a new leader counts idleness anew", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Consumers[0].LeaderChanged = true }), []string{"READER_002"}},
	{"so does a server that was restarted", with(around(watched("C", five, pendingIs(10))), func(f *Facts) { f.Reconnected = true }), []string{"READER_002"}},
	{"messages that are out keep it alive", around(watched("C", ConsumerConfig{InactiveThreshold: 5 * time.Second, AckPolicy: "explicit", AckWait: 30 * time.Second}, pendingIs(10), outIs(1), deliveredAgo(20*time.Second))), []string{"READER_007"}},
	{"priority groups hold pulls back", around(watched("C", changed(five, func(c *ConsumerConfig) { c.PriorityPolicy = "overflow" }), pendingIs(10))), nil},

	{"nobody pulls", around(watched("C", durable, pendingIs(10))), []string{"READER_002"}},
	{"a handler is at work", around(watched("C", durable, pendingIs(10), outIs(1), deliveredAgo(29*time.Second))), nil},
	{"its ack wait is over", around(watched("C", durable, pendingIs(10), outIs(1), deliveredAgo(32*time.Second))), []string{"READER_002"}},
	{"abandoned though nothing else waits", around(watched("C", durable, outIs(3), deliveredAgo(time.Minute))), []string{"READER_002"}},
	{"out, and somebody waits to be given them again", around(watched("C", durable, outIs(3), waitingIs(1), deliveredAgo(time.Minute))), nil},
	{"ours holds back behind a full buffer", clients(around(watched("reader-f6nGonHM-1", ownReads, pendingIs(10))), ownInbox), nil},
	{"a durable of ours holds back", clients(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Metadata = ownReads.Metadata }), pendingIs(10))), ownInbox), nil},
	{"a durable of ours whose reader is gone", clients(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Metadata = ownReads.Metadata }), pendingIs(10))), otherInbox), []string{"READER_002"}},
	{"ours that outlives its threshold", with(clients(around(watched("reader-f6nGonHM-1", ownReads, pendingIs(10))), ownInbox), func(f *Facts) {
		f.Consumers[0].Samples[2].Time = t0.Add(40 * time.Second)
		f.Streams[0].Last.Time = t0.Add(41 * time.Second)
	}), []string{"READER_001"}},
	{"a push consumer without a subscriber", around(watched("C", ConsumerConfig{DeliverSubject: "to.me"}, pendingIs(1))), []string{"READER_002"}},
	{"a push consumer with one", around(watched("C", ConsumerConfig{DeliverSubject: "to.me"}, pendingIs(1), always(func(s *Sample) { s.PushBound = true }))), nil},

	{"delivered to nobody", clients(around(watched(ordered, five, moving(5))), "_INBOX.>"), []string{"READER_003"}},
	{"its process holds an inbox", clients(around(watched(ordered, five, moving(5))), "_INBOX.>", orderedInbox), nil},
	{"nobody takes every inbox", clients(around(watched(ordered, five, moving(5))), otherInbox), nil},
	{"clients got less than was delivered", with(clients(around(watched("C", durable, moving(10))), "_INBOX.>"), func(f *Facts) {
		f.Connections.List = append(f.Connections.List, Connection{ID: 8, Got: 109, Had: 100, Subs: []string{otherInbox}}, Connection{ID: 9, Got: 1000, Own: true})
	}), []string{"READER_003"}},
	{"a client got as much as was delivered", with(clients(around(watched("C", durable, moving(10))), "_INBOX.>"), func(f *Facts) {
		f.Connections.List = append(f.Connections.List, Connection{ID: 8, Got: 110, Had: 100, Subs: []string{otherInbox}})
	}), nil},
	{"who takes every inbox may hold another", with(clients(around(watched("C", durable, moving(10))), "_INBOX.>"), func(f *Facts) {
		f.Connections.List[0].Others, f.Connections.List[0].Got = 1, 20
	}), nil},
	{"too little was delivered", clients(around(watched("C", durable, moving(4))), "_INBOX.>"), nil},
	{"not everybody is listed", with(clients(around(watched(ordered, five, moving(5))), "_INBOX.>"), func(f *Facts) { f.Connections.Complete = false }), nil},
	{"it was reset meanwhile", clients(around(watched(ordered, five, func(i int, s *Sample) { s.Delivered.Consumer = uint64(20 - 5*i) })), "_INBOX.>"), nil},
	{"the inbox of a pull that was heard is held", heard(clients(around(watched("C", durable, moving(5))), ">", "_INBOX.abc.*"), Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: "_INBOX.abc.1"}), nil},
	{"the inbox of a pull that was heard is not held", heard(clients(around(watched("C", durable, moving(5))), ">"), Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: "_INBOX.abc.1"}), []string{"READER_003"}},
	{"a push consumer's subject only by all", clients(around(watched("C", ConsumerConfig{DeliverSubject: "_INBOX.p"}, moving(5), always(func(s *Sample) { s.PushBound = true }))), "_INBOX.>"), []string{"READER_003"}},

	{"pulls for no consumer", heard(around(), Pulls{Stream: "S", Consumer: "X", Count: 1, Inbox: "_INBOX.x"}), []string{"READER_004"}},
	{"pulls for one that was deleted meanwhile", with(heard(around(), Pulls{Stream: "S", Consumer: "X", Count: 1, Inbox: "_INBOX.x"}), func(f *Facts) {
		f.Advisories = []Advisory{{Kind: "consumer_action", Action: "delete", Stream: "S", Consumer: "X"}}
	}), nil},

	{"a storm", with(around(), func(f *Facts) { f.Advisories = storming("r_1", "r_2", "r_3", "r_4", "r_5") }), []string{"READER_005"}},
	{"four are no storm", with(around(), func(f *Facts) { f.Advisories = storming("r_1", "r_2", "r_3", "r_4") }), nil},
	{"five that were deleted are no storm", with(around(), func(f *Facts) {
		f.Advisories = storming("r_1", "r_2", "r_3", "r_4", "r_5")
		for i := range f.Advisories {
			f.Advisories[i].Action = "delete"
		}
	}), nil},
	{"a storm of the consumer that was asked for", with(around(), func(f *Facts) {
		f.Advisories, f.Stream, f.Consumer = storming("r_1", "r_2", "r_3", "r_4", "r_5"), "S", "r_1"
	}), []string{"READER_005"}},
	{"a storm of another than was asked for", with(around(), func(f *Facts) {
		f.Advisories, f.Stream, f.Consumer = storming("r_1", "r_2", "r_3", "r_4", "r_5"), "S", "q_1"
	}), nil},
	{"five in an hour are no storm", with(around(), func(f *Facts) { f.Advisories, f.Ended = storming("r_1", "r_2", "r_3", "r_4", "r_5"), t0.Add(time.Hour) }), nil},
	{"five readers are no storm", with(around(), func(f *Facts) { f.Advisories = storming("a_1", "b_1", "c_1", "d_1", "e_1") }), nil},
	{"a bucket's keys are listed", with(around(), func(f *Facts) {
		f.Advisories = storming("r_1", "r_2", "r_3", "r_4", "r_5")
		for i := range f.Advisories {
			f.Advisories[i].Stream = "KV_B"
		}
	}), nil},

	{"ours, and its reader is gone", clients(around(watched("reader-f6nGonHM-1", ownReads)), otherInbox), []string{"READER_006"}},
	{"ours, and its reader is there", clients(around(watched("reader-f6nGonHM-1", ownReads)), ownInbox), nil},
	{"ordered, and its process is gone", clients(around(watched(ordered, ConsumerConfig{InactiveThreshold: 5 * time.Minute})), otherInbox), []string{"READER_006"}},
	{"ordered, and its process is there", clients(around(watched(ordered, ConsumerConfig{InactiveThreshold: 5 * time.Minute})), orderedInbox), nil},
	{"its process is gone, and a pull was heard", heard(clients(around(watched(ordered, ConsumerConfig{InactiveThreshold: 5 * time.Minute})), otherInbox), Pulls{Stream: "S", Consumer: ordered, Count: 1, Inbox: "my.inbox"}), nil},
	{"ordered, stopped, and its process reads on with another", clients(around(watched(ordered, fiveMinutes, pendingIs(9)), watched(orderedLater, fiveMinutes, waitingIs(1))), orderedLaterInbox), []string{"READER_006"}},
	{"ordered, and its process holds its inbox, beside another", clients(around(watched(ordered, fiveMinutes, pendingIs(9)), watched(orderedLater, fiveMinutes, waitingIs(1))), orderedInbox, orderedLaterInbox), []string{"READER_002"}},
	{"ordered, and its process reads with no other", clients(around(watched(ordered, fiveMinutes, pendingIs(9)), watched(orderedLater, fiveMinutes)), orderedLaterInbox), []string{"READER_002"}},
	{"ordered, stopped, and not everybody is listed", with(clients(around(watched(ordered, fiveMinutes, pendingIs(9)), watched(orderedLater, fiveMinutes, waitingIs(1))), orderedLaterInbox), func(f *Facts) { f.Connections.Complete = false }), []string{"READER_002"}},
	{"ordered, stopped, and a pull was heard", heard(clients(around(watched(ordered, fiveMinutes, pendingIs(9)), watched(orderedLater, fiveMinutes, waitingIs(1))), orderedLaterInbox), Pulls{Stream: "S", Consumer: ordered, Count: 1, Inbox: "my.inbox"}), []string{"READER_001"}},
	{"three idle durables with drawn names", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable)), []string{"READER_006"}},
	{"three of which one was paused", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable, always(func(s *Sample) { s.Paused = true }))), []string{"READER_014"}},
	{"three of which one is read", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable, waitingIs(1))), nil},
	{"three of which one moves", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable, moving(1))), nil},
	{"three of which one acknowledges", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable, func(i int, s *Sample) { s.AckFloor.Consumer = uint64(i) })), nil},
	{"three of which one lapses", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", changed(durable, func(c *ConsumerConfig) { c.InactiveThreshold = time.Hour }))), nil},
	{"two of them", around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable)), nil},
	{"three idle workers", around(watched("worker-1", durable), watched("worker-2", durable), watched("worker-3", durable)), nil},
	{"three with drawn names, one lately idle", with(around(watched("app-3f2a9c1e", durable), watched("app-77b0d4f2", durable), watched("app-0c9e8d7f", durable)), func(f *Facts) { f.Consumers[0].Created = t0.Add(-time.Minute) }), []string{"READER_006"}},
	{"three with UUIDs", around(watched("app-550e8400-e29b-41d4-a716-446655440000", durable), watched("app-550e8401-e29b-41d4-a716-446655440001", durable), watched("app-550e8402-e29b-41d4-a716-446655440002", durable)), []string{"READER_006"}},
	{"five that the looks saw made", around(made("r_1"), made("r_2"), made("r_3"), made("r_4"), made("r_5")), []string{"READER_005"}},
	{"five workers that were started", around(started("r_1"), started("r_2"), started("r_3"), made("r_4"), made("r_5")), nil},
	{"five that were made, of which two are read", around(started("r_1"), started("r_2"), made("r_3"), made("r_4"), made("r_5")), []string{"READER_005"}},
	{"four that the looks saw made", around(made("r_1"), made("r_2"), made("r_3"), made("r_4")), nil},

	{"threshold below a reconnect", around(watched("C", ConsumerConfig{InactiveThreshold: time.Second}, waitingIs(1))), []string{"READER_007"}},
	{"deaf is worse than a short threshold", around(watched("C", ConsumerConfig{InactiveThreshold: time.Second}, pendingIs(1))), []string{"READER_001"}},
	{"threshold of a reconnect", around(watched("C", ConsumerConfig{InactiveThreshold: 2 * time.Second}, waitingIs(1))), nil},
	{"threshold below two heartbeats", heard(around(watched("C", five, waitingIs(1))), Pulls{Stream: "S", Consumer: "C", Count: 1, Heartbeat: 3 * time.Second}), []string{"READER_007"}},
	{"threshold above two heartbeats", heard(around(watched("C", five, waitingIs(1))), Pulls{Stream: "S", Consumer: "C", Count: 1, Heartbeat: 2 * time.Second}), nil},

	{"falling behind", around(watched("C", five, waitingIs(1), moving(100), func(i int, s *Sample) { s.Pending = 900 + 100*uint64(i) })), []string{"READER_008"}},
	{"little waits", around(watched("C", five, waitingIs(1), moving(100), func(i int, s *Sample) { s.Pending = 799 + 100*uint64(i) })), nil},
	{"one look less", around(watched("C", five, waitingIs(1), moving(100), func(i int, s *Sample) { s.Pending = []uint64{2000, 1999, 2500}[i] })), nil},
	{"it catches up", around(watched("C", five, waitingIs(1), moving(100), func(i int, s *Sample) { s.Pending = 9000 - 100*uint64(i) })), nil},
	{"unprocessed beyond its metadata", around(watched("C", monitored("io.nats.monitor.unprocessed-critical", "9"), waitingIs(1), pendingIs(10))), []string{"READER_008"}},
	{"pulls beyond its metadata", around(watched("C", monitored("io.nats.monitor.waiting-critical", "1"), waitingIs(2))), []string{"READER_010"}},
	{"unprocessed within its metadata", around(watched("C", monitored("io.nats.monitor.unprocessed-critical", "10"), waitingIs(1), pendingIs(10))), nil},

	{"at the ack limit", around(watched("C", durable, pendingIs(5), outIs(100), deliveredAgo(time.Second))), []string{"READER_009"}},
	{"one below it", around(watched("C", durable, pendingIs(5), outIs(99), deliveredAgo(time.Second))), nil},
	{"one look below it", around(watched("C", durable, pendingIs(5), deliveredAgo(time.Second), func(i int, s *Sample) { s.AckPending = 100 - i/2 })), nil},

	{"pulls fill max_waiting", around(watched("C", durable, waitingIs(512))), []string{"READER_010"}},
	{"one place is free", around(watched("C", durable, waitingIs(511))), nil},

	{"ahead of its stream", around(watched("C", five, waitingIs(1), at(1001))), []string{"READER_011"}},
	{"at its end", around(watched("C", five, waitingIs(1), at(1000))), nil},
	{"the stream was looked at before it", with(around(watched("C", five, waitingIs(1), at(1001))), func(f *Facts) { f.Streams[0].Last.Time = t0 }), nil},

	{"passed over", with(around(watched("C", durable, waitingIs(1), at(4))), func(f *Facts) { f.Consumers[0].Matching = ptr(uint64(5)) }), []string{"READER_012"}},
	{"as many as it delivered", with(around(watched("C", durable, waitingIs(1), at(5))), func(f *Facts) { f.Consumers[0].Matching = ptr(uint64(5)) }), nil},
	{"it was made to begin later", with(around(watched("C", changed(durable, func(c *ConsumerConfig) { c.DeliverPolicy = "new" }), waitingIs(1), at(4))), func(f *Facts) { f.Consumers[0].Matching = ptr(uint64(5)) }), nil},

	{"a filter that matches nothing", around(watched("C", changed(five, func(c *ConsumerConfig) { c.FilterSubject = "t.a" }), waitingIs(1))), []string{"READER_013"}},
	{"a filter that can match", around(watched("C", changed(five, func(c *ConsumerConfig) { c.FilterSubject = "*.a" }), waitingIs(1))), nil},
	{"of a stream with sources", with(around(watched("C", changed(five, func(c *ConsumerConfig) { c.FilterSubject = "t.a" }), waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Sources = []Origin{{"T"}} }), nil},

	{"a consumer that does not answer", with(around(watched("C", five, waitingIs(1))), func(f *Facts) { f.Consumers[0].Silent = true }), []string{"READER_015"}},
	{"a stream without a leader", with(around(), func(f *Facts) { f.Streams[0].Group = &Group{Name: "c"} }), []string{"READER_015"}},
	{"a single server names no leader", with(around(), func(f *Facts) { f.Streams[0].Group = &Group{} }), nil},
	{"a follower is offline", with(around(), func(f *Facts) {
		f.Streams[0].Group = &Group{Name: "c", Leader: "a", Replicas: []Peer{{Name: "b", Offline: true}}}
	}), []string{"READER_015"}},
	{"a follower is current", with(around(), func(f *Facts) {
		f.Streams[0].Group = &Group{Name: "c", Leader: "a", Replicas: []Peer{{Name: "b", Current: true}}}
	}), nil},

	{"no room for a consumer", with(around(), func(f *Facts) { f.Streams[0].Config.MaxConsumers, f.Streams[0].Last.Consumers = 3, 3 }), []string{"READER_016"}},
	{"room for one", with(around(), func(f *Facts) { f.Streams[0].Config.MaxConsumers, f.Streams[0].Last.Consumers = 3, 2 }), nil},
	{"nine tenths of many", with(around(), func(f *Facts) { f.Streams[0].Config.MaxConsumers, f.Streams[0].Last.Consumers = 10, 9 }), []string{"READER_016"}},
	{"900 of 2.15's thousand", with(around(), func(f *Facts) { f.Streams[0].Last.Consumers = 900 }), []string{"READER_016"}},
	{"900 on 2.14", with(around(), func(f *Facts) { f.Streams[0].Last.Consumers, f.Server.Version = 900, "2.14.10" }), nil},

	{"a pull beyond max_batch", heard(around(watched("C", changed(five, func(c *ConsumerConfig) { c.MaxBatch = 10 }), waitingIs(1))), Pulls{Stream: "S", Consumer: "C", Count: 1, Batch: 11}), []string{"READER_017"}},
	{"a pull of max_batch", heard(around(watched("C", changed(five, func(c *ConsumerConfig) { c.MaxBatch = 10 }), waitingIs(1))), Pulls{Stream: "S", Consumer: "C", Count: 1, Batch: 10}), nil},

	{"JetStream is off", with(Facts{}, func(f *Facts) { f.JetStream.Off = true }), []string{"READER_018"}},
	{"the account has none", with(Facts{}, func(f *Facts) { f.JetStream.Error = &APIError{503, 10039, "JetStream not enabled for account"} }), []string{"READER_018"}},
	{"no leader is not off", with(Facts{}, func(f *Facts) { f.JetStream.Error = &APIError{503, 10008, "temporarily unavailable"} }), []string{"READER_015"}},
	{"no answer is not off", with(Facts{}, func(f *Facts) { f.JetStream.Silent = true }), []string{"READER_015"}},
	{"storage nearly used up", with(around(), func(f *Facts) { f.Account.Storage, f.Account.Limits.MaxStorage = 90, 100 }), []string{"READER_018"}},
	{"storage to spare", with(around(), func(f *Facts) { f.Account.Storage, f.Account.Limits.MaxStorage = 89, 100 }), nil},
	{"storage without a limit", with(around(), func(f *Facts) { f.Account.Storage, f.Account.Limits.MaxStorage = 90, -1 }), nil},

	{"the server is well", with(around(), func(f *Facts) { f.Monitor = &Monitor{MaxStorage: 100, Storage: 89} }), nil},
	{"the server is not well", with(around(), func(f *Facts) { f.Monitor = &Monitor{Health: "unavailable"} }), []string{"READER_018"}},
	{"the server's JetStream is disabled", with(around(), func(f *Facts) { f.Monitor = &Monitor{Disabled: true} }), []string{"READER_018"}},
	{"the server's storage is nearly used up", with(around(), func(f *Facts) { f.Monitor = &Monitor{MaxStorage: 100, Storage: 90} }), []string{"READER_018"}},
	{"the server's memory is nearly used up", with(around(), func(f *Facts) { f.Monitor = &Monitor{MaxMemory: 100, Memory: 90} }), []string{"READER_018"}},
	{"a stream that refuses what is new is full", with(around(), func(f *Facts) { f.Streams[0].Config.Discard, f.Streams[0].Config.MaxMsgs = "new", 1000 }), []string{"READER_018"}},
	{"it has room for one", with(around(), func(f *Facts) { f.Streams[0].Config.Discard, f.Streams[0].Config.MaxMsgs = "new", 1001 }), nil},
	{"it is full and lets the old go", with(around(), func(f *Facts) { f.Streams[0].Config.Discard, f.Streams[0].Config.MaxMsgs = "old", 1000 }), nil},
	{"full by its bytes", with(around(), func(f *Facts) {
		f.Streams[0].Config.Discard, f.Streams[0].Config.MaxBytes, f.Streams[0].Last.Bytes = "new", 500, 500
	}), []string{"READER_018"}},

	{"a permission is missing", with(around(), func(f *Facts) {
		f.Dry = []DryRun{{Operation: "publish", Subject: "$JS.API.X", Needed: true, Denied: "no"}}
	}), []string{"READER_019"}},
	{"all is permitted", with(around(), func(f *Facts) { f.Dry = []DryRun{{Operation: "publish", Subject: "$JS.API.X", Needed: true}} }), nil},

	{"one replica", with(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Replicas = 1 }), waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Replicas = 3 }), []string{"READER_020"}},
	{"one replica of two", with(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Replicas = 1 }), waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Replicas = 2 }), []string{"READER_020"}},
	{"the stream has one, too", around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Replicas = 1 }), waitingIs(1))), nil},
	{"kept in memory", with(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Memory = true }), waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Replicas = 3 }), []string{"READER_020"}},
	{"the stream's replicas", with(around(watched("D", durable, waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Replicas = 3 }), nil},
	{"an ephemeral is made again", with(around(watched("C", changed(five, func(c *ConsumerConfig) { c.Replicas = 1 }), waitingIs(1))), func(f *Facts) { f.Streams[0].Config.Replicas = 3 }), nil},

	{"two processes pull", heard(around(watched("C", five, waitingIs(2))), Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: orderedInbox}, Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: otherInbox}), []string{"READER_021"}},
	{"two processes share a durable", heard(around(watched("C", durable, waitingIs(2))), Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: orderedInbox}, Pulls{Stream: "S", Consumer: "C", Count: 1, Inbox: otherInbox}), nil},

	{"two clients made it", with(around(watched("C", five, waitingIs(1))), func(f *Facts) { f.Advisories = []Advisory{madeBy("C", "a"), madeBy("C", "b")} }), []string{"READER_021"}},
	{"one client made it twice", with(around(watched("C", five, waitingIs(1))), func(f *Facts) { f.Advisories = []Advisory{madeBy("C", "a"), madeBy("C", "a")} }), nil},
	{"nobody knows who made it", with(around(watched("C", five, waitingIs(1))), func(f *Facts) { f.Advisories = []Advisory{madeBy("C", "a"), madeBy("C", "")} }), nil},
	{"two clients made two", with(around(watched("C", five, waitingIs(1)), watched("E", five, waitingIs(1))), func(f *Facts) { f.Advisories = []Advisory{madeBy("C", "a"), madeBy("E", "b")} }), nil},
	{"two workers made their durable", with(around(watched("C", durable, waitingIs(1))), func(f *Facts) { f.Advisories = []Advisory{madeBy("C", "a"), madeBy("C", "b")} }), nil},

	{"a slow connection", with(clients(around(), otherInbox), func(f *Facts) { f.Connections.List[0].Pending, f.Connections.List[0].Before = 1<<20, 1<<20 }), []string{"READER_022"}},
	{"it was slow, and took all of that", with(clients(around(), otherInbox), func(f *Facts) {
		c := &f.Connections.List[0]
		c.Pending, c.Before, c.Sent = 1<<20, 1<<20, 1<<20+1
	}), nil},
	{"it was slow for a moment", with(clients(around(), otherInbox), func(f *Facts) { f.Connections.List[0].Pending = 1 << 20 }), nil},
	{"closed as slow", with(clients(around()), func(f *Facts) {
		f.Connections.Closed = []Connection{{Stop: ptr(t0.Add(-59 * time.Minute)), Reason: "Slow Consumer (Pending Bytes)"}}
	}), []string{"READER_022"}},
	{"closed as slow long ago", with(clients(around()), func(f *Facts) {
		f.Connections.Closed = []Connection{{Stop: ptr(t0.Add(-61 * time.Minute)), Reason: "Slow Consumer (Pending Bytes)"}}
	}), nil},
}

func ptr[T any](v T) *T { return &v }

func changed(c ConsumerConfig, change func(*ConsumerConfig)) ConsumerConfig {
	change(&c)
	return c
}

func monitored(key, value string) ConsumerConfig {
	return changed(five, func(c *ConsumerConfig) { c.Metadata = map[string]string{key: value} })
}

func idsOf(r Report) (ids []string) {
	for _, f := range r.Findings {
		ids = append(ids, f.Check)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// noWorse: a check says how bad what it finds is at worst, on the pages that explain it.
func noWorse(t *testing.T, r Report) {
	t.Helper()
	for _, c := range Checks() {
		for _, f := range r.Findings {
			if f.Check == c.ID && f.Severity.rank() < c.Severity.rank() {
				t.Errorf("%s says that it finds %s at worst: %+v", c.ID, c.Severity, f)
			}
		}
	}
}

func TestChecks(t *testing.T) {
	fired := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := Judge(c.f, JudgeOptions{})
			noWorse(t, r)
			if got := idsOf(r); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v: %+v", got, c.want, r.Findings)
			}
			for _, f := range r.Findings {
				fired[f.Check] = true
				if f.Text == "" || f.Title == "" || f.Why == "" || len(f.Facts) == 0 || len(f.Do) == 0 {
					t.Errorf("a finding is not told whole: %+v", f)
				}
			}
		})
	}
	for _, c := range Checks() {
		if !fired[c.ID] {
			t.Errorf("no case fires %s", c.ID)
		}
	}
}

// The clock of the machine that judges is no part of a judgement, and neither is
// when the facts are from.
func TestJudgedByTheServersClock(t *testing.T) {
	for _, c := range cases {
		if got := idsOf(Judge(shifted(c.f, 1000*time.Hour), JudgeOptions{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v on another clock, want %v", c.name, got, c.want)
		}
	}
}

func shifted(f Facts, by time.Duration) Facts {
	move := func(at time.Time) time.Time {
		if at.IsZero() {
			return at
		}
		return at.Add(by)
	}
	movePtr := func(at *time.Time) *time.Time {
		if at == nil {
			return nil
		}
		return ptr(move(*at))
	}
	f.Began, f.Ended = move(f.Began), move(f.Ended)
	f.Streams, f.Consumers, f.Advisories = slices.Clone(f.Streams), slices.Clone(f.Consumers), slices.Clone(f.Advisories)
	for i := range f.Streams {
		f.Streams[i].Created, f.Streams[i].Last.Time = move(f.Streams[i].Created), move(f.Streams[i].Last.Time)
	}
	for i := range f.Advisories {
		f.Advisories[i].Time = move(f.Advisories[i].Time)
	}
	for i := range f.Consumers {
		c := &f.Consumers[i]
		c.Created, c.Samples = move(c.Created), slices.Clone(c.Samples)
		for j := range c.Samples {
			s := &c.Samples[j]
			s.Time, s.Delivered.Active, s.AckFloor.Active = move(s.Time), movePtr(s.Delivered.Active), movePtr(s.AckFloor.Active)
		}
	}
	if f.Connections != nil {
		connections := *f.Connections
		connections.Closed = slices.Clone(connections.Closed)
		for i := range connections.Closed {
			connections.Closed[i].Stop = movePtr(connections.Closed[i].Stop)
		}
		f.Connections = &connections
	}
	return f
}

// The causes of being stuck at max_ack_pending.
func TestAckCauses(t *testing.T) {
	stuck := func(looks ...look) Facts {
		return around(watched("C", durable, append([]look{pendingIs(5), outIs(100)}, looks...)...))
	}
	resent := func(i int, s *Sample) { s.Delivered.Consumer, s.Redelivered = 100+100*uint64(i), 100*i }
	for _, c := range []struct {
		name, want string
		f          Facts
	}{
		{"acks come", "slow_handler", stuck(waitingIs(1), deliveredAgo(time.Second), func(i int, s *Sample) { s.AckFloor.Stream = uint64(i) })},
		{"ack wait runs", "slow_handler", stuck(deliveredAgo(20 * time.Second))},
		{"nobody pulls", "owner_dead", stuck(deliveredAgo(time.Minute))},
		{"somebody waits", "naks_with_delay", stuck(waitingIs(1), deliveredAgo(time.Minute))},
		{"sent again and again", "acks_denied", stuck(waitingIs(1), deliveredAgo(time.Second), resent)},
		{"a nak was told of another", "slow_handler", with(stuck(deliveredAgo(time.Second)), func(f *Facts) {
			f.Advisories = []Advisory{{Kind: "nak", Stream: "S", Consumer: "D"}, {Kind: "nak", Stream: "T", Consumer: "C"}, {Kind: "terminated", Stream: "S", Consumer: "C"}}
		})},
		{"a nak was told", "naks_with_delay", with(stuck(deliveredAgo(time.Second)), func(f *Facts) {
			f.Advisories = []Advisory{{Kind: "nak", Stream: "S", Consumer: "C"}}
		})},
	} {
		r := Judge(c.f, JudgeOptions{})
		noWorse(t, r)
		if len(r.Findings) != 1 || r.Findings[0].Check != "READER_009" || r.Findings[0].Cause != c.want {
			t.Errorf("%s: found %+v, want the cause %s", c.name, r.Findings, c.want)
		}
	}
}

func TestOnlyAndSkip(t *testing.T) {
	f := around(watched("C", changed(five, func(c *ConsumerConfig) { c.FilterSubject = "t.a" }), pendingIs(10)))
	for _, c := range []struct {
		o    JudgeOptions
		want []string
	}{
		{JudgeOptions{}, []string{"READER_001", "READER_013"}},
		{JudgeOptions{Only: []string{"13"}}, []string{"READER_013"}},
		{JudgeOptions{Skip: []string{"reader-013"}}, []string{"READER_001"}},
		{JudgeOptions{Only: []string{"READER_002"}}, nil},
	} {
		if got := idsOf(Judge(f, c.o)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: found %v, want %v", c.o, got, c.want)
		}
	}
	if CheckID("23") != "" || CheckID("") != "" || CheckID("READER_") != "" {
		t.Error("there are checks that do not exist")
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		f    Facts
		want Verdict
		text string
	}{
		{around(watched("C", five, waitingIs(1))), VerdictHealthy, "healthy: 1 consumer on 1 stream, watched for 6.6s, and nothing is wrong"},
		{around(watched("C", five, pendingIs(1))), VerdictCritical, "critical: 1 deaf reader (1 consumer on 1 stream, watched for 6.6s)"},
		{around(watched("C", durable, pendingIs(1))), VerdictWarning, "warning: 1 warning (1 consumer on 1 stream, watched for 6.6s)"},
		{around(watched("C", five, always(func(s *Sample) { s.Paused = true }))), VerdictHealthy, "healthy: 1 consumer on 1 stream, watched for 6.6s, and nothing is wrong"},
		{Facts{}, VerdictUnknown, "cannot judge: no consumer could be looked at"},
		{with(around(), func(f *Facts) { f.Blind = true }), VerdictUnknown, "cannot judge: no consumer could be looked at"},
		{with(around(watched("C", five, waitingIs(1))), func(f *Facts) { f.Blind = true }), VerdictHealthy, "healthy as far as could be seen: 1 consumer on 1 stream, watched for 6.6s, and nothing is wrong"},
	} {
		if r := Judge(c.f, JudgeOptions{}); r.Verdict != c.want || r.Text != c.text {
			t.Errorf("the verdict is %s, %q; want %s, %q", r.Verdict, r.Text, c.want, c.text)
		}
	}
}
