package session

import (
	"testing"
	"time"
)

func TestSlotsGrantRoundRobinOverReaders(t *testing.T) {
	var l Link
	for i := range uint64(streamSlots) {
		if !l.Acquire(1, "A", i+1) {
			t.Fatalf("ticket %d: no slot, want one of %d", i+1, streamSlots)
		}
	}
	// Reader 1 wants three more, then readers 2 and 3 one each: nobody waits
	// behind all of reader 1's.
	for _, w := range []struct{ reader, ticket uint64 }{{1, 101}, {1, 102}, {1, 103}, {2, 201}, {3, 301}} {
		if l.Acquire(w.reader, "A", w.ticket) {
			t.Fatalf("ticket %d: got a slot beyond the stream's", w.ticket)
		}
	}
	if !l.Acquire(9, "B", 900) {
		t.Fatal("another stream's ticket waits although the connection has room")
	}
	l.Release(900)
	want := []uint64{101, 201, 301, 102, 103}
	for i, w := range want {
		got := l.Release(uint64(i + 1))
		if len(got) != 1 || got[0] != w {
			t.Fatalf("release %d: granted %v, want %d", i, got, w)
		}
	}
	if got := l.Release(6); got != nil {
		t.Fatalf("granted %v with nobody waiting", got)
	}
}

func TestSlotsBoundTheConnection(t *testing.T) {
	var l Link
	streams := []string{"A", "B", "C", "D", "E"}
	ticket, granted := uint64(0), 0
	for _, s := range streams {
		for range streamSlots {
			ticket++
			if l.Acquire(ticket, s, ticket) {
				granted++
			}
		}
	}
	if granted != linkSlots {
		t.Fatalf("granted %d, want %d", granted, linkSlots)
	}
	// Stream E waits whole; any slot that comes free is its own.
	if got := l.Release(1); len(got) != 1 || got[0] != 65 {
		t.Fatalf("granted %v, want ticket 65", got)
	}
	l.Abandon(66)
	if got := l.Release(2); len(got) != 1 || got[0] != 67 {
		t.Fatalf("granted %v, want ticket 67: 66 was abandoned", got)
	}
	// A granted ticket that is abandoned passes its slot on.
	if got := l.Abandon(67); len(got) != 1 || got[0] != 68 {
		t.Fatalf("granted %v, want ticket 68", got)
	}
	if got := l.Abandon(67); got != nil {
		t.Fatalf("abandoned twice: granted %v", got)
	}
}

func TestSlotsAreAllGivenBack(t *testing.T) {
	var l Link
	held := []uint64{}
	for i := range uint64(1000) {
		if l.Acquire(i%40, string(rune('A'+i%7)), i+1) {
			held = append(held, i+1)
		}
	}
	seen := len(held)
	for len(held) > 0 {
		next := l.Release(held[0])
		held = append(held[1:], next...)
		seen += len(next)
		if len(l.holds) > linkSlots {
			t.Fatalf("%d slots held", len(l.holds))
		}
	}
	if seen != 1000 || len(l.waiting) != 0 || len(l.used) != 0 {
		t.Fatalf("granted %d of 1000; waiting %v, used %v", seen, l.waiting, l.used)
	}
}

func TestDeadLinkIsForcedWhenNothingArrives(t *testing.T) {
	var l Link
	if !l.Suspect(10*time.Second, 500) {
		t.Fatal("no PING asked for")
	}
	if l.Suspect(11*time.Second, 500) {
		t.Fatal("a second PING while the first is unanswered")
	}
	if at, ok := l.Wake(); !ok || at != 12*time.Second {
		t.Fatalf("wake %v %v, want 12s: a second silence with nothing new extends nothing", at, ok)
	}
	if l.Tick(11900*time.Millisecond, 500) {
		t.Fatal("forced before W")
	}
	if !l.Tick(12*time.Second, 500) {
		t.Fatal("not forced after W with nothing arriving")
	}
	if l.Suspect(12500*time.Millisecond, 500) {
		t.Fatal("suspected while it is being made anew")
	}
	if _, ok := l.Wake(); ok {
		t.Fatal("wake set while it is being made anew")
	}
}

func TestDeadLinkOneWayIsForcedAfterAMinute(t *testing.T) {
	var l Link
	l.Suspect(0, 500)
	if l.Tick(2*time.Second, 501) {
		t.Fatal("forced although something arrived")
	}
	if at, _ := l.Wake(); at != 60*time.Second {
		t.Fatalf("wake %v, want 60s", at)
	}
	if l.Tick(59*time.Second, 900) || !l.Tick(60*time.Second, 900) {
		t.Fatal("want a force at 60s, whatever arrives")
	}
}

func TestDeadLinkANewSilenceCountsFromItsOwnBeginning(t *testing.T) {
	var l Link
	l.Suspect(0, 500)
	l.Tick(2*time.Second, 501)
	l.Suspect(5*time.Second, 501)
	if at, _ := l.Wake(); at != 7*time.Second {
		t.Fatalf("wake %v, want 7s", at)
	}
	if !l.Tick(7*time.Second, 501) {
		t.Fatal("not forced although nothing arrived since the second silence")
	}
}

func TestDeadLinkLives(t *testing.T) {
	for name, sign := range map[string]func(*Link){
		"pong":         func(l *Link) { l.Pong(time.Second) },
		"proof":        func(l *Link) { l.Proven(time.Second) },
		"disconnected": func(l *Link) { l.Disconnected(time.Second) },
		"reconnected":  func(l *Link) { l.Reconnected(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			var l Link
			l.Suspect(0, 500)
			sign(&l)
			if _, ok := l.Wake(); ok || l.Tick(time.Hour, 500) {
				t.Fatal("forced a link that lives")
			}
			if !l.Suspect(time.Hour, 500) {
				t.Fatal("the next silence asks for no PING")
			}
		})
	}
}

// force lets a suspicion run into a force and gives how long it took.
func force(t *testing.T, l *Link, now time.Duration) time.Duration {
	t.Helper()
	if !l.Suspect(now, 0) {
		t.Fatalf("%v: no PING asked for", now)
	}
	at, ok := l.Wake()
	if !ok || !l.Tick(at, 0) {
		t.Fatalf("%v: not forced at %v", now, at)
	}
	l.Reconnected(at)
	return at - now
}

func TestDeadLinkWaitDoublesWithoutProof(t *testing.T) {
	var l Link
	now := time.Duration(0)
	for i, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		got := force(t, &l, now)
		if got != want*time.Second {
			t.Fatalf("force %d after %v, want %v", i+1, got, want*time.Second)
		}
		now += got + 5*time.Second
	}
	// A proof after a force keeps W where it is.
	l.Proven(now)
	if got := force(t, &l, now+time.Second); got != 60*time.Second {
		t.Fatalf("after a proof W is %v, want 60s still", got)
	}
	l.Proven(now + 62*time.Second)
	if got := force(t, &l, now+62*time.Second+deadFallBack); got != deadWait {
		t.Fatalf("after ten quiet minutes W is %v, want %v", got, deadWait)
	}
}

func TestDeadLinkProofKeepsTheWaitShort(t *testing.T) {
	var l Link
	for i := range 5 {
		now := time.Duration(i) * 20 * time.Second
		if got := force(t, &l, now); got != deadWait {
			t.Fatalf("force %d after %v, want %v", i+1, got, deadWait)
		}
		l.Proven(now + 3*time.Second)
	}
}
