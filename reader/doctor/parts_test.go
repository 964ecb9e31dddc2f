package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPartsSubjects(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a.b", "a", false}, {"a", "a.b", false}, {"a.*", "a.b", true}, {"*.b", "a.*", true},
		{"a.*", "a.b.c", false}, {"a.>", "a.b.c", true}, {"a.>", "a", false}, {">", "a", true}, {"a.>", "b.>", false}, {"a.*.c", "a.b.d", false},
	} {
		if overlap(c.a, c.b) != c.want || overlap(c.b, c.a) != c.want {
			t.Errorf("%s and %s: not %v", c.a, c.b, c.want)
		}
	}
	for _, c := range []struct {
		sub, subject string
		want         bool
	}{
		{"a.b", "a.b", true}, {"a.*", "a.b", true}, {"a.*", "a.b.c", false}, {"a.>", "a.b.c", true}, {"a.>", "a", false}, {"a.b.c", "a.b", false}, {"a", "b", false}, {"a.b", "a", false},
	} {
		if covers(c.sub, c.subject) != c.want {
			t.Errorf("%s of %s: not %v", c.sub, c.subject, c.want)
		}
	}
	for sub, want := range map[string]bool{
		">": true, "*.>": true, "*": false, "_INBOX.>": true, "_INBOX.x.>": false, "_INBOX.*": false, "_INBOX_me.>": true, "a.>": false, "_INBOX": false,
	} {
		if wide(sub) != want {
			t.Errorf("%s takes every inbox: not %v", sub, want)
		}
	}
	for sub, want := range map[string]bool{">": true, "_INBOX.x": true, "my." + ordered[:22] + ".*": true, "orders.>": false, "my.inbox": false} {
		if inboxLike(sub) != want {
			t.Errorf("%s is kept as an inbox: not %v", sub, want)
		}
	}
}

func TestPartsNames(t *testing.T) {
	for name, want := range map[string]string{
		"worker": "worker", "worker-1": "worker", "worker_12": "worker", "r_1": "r", "-1": "-1", "a-b": "a-b",
		ordered: ordered[:22], ordered[:22]: drawn, "app-3f2a9c1e": "app-", "app_" + ordered[:22]: "app_",
		"550e8400-e29b-41d4-a716-446655440000": drawn, "app-550e8400-e29b-41d4-a716-446655440000": "app-",
		"orders-processor": "orders-processor", "Kx8dQ2mZ": drawn, "app-20260301": "app-20260301", "--": "--", "": "",
	} {
		if got := stemOf(name); got != want {
			t.Errorf("the stem of %q is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"S": "S", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "a;b": "'a;b'", "$(x)": "'$(x)'", "a-b_c=1": "a-b_c=1"} {
		if got := word(name); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
	}
	for _, c := range []struct {
		version string
		want    bool
	}{{"2.15.3", true}, {"2.15.0-RC.1", true}, {"2.14.10", false}, {"3.0.0", true}, {"1.99.0", false}, {"", false}, {"v2.15.3", true}, {"x.y", false}} {
		if atLeast(c.version, 2, 15) != c.want {
			t.Errorf("%q is 2.15 or newer: not %v", c.version, c.want)
		}
	}
	s := steps("do it: $ nats consumer info S C", "$ nats server list", "think", "ack to $JS.ACK.S.C")
	want := []Step{{"do it", "nats consumer info S C"}, {"", "nats server list"}, {"think", ""}, {"ack to $JS.ACK.S.C", ""}}
	if !slices.Equal(s, want) {
		t.Errorf("steps are %+v, want %+v", s, want)
	}
}

// Whose consumer it is, by the names that clients draw.
func TestPartsHolders(t *testing.T) {
	h := holdersOf(&Connections{Complete: true, List: []Connection{
		{ID: 1, Subs: []string{orderedInbox}}, {ID: 2, Subs: []string{ownInbox}}, {ID: 3, Subs: []string{">"}},
	}})
	for _, c := range []struct {
		name  string
		owner string
		by    uint64
		sure  bool
	}{
		{ordered, "", 2, true}, // the later of two connections of one process
		{otherInbox[7:] + "_4", "", 0, true},
		{"worker", "", 0, false},
		{"reader-f6nGonHM-3", "f6nGonHM", 2, true},
		{"reader-f6nGonKM-3", "f6nGonKM", 0, true}, // drawn after that inbox
		{"reader-a6nGonHM-3", "a6nGonHM", 0, true},
		{"x", "somebody", 0, true},
		{"x", "me", 0, false},
	} {
		consumer := &Consumer{Name: c.name}
		if c.owner != "" {
			consumer.Config.Metadata = map[string]string{ownerKey: c.owner}
		}
		by, sure := h.maker(consumer)
		if sure != c.sure || (by == nil) != (c.by == 0) || by != nil && by.ID != c.by {
			t.Errorf("%s of %q: made by %v, sure %v", c.name, c.owner, by, sure)
		}
	}
	h.complete = false
	if _, sure := h.maker(&Consumer{Name: otherInbox[7:] + "_4"}); sure {
		t.Error("it is sure that nobody is connected, where not all are listed")
	}
}

// The severity where one check has several.
func TestSeverities(t *testing.T) {
	slots := func(most, used, own int) Facts {
		return with(around(), func(f *Facts) {
			f.Streams[0].Config.MaxConsumers, f.Streams[0].Last.Consumers, f.Account.Limits.MaxConsumers = most, used, own
		})
	}
	used := func(n uint64) Facts {
		return with(around(), func(f *Facts) { f.Account.Storage, f.Account.Limits.MaxStorage = n, 1000 })
	}
	peer := func(p Peer) Facts {
		return with(around(), func(f *Facts) {
			f.Streams[0].Group = &Group{Name: "c", Leader: "a", Replicas: []Peer{{Name: "x", Current: true}, p}}
		})
	}
	for _, c := range []struct {
		name string
		f    Facts
		want Severity
	}{
		{"one of one consumer", slots(1, 1, 0), Info},
		{"two of one consumer", slots(1, 2, 0), Info},
		{"two of two consumers", slots(2, 2, 0), Warning},
		{"the account's limit is less", slots(9, 3, 3), Warning},
		{"the account's limit is more", slots(3, 3, 9), Warning},
		{"no limit but the account's", slots(-1, 3, 3), Warning},
		{"neither is reached", slots(9, 4, 5), ""},
		{"nine tenths of storage", used(900), Warning},
		{"98 percent", used(989), Warning},
		{"99 percent", used(990), Critical},
		{"a follower that is offline and was current", peer(Peer{Name: "b", Offline: true, Current: true}), Warning},
		{"a follower that is behind", peer(Peer{Name: "b"}), Warning},
		{"one pull of one", around(watched("C", changed(durable, func(c *ConsumerConfig) { c.MaxWaiting = 1 }), waitingIs(1))), Info},
		{"ours that lapses within minutes", clients(around(watched("reader-f6nGonHM-1", ownReads)), otherInbox), Info},
		{"ours that lapses in an hour", clients(around(watched("reader-f6nGonHM-1", changed(ownReads, func(c *ConsumerConfig) { c.InactiveThreshold = time.Hour }))), otherInbox), Warning},
		{"abandoned, and its reader of ours is there", clients(around(watched("D", changed(durable, func(c *ConsumerConfig) { c.Metadata = ownReads.Metadata }), outIs(3), deliveredAgo(time.Minute))), ownInbox), Info},
	} {
		r := Judge(c.f, JudgeOptions{})
		var got Severity
		if len(r.Findings) > 0 {
			got = r.Findings[0].Severity
		}
		if len(r.Findings) > 1 || got != c.want {
			t.Errorf("%s: %+v, want %q", c.name, r.Findings, c.want)
		}
	}
}

// Limits in a consumer's own metadata.
func TestMonitorLimits(t *testing.T) {
	acked := func(ago time.Duration) look {
		return always(func(s *Sample) { s.AckFloor.Active = ptr(t0.Add(6600*time.Millisecond - ago)) })
	}
	config := func(key, value string) ConsumerConfig {
		return changed(durable, func(c *ConsumerConfig) { c.Metadata = map[string]string{"io.nats.monitor." + key: value} })
	}
	for _, c := range []struct {
		name string
		c    Consumer
		want []string
	}{
		{"acks out", watched("C", config("outstanding-ack-critical", "2"), waitingIs(1), outIs(3), deliveredAgo(time.Second)), []string{"READER_009"}},
		{"as many as allowed", watched("C", config("outstanding-ack-critical", "3"), waitingIs(1), outIs(3), deliveredAgo(time.Second)), nil},
		{"redelivered", watched("C", config("redelivery-critical", "2"), waitingIs(1), always(func(s *Sample) { s.Redelivered = 3 })), []string{"READER_009"}},
		{"pulls", watched("C", config("waiting-critical", "2"), waitingIs(3)), []string{"READER_010"}},
		{"as many pulls as allowed", watched("C", config("waiting-critical", "3"), waitingIs(3)), nil},
		{"delivery", watched("C", config("last-delivery-critical", "1m"), waitingIs(1), pendingIs(1), deliveredAgo(61*time.Second)), []string{"READER_008"}},
		{"delivery in time", watched("C", config("last-delivery-critical", "1m"), waitingIs(1), pendingIs(1), deliveredAgo(59*time.Second)), nil},
		{"nothing to deliver", watched("C", config("last-delivery-critical", "1m"), waitingIs(1), deliveredAgo(61*time.Second)), nil},
		{"ack", watched("C", config("last-ack-critical", "1m"), waitingIs(1), outIs(1), deliveredAgo(time.Second), acked(61*time.Second)), []string{"READER_008"}},
		{"ack in time", watched("C", config("last-ack-critical", "1m"), waitingIs(1), outIs(1), deliveredAgo(time.Second), acked(59*time.Second)), nil},
		{"nothing to ack", watched("C", config("last-ack-critical", "1m"), waitingIs(1), acked(61*time.Second)), nil},
		{"no number", watched("C", config("waiting-critical", "many"), waitingIs(3)), nil},
	} {
		if got := idsOf(Judge(around(c.c), JudgeOptions{})); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
	}
}

// Who polls at times looks like one who is deaf, and is not called that alone.
func TestBetweenTwoPolls(t *testing.T) {
	for _, c := range []struct {
		name string
		c    Consumer
		want bool
	}{
		{"delivered lately", watched("C", durable, pendingIs(1), deliveredAgo(time.Minute)), true},
		{"delivered long ago", watched("C", durable, pendingIs(1), deliveredAgo(time.Hour)), false},
		{"never delivered", watched("C", durable, pendingIs(1)), false},
	} {
		r := Judge(around(c.c), JudgeOptions{})
		if len(r.Findings) != 1 || r.Findings[0].Check != idNoPuller || strings.Contains(r.Findings[0].Text, "between two polls") != c.want {
			t.Errorf("%s: found %+v", c.name, r.Findings)
		}
	}
}

// What is advised where nobody pulls: what would decide between deaf and gone.
func TestNextSteps(t *testing.T) {
	for _, c := range []struct {
		name, cause, command string
		f                    Facts
	}{
		{"a durable", "", "nats-reader doctor S C --for 60s", around(watched("C", durable, pendingIs(1)))},
		{"a threshold of 30s", "", "nats-reader doctor S C --for 33s", around(watched("C", changed(five, func(c *ConsumerConfig) { c.InactiveThreshold = 30 * time.Second }), pendingIs(1)))},
		{"a threshold of a day", "", "nats-reader doctor S C --listen", around(watched("C", changed(five, func(c *ConsumerConfig) { c.InactiveThreshold = 24 * time.Hour }), pendingIs(1)))},
		{"asked for by name", "", "nats-reader doctor S C --for 60s", with(around(watched("C", durable, pendingIs(1))), func(f *Facts) { f.Stream, f.Consumer = "S", "C" })},
		{"asked for, and gone", "lapsed", "nats events --js-advisory", with(around(watched("C", durable, pendingIs(1))), func(f *Facts) {
			f.Stream, f.Consumer, f.Consumers[0].Gone = "S", "C", true
		})},
	} {
		r := Judge(c.f, JudgeOptions{})
		if len(r.Findings) != 1 || r.Findings[0].Check != idNoPuller || r.Findings[0].Cause != c.cause {
			t.Errorf("%s: found %+v", c.name, r.Findings)
			continue
		}
		var commands []string
		for _, s := range r.Findings[0].Do {
			if s.Command != "" {
				commands = append(commands, s.Command)
			}
		}
		if len(commands) == 0 || commands[0] != c.command {
			t.Errorf("%s: the commands are %q, want %q first", c.name, commands, c.command)
		}
	}
}
