package session

import (
	"testing"
	"time"
)

func TestDeadLinkIsForcedWhenNothingArrives(t *testing.T) {
	var l Link
	if !l.Suspect(10*time.Second, 500, 0) {
		t.Fatal("no PING asked for")
	}
	if l.Suspect(11*time.Second, 500, 0) {
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
	if l.Suspect(12500*time.Millisecond, 500, 0) {
		t.Fatal("suspected while it is being made anew")
	}
	if _, ok := l.Wake(); ok {
		t.Fatal("wake set while it is being made anew")
	}
}

func TestDeadLinkIsNotForcedWhileAMessageMayBeOnItsWay(t *testing.T) {
	var l Link
	l.Suspect(0, 500, time.Second)
	if at, ok := l.Wake(); !ok || at != 3*time.Second {
		t.Fatalf("wake %v %v, want 3s: W and a message", at, ok)
	}
	l.Suspect(time.Second, 500, 16*time.Second)
	if at, ok := l.Wake(); !ok || at != 18*time.Second {
		t.Fatalf("wake %v %v, want 18s: W and the longest of what may be on its way", at, ok)
	}
	if l.Tick(17*time.Second, 500) || !l.Tick(18*time.Second, 500) {
		t.Fatal("want a force at 18s")
	}
	l.Reconnected(19 * time.Second)
	l.Suspect(30*time.Second, 500, 0)
	if at, _ := l.Wake(); at != 34*time.Second {
		t.Fatalf("wake %v, want 34s: twice W, and nothing more", at)
	}
}

func TestDeadLinkOneWayIsForcedAfterAMinute(t *testing.T) {
	var l Link
	l.Suspect(0, 500, 0)
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
	l.Suspect(0, 500, 0)
	l.Tick(2*time.Second, 501)
	l.Suspect(5*time.Second, 501, 0)
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
			l.Suspect(0, 500, 0)
			sign(&l)
			if _, ok := l.Wake(); ok || l.Tick(time.Hour, 500) {
				t.Fatal("forced a link that lives")
			}
			if !l.Suspect(time.Hour, 500, 0) {
				t.Fatal("the next silence asks for no PING")
			}
		})
	}
}

// force lets a suspicion run into a force and gives how long it took.
func force(t *testing.T, l *Link, now time.Duration) time.Duration {
	t.Helper()
	if !l.Suspect(now, 0, 0) {
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
