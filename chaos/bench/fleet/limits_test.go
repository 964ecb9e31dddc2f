package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
)

func TestRoomOfStreams(t *testing.T) {
	for _, c := range []struct {
		readers, streams, account int
		version                   string
		refused                   string // the hint
		narrow                    bool
	}{
		{10_000, 20, 0, "2.15.3", "", false},
		{10_000, 19, 0, "2.15.3", "", true},
		{10_000, 9, 0, "2.15.3", "--streams 10 at least; 20 leave", false},
		{1001, 1, -1, "2.15.0", "--streams 2 at least; 3 leave", false},
		{10_000, 1, 0, "2.14.10", "", false},
		{10_000, 1, 0, "2.15.0-RC.1", "--streams 10 at least", false},
		{10_000, 1, 0, "unknown", "", false},
		{50, 4, 10, "2.10.22", "--streams 5 at least; 10 leave", false},
		{50, 5, 10, "2.10.22", "", true},
		{2000, 1, 5000, "2.15.3", "", false},
	} {
		limit, from := limitOf(c.account, c.version)
		room := roomFor(c.readers, c.streams, limit, from)
		err := room.refuse(c.readers, c.streams)
		var plan *PlanError
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.refused != "" && (!errors.As(err, &plan) || !strings.Contains(plan.Hint, c.refused)):
			t.Errorf("%+v: %v, want a hint with %q", c, err, c.refused)
		case err == nil && room.narrow() != c.narrow:
			t.Errorf("%+v: narrow is %v", c, room.narrow())
		}
	}
}

func TestOpenFiles(t *testing.T) {
	for _, c := range []struct {
		connections int
		limit       uint64
		fits        bool
	}{{1, 0, true}, {1, 256, true}, {192, 256, true}, {193, 256, false}, {1, 60, false}, {100_000, 1024, false}} {
		if err := refuseFiles(c.connections, c.limit); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	good := Plan{Readers: 10, Streams: 2, Dial: dial}
	if err := good.settle(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flag string
		how  func(*Plan)
	}{
		{"readers", func(p *Plan) { p.Readers = -1 }},
		{"readers", func(p *Plan) { p.Readers = MostReaders + 1 }},
		{"readers", func(p *Plan) { p.Readers, p.Streams = 0, 0 }},
		{"streams", func(p *Plan) { p.Streams = -1 }},
		{"streams", func(p *Plan) { p.Streams = 11 }},
		{"connections", func(p *Plan) { p.Connections = -1 }},
		{"connections", func(p *Plan) { p.Connections = 11 }},
		{"nodes", func(p *Plan) { p.Nodes = -3 }},
		{"nodes", func(p *Plan) { p.Nodes = 2 }},
		{"nodes", func(p *Plan) { p.Nodes = 10 }},
		{"nodes", func(p *Plan) { p.Nodes, p.Given, p.Journal = 3, true, &chaos.Journal{} }},
		{"for", func(p *Plan) { p.For = time.Second }},
		{"for", func(p *Plan) { p.For = -time.Minute }},
		{"idle-time", func(p *Plan) { p.Idle = time.Millisecond }},
		{"rate", func(p *Plan) { p.Rate = -1 }},
		{"size", func(p *Plan) { p.Size = MostSize + 1 }},
		{"within", func(p *Plan) { p.Within = -1 }},
		{"limit", func(p *Plan) { p.Patience = -1 }},
		{"", func(p *Plan) { p.Dial = nil }},
		{"", func(p *Plan) { p.Given = true }},
	} {
		p := Plan{Readers: 10, Streams: 2, Dial: dial}
		c.how(&p)
		err := p.settle()
		var plan *PlanError
		if !errors.Is(err, ErrPlan) || c.flag != "" && (!errors.As(err, &plan) || plan.Flag != c.flag) {
			t.Errorf("%+v: %v, want an error of --%s", p, err, c.flag)
		}
		if _, ran := Run(t.Context(), p); !errors.Is(ran, ErrPlan) {
			t.Errorf("%+v was run: %v", p, ran)
		}
	}
}
