package oracle

import (
	"runtime"
	"strconv"
	"testing"
	"time"
)

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A million messages take next to nothing once they are read, and little while they wait.
func TestMemoryOfAMillionMessages(t *testing.T) {
	for _, test := range []struct {
		name  string
		n     uint64
		reads func(i uint64) bool
		most  float64 // bytes a message
	}{
		{"one in a thousand lost", 1_000_000, func(i uint64) bool { return i%1000 != 0 }, 2},
		{"none read", 250_000, func(uint64) bool { return false }, 64},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := test.n
			before := heap()
			o := New(Rules{Measure: ByIDs})
			id := []byte("writer-")
			for i := uint64(1); i <= n; i++ {
				id = strconv.AppendUint(id[:7], i, 10)
				when := at(time.Duration(i) * time.Millisecond)
				o.Attempted(string(id), when)
				o.Acknowledged(string(id), i, when)
				if test.reads(i) {
					o.Read(Delivery{ID: string(id), Sequence: i, ConsumerSequence: i, Session: 1, Time: when})
				}
			}
			bytes := float64(heap()-before) / float64(n)
			t.Logf("%.2f bytes a message", bytes)
			if bytes > test.most {
				t.Errorf("%.2f bytes a message, want at most %v", bytes, test.most)
			}
			v := o.Judge(Ending{Time: at(time.Duration(n) * time.Millisecond)})
			if v.Acknowledged != n || v.Lost+v.Delivered != n {
				t.Errorf("acknowledged %d, lost %d, delivered %d", v.Acknowledged, v.Lost, v.Delivered)
			}
		})
	}
}
