// Package model is one nats-server as far as a reader can tell: streams, consumers,
// pulls and their answers, under a clock that belongs to its host. What it answers
// is what real servers of seven versions were measured to answer; one script of
// requests runs on it and on the real ones, and the answers must be equal.
//
// A model acts at once and never fails by itself. The way to it and back, and all
// that breaks, is its host's.
package model

import "time"

// Inbox is where the answers to a pull go: a subscription of some client.
type Inbox int

// Host is what a server needs from the world it runs in.
type Host interface {
	// Now is the time since the world began.
	Now() time.Duration
	// At has Fire called at a time, or as soon after it as the server runs.
	At(at time.Duration, timer Timer)
	// Interest says whether anybody is subscribed to an inbox, as far as the
	// server knows.
	Interest(in Inbox) bool
	// Message and Status send to an inbox; the token names the pull.
	Message(in Inbox, token uint64, m Delivery)
	Status(in Inbox, token uint64, st Status)
}

// Timer is something that becomes due.
type Timer interface{ Fire() }

// Delivery is a message as a consumer sends it.
type Delivery struct {
	Consumer    *Consumer
	Sequence    uint64
	ConsumerSeq uint64
	Deliveries  int
	Time        int64
	Pending     uint64
	Size        int
}

// Status is what is sent to a pull instead of a message.
type Status struct {
	Code            int
	Text            string
	LastConsumer    uint64
	LastStream      uint64
	HasLast         bool
	PendingMessages int
	PendingBytes    int
	HasPending      bool
}

// Error is an error answer of the JetStream API.
type Error struct {
	Code, ErrCode int
	Text          string
}
