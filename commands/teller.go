package commands

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// teller is told what happens in a run: lines on stdout, a screen, a record. Its methods are called from any
// goroutine.
type teller interface {
	note(text string, facts ...string)
	event(e reader.Event)
	firing(f chaos.Firing, acted int)
	acted(f proxy.Firing, facts ...string)
	progress(at time.Time, s reader.Status, rate float64)
}

// onlooker is also told, several times a second, where the reader stands, and what would be judged.
type onlooker interface {
	snapshot(at time.Time, s reader.Status, h handed)
	judged(at time.Time, v oracle.Verdict, final bool)
}

// handed is the message that was handed out last.
type handed struct {
	stored time.Time // by the server, and its clock
	read   time.Time
}

// tellers tell all of them.
type tellers []teller

func (all tellers) note(text string, facts ...string) {
	for _, t := range all {
		t.note(text, facts...)
	}
}

func (all tellers) event(e reader.Event) {
	for _, t := range all {
		t.event(e)
	}
}

func (all tellers) firing(f chaos.Firing, acted int) {
	for _, t := range all {
		t.firing(f, acted)
	}
}

func (all tellers) acted(f proxy.Firing, facts ...string) {
	for _, t := range all {
		t.acted(f, facts...)
	}
}

func (all tellers) progress(at time.Time, s reader.Status, rate float64) {
	for _, t := range all {
		t.progress(at, s, rate)
	}
}
