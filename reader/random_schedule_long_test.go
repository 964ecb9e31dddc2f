//go:build long

package reader_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
)

// site is where random faults act.
type site struct {
	clustered bool
	pauses    bool     // the server can pause a consumer
	readers   []string // that faults on a consumer aim at
	conns     []string // of the readers, by name
}

// due is one fault of a schedule: a line of it that prints and parses back.
type due struct {
	reader string // whose consumer it acts on; "": on all
	spec   chaos.Spec
}

func (d due) String() string {
	if d.reader == "" {
		return d.spec.String()
	}
	return "reader=" + d.reader + " " + d.spec.String()
}

func parseDue(line string) (d due, err error) {
	text := strings.TrimSpace(line)
	if rest, found := strings.CutPrefix(text, "reader="); found {
		d.reader, text, _ = strings.Cut(rest, " ")
	}
	d.spec, err = chaos.ParseSpec(text)
	return d, err
}

// draw makes the parameters of one fault and says how long it lasts.
type draw func(d *dice, p map[string]string) (length time.Duration)

// dice draw parameters for a site.
type dice struct {
	*rand.Rand
	site
}

func (d *dice) one(of ...string) string { return of[d.IntN(len(of))] }

func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d *dice) between(from, to time.Duration) time.Duration {
	return from + time.Duration(d.Int64N(int64(to-from)/int64(time.Millisecond)+1))*time.Millisecond
}

func (d *dice) number(from, to int) string { return strconv.Itoa(from + d.IntN(to-from+1)) }

// conn aims at one connection in half of all cases.
func (d *dice) conn(p map[string]string) {
	if d.chance(50) {
		p["conn"] = d.one(d.conns...)
	}
}

// some lets the fault act on some frames of those it could act on.
func (d *dice) some(p map[string]string) {
	d.conn(p)
	switch d.IntN(4) {
	case 0:
		p["nth"] = d.number(1, 20)
	case 1:
		p["every"] = d.number(2, 10)
	case 2:
		p["limit"] = d.number(1, 5)
	}
}

// apiSubjects are requests of a reader, "" all of them.
var apiSubjects = []string{"", "CONSUMER.>", "CONSUMER.CREATE.>", "CONSUMER.INFO.>", "CONSUMER.DELETE.>", "STREAM.INFO.>"}

func (d *dice) api(p map[string]string) {
	d.some(p)
	if s := d.one(apiSubjects...); s != "" {
		p["subject"] = s
	}
}

// draws has every fault of the catalogue that random schedules are made of.
var draws = map[string]draw{
	"drop-subscription": once, "stale-connection": once, "lame-duck": once, "cut": once, "reset": once,
	"swallow-sub": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		return d.between(time.Second, 6*time.Second)
	},
	"api-timeout": requestsLost, "lose-reply": func(d *dice, p map[string]string) time.Duration {
		d.api(p)
		return d.between(time.Second, 8*time.Second)
	},
	"api-error": func(d *dice, p map[string]string) time.Duration {
		d.api(p)
		p["err_code"] = d.one("10008", "10026", "10014", "10059", "10039", "10023")
		return d.between(500*time.Millisecond, 8*time.Second)
	},
	"delay-api": func(d *dice, p map[string]string) time.Duration {
		d.api(p)
		p["delay"] = d.between(100*time.Millisecond, 5*time.Second).String()
		if p["what"] = d.one("answer", "request"); p["what"] == "request" {
			p["pulls"] = d.one("true", "false")
		}
		return d.between(time.Second, 8*time.Second)
	},
	"mute-heartbeats": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		return d.between(time.Second, 10*time.Second)
	},
	"drop-message": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		if p["nth"] == "" && p["every"] == "" && d.chance(30) {
			p["last"] = d.between(50*time.Millisecond, 500*time.Millisecond).String()
		}
		return d.between(200*time.Millisecond, 3*time.Second)
	},
	"duplicate-message": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		return d.between(200*time.Millisecond, 5*time.Second)
	},
	"reorder-messages": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		p["behind"], p["wait"] = d.number(1, 10), d.between(50*time.Millisecond, 2*time.Second).String()
		return d.between(200*time.Millisecond, 4*time.Second)
	},
	"drop-status": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		if d.chance(50) {
			p["code"] = d.one("100", "404", "408", "409", "503")
		}
		return d.between(time.Second, 8*time.Second)
	},
	"forge-status": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		p["code"] = d.one("400", "404", "408", "409", "412", "423", "503", "999")
		if p["code"] == "409" {
			p["text"] = d.one("Consumer Deleted", "Leadership Change", "Server Shutdown", "Batch Completed", "Message Size Exceeds MaxBytes", "Exceeded MaxWaiting", "Consumer is push based")
		}
		p["on"] = d.one("waiting", "pulls")
		return d.between(200*time.Millisecond, 4*time.Second)
	},
	"permission-denied": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		p["subject"] = d.one("$JS.API.>", "$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.DELETE.>", "$JS.API.STREAM.INFO.>", "_INBOX.>", "$JS.ACK.>")
		p["verb"] = d.one("publish", "subscribe", "both")
		return d.between(500*time.Millisecond, 6*time.Second)
	},
	"half-open": func(d *dice, p map[string]string) time.Duration {
		d.conn(p)
		return d.between(time.Second, 8*time.Second)
	},
	"black-hole": func(d *dice, p map[string]string) time.Duration {
		d.conn(p)
		p["direction"] = d.one("up", "down", "both")
		return d.between(500*time.Millisecond, 10*time.Second)
	},
	"latency": func(d *dice, p map[string]string) time.Duration {
		d.conn(p)
		p["direction"] = d.one("up", "down", "both")
		delay := d.between(10*time.Millisecond, 700*time.Millisecond)
		p["delay"], p["jitter"] = delay.String(), d.between(0, delay).String()
		return d.between(time.Second, 6*time.Second)
	},
	"bandwidth": func(d *dice, p map[string]string) time.Duration {
		d.conn(p)
		p["direction"], p["rate"] = d.one("up", "down", "both"), d.number(20_000, 2_000_000)
		return d.between(time.Second, 5*time.Second)
	},
	"refuse": func(d *dice, p map[string]string) time.Duration {
		d.some(p)
		return d.between(500*time.Millisecond, 5*time.Second)
	},

	"delete-consumer": at, "step-down-consumer": at, "step-down-stream": at,
	"pause-consumer": func(d *dice, _ map[string]string) time.Duration {
		return d.between(500*time.Millisecond, 6*time.Second)
	},
	"fill-consumers": func(d *dice, _ map[string]string) time.Duration {
		return d.between(500*time.Millisecond, 6*time.Second)
	},

	"stop-server": moment, "kill-server": moment,
	"freeze-server": func(d *dice, p map[string]string) time.Duration {
		d.node(p, 80)
		return d.between(500*time.Millisecond, 7*time.Second)
	},
	"stop-node": func(d *dice, p map[string]string) time.Duration {
		d.nodes(p)
		p["lame-duck"] = d.one("true", "false")
		return d.between(200*time.Millisecond, 6*time.Second)
	},
	"kill-node": func(d *dice, p map[string]string) time.Duration {
		d.nodes(p)
		return d.between(200*time.Millisecond, 6*time.Second)
	},
	"partition": func(d *dice, p map[string]string) time.Duration {
		d.nodes(p)
		p["how"] = d.one("both", "in", "out", "reset")
		return d.between(time.Second, 10*time.Second)
	},
	"disable-jetstream": func(d *dice, p map[string]string) time.Duration {
		d.node(p, 100) // a cluster whose nodes all do so forgets its streams
		return d.between(200*time.Millisecond, 5*time.Second)
	},
	"revoke-permission": func(d *dice, p map[string]string) time.Duration {
		p["subject"] = d.one("$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.INFO.>", "$JS.API.CONSUMER.DELETE.>", "$JS.API.>", "_INBOX.>")
		p["side"] = "publish"
		if p["subject"] == "_INBOX.>" {
			p["side"] = "subscribe"
		}
		return d.between(500*time.Millisecond, 6*time.Second)
	},
}

func once(d *dice, p map[string]string) time.Duration { d.conn(p); return 0 }

func at(*dice, map[string]string) time.Duration { return 0 }

func moment(d *dice, _ map[string]string) time.Duration {
	return d.between(100*time.Millisecond, 4*time.Second)
}

func requestsLost(d *dice, p map[string]string) time.Duration {
	d.api(p)
	p["pulls"] = d.one("true", "false")
	if strings.HasPrefix(p["subject"], "STREAM") {
		p["pulls"] = "false"
	}
	return d.between(500*time.Millisecond, 8*time.Second)
}

func (d *dice) node(p map[string]string, percent int) {
	if d.clustered && d.chance(percent) {
		p["node"] = d.one("stream-leader", "consumer-leader", "meta-leader", "reader", "n1", "n2", "n3")
	}
}

func (d *dice) nodes(p map[string]string) {
	d.node(p, 100)
	p["count"] = d.one("1", "1", "1", "2")
}

// excluded are the faults that no random schedule has, and why.
var excluded = map[string]string{
	"purge-stream":    "it destroys messages: what was lost by definition cannot be told from what the reader lost",
	"delete-stream":   "it destroys the stream for good: there is nothing left to read",
	"recreate-stream": "it destroys messages",
	"lose-store":      "it destroys messages",
	"slow-reader":     "the code behind the readers is the test's own, not the runner's",
	"stalled-reader":  "the code behind the readers is the test's own, not the runner's",
	"freeze-reader":   "it stops an outside program, and these readers are in the test",
}

// onConsumer says whether a fault acts on the consumer of one reader.
func onConsumer(name string) bool {
	return name == "delete-consumer" || name == "pause-consumer" || name == "step-down-consumer"
}

// possible lists the faults that can act at a site, in the order of the catalogue.
func (s site) possible() (names []string) {
	for _, f := range chaos.Faults() {
		_, drawn := draws[f.Name]
		if drawn && (s.clustered || !f.Clustered) && (s.pauses || f.Name != "pause-consumer") {
			names = append(names, f.Name)
		}
	}
	return names
}

// schedule draws faults for a length of time: waves of up to six that overlap, and
// a calm time behind each. The same seed and site give the same schedule.
func (s site) schedule(seed uint64, length time.Duration) (all []due) {
	d := &dice{rand.New(rand.NewPCG(seed, 0)), s}
	names := s.possible()
	var specs []chaos.Spec // those that may have to take turns
	for begin := 2 * time.Second; begin < length-8*time.Second; {
		wave := d.between(time.Second, 6*time.Second)
		for range 2 + d.IntN(5) {
			one := d.fault(d.one(names...), begin+d.between(0, wave))
			if one.spec.Validate() != nil || chaos.CheckSchedule(append(specs, one.spec)) != nil {
				continue // parameters that do not go together, or the server's process is taken at that time
			}
			specs = append(specs, one.spec)
			all = append(all, one)
		}
		begin += wave + d.between(time.Second, 7*time.Second)
	}
	slices.SortStableFunc(all, func(a, b due) int { return int(a.spec.At - b.spec.At) })
	return all
}

func (d *dice) fault(name string, when time.Duration) due {
	p := map[string]string{}
	length := draws[name](d, p)
	for field, value := range p {
		if value == "" {
			delete(p, field)
		}
	}
	one := due{spec: chaos.Spec{Name: name, Params: p, At: when, For: length}}
	if onConsumer(name) {
		one.reader = d.one(d.readers...)
	}
	return one
}

// Every fault of the catalogue is drawn, or excluded with a reason; every schedule
// can be run, is the same when it is drawn again, and prints and parses back.
func TestRandomSchedules(t *testing.T) {
	for _, name := range chaos.FaultNames() {
		if _, drawn := draws[name]; drawn == (excluded[name] != "") {
			t.Errorf("fault %s is drawn: %v, and excluded for %q", name, drawn, excluded[name])
		}
	}
	for _, clustered := range []bool{false, true} {
		s := site{clustered: clustered, pauses: true, readers: []string{"a", "b"}, conns: []string{"c"}}
		seen := map[string]int{}
		for seed := range uint64(100) {
			all := s.schedule(seed, time.Minute)
			for _, one := range all {
				seen[one.spec.Name]++
				back, err := parseDue(one.String())
				if err != nil || back.String() != one.String() {
					t.Fatalf("%s parses to %s, %v", one, back, err)
				}
			}
			if again := s.schedule(seed, time.Minute); fmt.Sprint(all) != fmt.Sprint(again) {
				t.Fatalf("seed %d gives %v, then %v", seed, all, again)
			}
		}
		for _, name := range s.possible() {
			if seen[name] < 5 {
				t.Errorf("of 100 schedules %d have %s", seen[name], name)
			}
		}
	}
}
