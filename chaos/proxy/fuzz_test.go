package proxy

import (
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// everyFilter is each fault on single frames, set so that it acts often.
var everyFilter = []string{
	"swallow-sub(every=2)", "api-timeout(pulls=true,every=7)", "lose-reply(every=3)", "api-error(every=3)",
	"delay-api(every=2,delay=5ms)", "delay-api(what=request,pulls=true,every=3,delay=5ms)", "mute-heartbeats(every=2)",
	"drop-message(every=5)", "drop-message(last=3ms)", "duplicate-message(every=2)", "reorder-messages(every=3,wait=4ms)", "drop-status(every=3)",
	"forge-status(on=pulls,every=3)", "forge-status(code=100)", "permission-denied(subject=>,every=9)", "latency(delay=1ms,jitter=1ms)",
	"bandwidth(rate=10000000)",
}

// FuzzFaults checks that no input makes a connection with every fault on it panic, hang or keep anything, and
// that without a fault what arrives is what was sent.
func FuzzFaults(f *testing.F) {
	streams := corpus(f)
	for name, up := range streams {
		if directionOf(name) == Up {
			for other, down := range streams {
				if directionOf(other) == Down && len(up)+len(down) < 40<<10 {
					f.Add(up, down, uint64(len(name)))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, up, down []byte, seed uint64) {
		if len(up)+len(down) > 200<<10 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{RandSeed: seed})
			defer e.close()
			if seed%4 > 0 {
				for _, fault := range everyFilter {
					e.apply(fault)
				}
			}
			r := rand.New(rand.NewPCG(seed, 9))
			ended := make(chan string, 2)
			for _, way := range []struct {
				from, to *pipeEnd
				stream   []byte
			}{{e.client, e.server, up}, {e.server, e.client, down}} {
				chunks := chunked(way.stream, rand.New(rand.NewPCG(seed, uint64(len(way.stream)))), 1+r.IntN(3000))
				go func() {
					for i, chunk := range chunks {
						if _, err := way.from.Write(chunk); err != nil {
							return
						}
						if i%50 == 49 {
							time.Sleep(time.Millisecond)
						}
					}
					way.from.CloseWrite()
				}()
				go func() {
					got, _ := io.ReadAll(way.to)
					if seed%4 == 0 && len(got) != len(way.stream) {
						ended <- "bytes are missing"
						return
					}
					ended <- ""
				}()
			}
			for range 2 {
				select {
				case problem := <-ended:
					if problem != "" && !rewrites(down) {
						t.Error(problem)
					}
				case <-time.After(time.Hour): // of virtual time
					t.Fatal("the connection hangs")
				}
			}
		})
	})
}

// rewrites tells whether a stream may hold an INFO that the proxy changes.
func rewrites(stream []byte) bool {
	d := decoder{dir: Down}
	var fr frame
	for len(stream) > 0 {
		if d.scan(stream, &fr) != nil || len(stream) < fr.bytes() {
			return false
		}
		if fr.verb == INFO {
			return true
		}
		stream = stream[fr.bytes():]
	}
	return false
}
