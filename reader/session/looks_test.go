package session

import "testing"

// What is asked while a look is under way is answered by the next one, never by
// that one: it may be older than the create it is to vouch for.
func TestLooksAreSharedByWhoAskedBefore(t *testing.T) {
	var l Link
	if !l.Look("S") || l.Look("S") {
		t.Fatal("two askers: the first sends, the second shares")
	}
	if !l.Look("T") {
		t.Fatal("another stream waits for this one")
	}
	l.LookSent("S")
	for range 2 {
		if l.Look("S") {
			t.Fatal("a second look while one is under way")
		}
	}
	if !l.LookOver("S") {
		t.Fatal("nobody sends the look that two wait for")
	}
	if l.Look("S") {
		t.Fatal("sent twice")
	}
	l.LookSent("S")
	if l.LookOver("S") {
		t.Fatal("a look that nobody asked for")
	}
	l.LookLeft("T")
	if !l.Look("T") {
		t.Fatal("a look that nobody wanted any more is still due")
	}
	l.LookSent("T")
	l.LookOver("T")
	if len(l.looks.of) != 0 {
		t.Fatalf("left behind: %v", l.looks.of)
	}
}

// All who share a look may leave while another one is under way.
func TestLooksThatAreLeft(t *testing.T) {
	var l Link
	l.Look("S")
	l.LookSent("S")
	l.Look("S")
	l.LookLeft("S")
	if l.LookOver("S") || len(l.looks.of) != 0 {
		t.Fatalf("left behind: %v", l.looks.of)
	}
	if !l.Look("S") {
		t.Fatal("not sent")
	}
}
