package bench

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	good := plan("next", "consume")
	good.Bases = []string{"consume"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Plan){
		`Contestants: there is none`:                         func(p *Plan) { p.Contestants, p.Bases = nil, nil },
		`Contestants: "nobody" is no contestant`:             func(p *Plan) { p.Contestants = []string{"nobody"} },
		`Contestants: next is named twice`:                   func(p *Plan) { p.Contestants = []string{"next", "next"} },
		`Bases: fetch is not among the contestants`:          func(p *Plan) { p.Bases = []string{"fetch"} },
		`Loads: there is none`:                               func(p *Plan) { p.Loads = nil },
		`Size: 7 is below 8: a payload has its number in it`: func(p *Plan) { p.Loads = []Load{{7, 1}} },
		`Count: 0 is not 1 to 1000000000`:                    func(p *Plan) { p.Loads = []Load{{8, 0}} },
		`Count: 1000000001 is not 1 to 1000000000`:           func(p *Plan) { p.Loads = []Load{{8, MaxCount + 1}} },
		`Rounds: 0 is not 1 to 1000`:                         func(p *Plan) { p.Rounds = 0 },
		`Batch: 100001 is not 1 to 100000`:                   func(p *Plan) { p.Batch = MaxBatch + 1 },
		`Work: -1s is below 0`:                               func(p *Plan) { p.Work = -time.Second },
		`Limit: -1s is below 0`:                              func(p *Plan) { p.Limit = -time.Second },
		`Pulls: there is none`:                               func(p *Plan) { p.Pulls = nil },
		`Pulls: "some" is neither equal nor defaults`:        func(p *Plan) { p.Pulls = []Pulls{"some"} },
	} {
		p := good
		spoil(&p)
		if err := p.Check(); !errors.Is(err, ErrPlan) || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		load Load
		want time.Duration
	}{
		{Plan{Limit: time.Second}, Load{1 << 20, 1000}, time.Second},
		{Plan{}, Load{1 << 20, 60}, 2 * time.Minute},
		{Plan{Work: 20 * time.Millisecond}, Load{1 << 18, 600}, time.Minute + 36*time.Second + 150*time.Second},
		{Plan{Work: time.Hour}, Load{1 << 30, MaxCount}, 100*time.Hour + time.Minute}, // and no overflow
	} {
		if got := c.plan.limit(c.load); got != c.want {
			t.Errorf("%+v, %+v: %s, want %s", c.plan, c.load, got, c.want)
		}
	}
}

func TestTally(t *testing.T) {
	message := func(n uint64) []byte {
		payload := make([]byte, 16)
		number(payload, n)
		return payload
	}
	for _, c := range []struct {
		came  []uint64
		want  tally
		ended bool
	}{
		{[]uint64{1, 2, 3, 4}, tally{read: 4}, true},
		{[]uint64{1, 2}, tally{read: 2}, false},
		{[]uint64{2, 4}, tally{read: 2, lost: 2}, true},
		{[]uint64{1, 1, 2, 3, 4}, tally{read: 5, again: 1}, true},
		{[]uint64{1, 3, 2, 4}, tally{read: 4, lost: 1, again: 1}, true},
		{[]uint64{4}, tally{read: 1, lost: 3}, true},
	} {
		got := tally{size: 16, next: 1, last: 4}
		ended := false
		for _, n := range c.came {
			ended = got.count(message(n))
			got.at(n)
		}
		if got.read != c.want.read || got.lost != c.want.lost || got.again != c.want.again || got.odd != 0 || ended != c.ended {
			t.Errorf("%v: %+v, ended %v", c.came, got, ended)
		}
	}
	odd := tally{size: 16, next: 1, last: 4}
	if odd.count([]byte("short")) || odd.odd != 1 || odd.read != 1 {
		t.Errorf("a payload of another size: %+v", odd)
	}
	odd.count(message(1))
	if odd.at(2); odd.odd != 2 {
		t.Errorf("another sequence: %+v", odd)
	}
}
