package proxy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		undo := e.apply("latency(delay=100ms)")
		e.send(e.client, "PING\r\n")
		time.Sleep(60 * time.Millisecond)
		e.send(e.client, "PUB a 1\r\nx")
		time.Sleep(39 * time.Millisecond)
		e.want(e.server, "")
		time.Sleep(time.Millisecond)
		e.want(e.server, "PING\r\n")
		e.send(e.client, "\r\n")
		time.Sleep(59 * time.Millisecond)
		e.want(e.server, "")
		time.Sleep(time.Millisecond)
		e.want(e.server, "PUB a 1\r\nx")
		undo()
		e.want(e.server, "\r\n") // at once
		e.send(e.client, "PING\r\n")
		e.want(e.server, "PING\r\n")
		if f := e.p.Firings(); len(f) != 1 || f[0].Frame.Conn != 1 {
			t.Errorf("fired %+v", f)
		}
	})
}

// What ends a connection after words of its own lets them arrive first.
func TestLastWordsOnASlowConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.apply("latency(delay=1s)")
		e.send(e.server, "PING\r\n")
		time.Sleep(500 * time.Millisecond)
		e.apply("stale-connection")
		got, err := io.ReadAll(e.client)
		if err != nil || string(got) != "PING\r\n-ERR 'Stale Connection'\r\n" {
			t.Fatalf("arrived %q, %v", got, err)
		}
	})
}

// Whatever the draws, bytes keep their order, and the same seed draws the same.
func TestJitterKeepsTheOrder(t *testing.T) {
	arrivals := func(seed uint64) (times []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{RandSeed: seed})
			defer e.close()
			e.apply("latency(delay=50ms,jitter=50ms,direction=down)")
			start := time.Now()
			var got strings.Builder
			read := make(chan struct{})
			go func() {
				defer close(read)
				b := make([]byte, 4096)
				for {
					n, err := e.client.Read(b)
					if n > 0 {
						times = append(times, time.Since(start))
					}
					got.Write(b[:n])
					if err != nil {
						return
					}
				}
			}()
			want := ""
			for n := range 200 {
				want += delivery(n, "x")
				e.send(e.server, delivery(n, "x"))
				time.Sleep(time.Millisecond)
			}
			e.server.CloseWrite()
			<-read
			if got.String() != want {
				t.Fatal("what arrived is not what was sent")
			}
			if first, last := times[0], times[len(times)-1]; first > 100*time.Millisecond || last > 300*time.Millisecond || last < 200*time.Millisecond {
				t.Errorf("the first came after %v, the last after %v", first, last)
			}
		})
		return slices.Compact(times) // what came at one time may be read in parts
	}
	if a, b := fmt.Sprint(arrivals(7)), fmt.Sprint(arrivals(7)); a != b {
		t.Errorf("the same seed gives\n%s\nand\n%s", a, b)
	}
	if a, b := fmt.Sprint(arrivals(7)), fmt.Sprint(arrivals(8)); a == b {
		t.Error("another seed gives the same")
	}
}

func TestBandwidth(t *testing.T) {
	for _, end := range []string{"", "undo", "duration", "cut", "close", "server closes"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := through(t, Options{})
				defer e.close()
				undo := e.apply("bandwidth(rate=100000,direction=down,for=30s)")
				const size = 1 << 20
				payload := strings.Repeat("z", size)
				go e.server.Write([]byte(delivery(1, payload)))
				start := time.Now()
				got := make(chan int, 1)
				go func() {
					n, _ := io.Copy(io.Discard, io.LimitReader(e.client, int64(len(delivery(1, payload)))))
					got <- int(n)
				}()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				e.send(e.client, "PING\r\n")
				e.want(e.server, "PING\r\n") // the other direction is not meant
				switch end {
				case "undo":
					undo()
				case "duration":
					e.p.Reset()
				case "cut":
					e.apply("cut")
				case "close":
					e.close()
				case "server closes":
					e.server.CloseWrite()
				}
				n, took := <-got, time.Since(start)
				switch end {
				case "server closes": // the writer is held up, so it had not sent all
					if n < 600000 || n > 900000 || took < time.Duration(n)*9*time.Microsecond || took > time.Duration(n)*11*time.Microsecond {
						t.Errorf("%d bytes in %v", n, took)
					}
				case "":
					if n != len(delivery(1, payload)) || took < 10400*time.Millisecond || took > 10700*time.Millisecond {
						t.Errorf("%d bytes in %v", n, took)
					}
				case "undo", "duration":
					if n != len(delivery(1, payload)) || took != 5*time.Second {
						t.Errorf("%d bytes in %v", n, took)
					}
				default:
					if n < 490000 || n > 510000 {
						t.Errorf("%d bytes in %v", n, took)
					}
				}
			})
		})
	}
}
