package session

import (
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// desk is a link whose requests are numbered by the test.
type desk struct {
	*testing.T
	Link
	now time.Duration
}

// wideWindow is a desk whose server has proven to be quick.
func wideWindow(t *testing.T) *desk {
	d := &desk{T: t}
	d.size, d.settled = linkSlots, true
	return d
}

func (d *desk) wants(reader uint64, stream string, api API, id uint64) bool {
	return d.Acquire(d.now, Ticket{ID: id, Reader: reader, Stream: stream, API: api})
}

func (d *desk) creates(stream string, from, to uint64) (granted int) {
	for id := from; id <= to; id++ {
		if d.wants(id, stream, APIConsumerCreate, id) {
			granted++
		}
	}
	return granted
}

func (d *desk) granted(what string, got []uint64, want ...uint64) {
	d.Helper()
	if !slices.Equal(got, want) {
		d.Fatalf("%s: granted %v, want %v", what, got, want)
	}
}

func TestSlotsGrantRoundRobinOverReaders(t *testing.T) {
	d := wideWindow(t)
	if got := d.creates("A", 1, streamSlots); got != streamSlots {
		t.Fatalf("%d granted, want %d", got, streamSlots)
	}
	// Reader 1 wants three more, then readers 2 and 3 one each: nobody waits
	// behind all of reader 1's.
	for _, w := range []struct{ reader, ticket uint64 }{{1, 101}, {1, 102}, {1, 103}, {2, 201}, {3, 301}} {
		if d.wants(w.reader, "A", APIConsumerCreate, w.ticket) {
			t.Fatalf("ticket %d: got a slot beyond the stream's", w.ticket)
		}
	}
	if !d.wants(9, "B", APIConsumerCreate, 900) {
		t.Fatal("another stream's ticket waits although the connection has room")
	}
	d.Abandon(0, 900)
	for i, w := range []uint64{101, 201, 301, 102, 103} {
		d.granted("an answer", d.Answered(0, uint64(i+1)), w)
	}
	d.granted("nobody waits", d.Answered(0, 6))
}

func TestSlotsBoundTheConnection(t *testing.T) {
	d := wideWindow(t)
	granted := 0
	for i, s := range []string{"A", "B", "C", "D", "E"} {
		first := uint64(i)*streamSlots + 1
		granted += d.creates(s, first, first+streamSlots-1)
	}
	if granted != linkSlots {
		t.Fatalf("granted %d, want %d", granted, linkSlots)
	}
	// Stream E waits whole; any slot that comes free is its own.
	d.granted("an answer", d.Answered(0, 1), 65)
	d.Abandon(0, 66)
	d.granted("66 was abandoned", d.Answered(0, 2), 67)
	d.granted("a granted one is abandoned", d.Abandon(0, 67), 68)
	d.granted("abandoned twice", d.Abandon(0, 67))
}

func TestSlotsAreAllGivenBack(t *testing.T) {
	d := &desk{T: t}
	held, apis := []uint64{}, []API{APIConsumerCreate, APIStreamInfo, APIConsumerDelete, APIConsumerInfo, APIMessageGet}
	for i := range uint64(1000) {
		if d.wants(i%40, string(rune('A'+i%7)), apis[i%5], i+1) {
			held = append(held, i+1)
		}
	}
	seen := len(held)
	for n := 0; len(held) > 0; n++ {
		d.now += ms
		end := []func(time.Duration, uint64) []uint64{d.Answered, d.Abandon, d.Answered}[n%3]
		next := slices.Concat(d.Late(d.now, held[0]), end(d.now, held[0]))
		held = append(held[1:], next...)
		seen += len(next)
		if d.active > linkSlots {
			t.Fatalf("%d are waited for", d.active)
		}
	}
	if seen != 1000 || d.others.n+d.infos.n+len(d.holds)+len(d.used)+d.active+d.asking != 0 {
		t.Fatalf("granted %d of 1000; left %+v", seen, d.slots)
	}
}

// A server serves questions only while nothing else waits: what changes something
// is not sent while one is under way, and goes before the next one.
func TestSlotsQuestionsAndChangesGoByTurns(t *testing.T) {
	d := wideWindow(t)
	d.creates("A", 1, 16)
	d.creates("B", 17, 40)
	if d.wants(50, "A", APIStreamInfo, 50) {
		t.Fatal("a question beyond the stream's slots")
	}
	if !d.wants(51, "C", APIStreamInfo, 51) || !d.wants(52, "D", APIConsumerInfo, 52) {
		t.Fatal("a question waits for nobody's turn while nothing else has room")
	}
	if d.wants(53, "C", APIConsumerCreate, 53) {
		t.Fatal("a create while questions are under way")
	}
	d.granted("stream A has room for its question", d.Answered(0, 1), 50)
	d.granted("a create's answer", d.Answered(0, 2))
	d.granted("the first question's answer", d.Answered(0, 51))
	d.granted("the second's", d.Answered(0, 52))
	d.granted("the last question's answer lets those go that waited", d.Answered(0, 50), 53)
	if d.wants(60, "E", APIStreamInfo, 60); d.asking != 1 {
		t.Fatal("nothing waits with room, and a question does not go")
	}
}

// A round ends although new questions come all the time, and the next one waits
// for those that waited meanwhile.
func TestSlotsQuestionsDoNotStarveChanges(t *testing.T) {
	d := wideWindow(t)
	next, open := uint64(0), []uint64{}
	question := func() {
		if next++; d.wants(next, string(rune('a'+next%26)), APIConsumerInfo, next) {
			open = append(open, next)
		}
	}
	question()
	d.creates("A", 10001, 10003)
	for range 10 * linkSlots {
		question()
		if len(open) == 0 {
			break
		}
		got := d.Answered(0, open[0])
		open = append(open[1:], got...)
		if slices.Contains(open, 10001) {
			break
		}
	}
	for _, id := range []uint64{10001, 10002, 10003} {
		if !slices.Contains(open, id) {
			t.Fatalf("create %d still waits; under way are %v", id, open)
		}
	}
}

func TestSlotsALostAnswerGatesForAWhileOnly(t *testing.T) {
	d := wideWindow(t)
	d.wants(1, "A", APIStreamInfo, 1)
	d.creates("A", 2, 3)
	d.granted("after GateHold", d.Ungate(GateHold, 1), 2, 3)
	d.granted("again", d.Ungate(GateHold, 1))
	d.wants(4, "A", APIStreamInfo, 4)
	d.creates("A", 5, 5)
	d.granted("nobody waits for the answer any more", d.Late(GateHold, 4), 5)
}

// What is waited for no longer keeps its stream's slot until the server is past it,
// and takes none of the connection's.
func TestSlotsLateRequestsCountForTheirStream(t *testing.T) {
	d := wideWindow(t)
	d.creates("A", 1, 20)
	for id := uint64(1); id <= 16; id++ {
		d.granted("late", d.Late(0, id))
	}
	granted := 0
	for i, s := range []string{"B", "C", "D", "E"} {
		first := uint64(i)*streamSlots + 101
		granted += d.creates(s, first, first+streamSlots-1)
	}
	if granted != linkSlots {
		t.Fatalf("%d granted on other streams, want %d", granted, linkSlots)
	}
	d.granted("a late answer", d.Answered(0, 3))
	d.granted("the connection has room", d.Answered(0, 101), 17)
	d.granted("an answer to what was sent later", d.Answered(0, 17), 18)
	if u := d.used["A"]; u != (use{active: 1}) {
		t.Fatalf("stream A has %+v slots, want those only that were sent later than the one answered", u)
	}
}

// What got its turn while the connection is away would be sent all at once when it is
// back, beside what is asked then.
func TestSlotsNothingGoesWhileTheConnectionIsAway(t *testing.T) {
	d := wideWindow(t)
	d.creates("A", 1, 20)
	d.Disconnected(0)
	d.granted("a request that was lost", d.Abandon(0, 1))
	if d.wants(30, "B", APIStreamInfo, 30) {
		t.Fatal("granted while the connection is away")
	}
	d.granted("not wanted any more", d.Abandon(0, 18))
	d.granted("the connection is back", d.Reconnected(0), 30)
	d.granted("the answer", d.Answered(0, 30))
	if d.size, d.settled = linkSlots, true; d.active != 15 {
		t.Fatalf("%d are waited for, want 15", d.active)
	}
	d.granted("an answer", d.Answered(0, 2), 17, 19)
}

func TestWindowFollowsTheServersPace(t *testing.T) {
	d := &desk{T: t}
	step := func(took time.Duration, answers int) {
		for range answers {
			d.window.answered(d.now, d.now+took)
		}
		d.now += took
	}
	want := func(limit int) {
		t.Helper()
		if d.limit() != limit {
			t.Fatalf("window %d, want %d", d.limit(), limit)
		}
	}
	want(windowFirst)
	step(10*ms, 20)
	want(52) // by one an answer, until an answer is slow
	step(10*ms, 40)
	want(linkSlots)
	step(600*ms, 64)
	want(32) // once for all that was sent before
	step(300*ms, 64)
	want(32)
	step(100*ms, 32)
	want(33)
	for range 10 {
		step(time.Second, 8)
	}
	want(windowLeast)
	d.Reconnected(0)
	want(windowFirst)
}
