// Package reader reads a JetStream stream, whatever happens. An open reader reads:
// once Open has returned, every message of the stream and filter from the start
// position on that the server still holds is handed out, in stream order, none
// skipped and none twice (a durable: at least once), until the caller closes the
// reader. What cannot be healed ends it with one typed error; silence is never the
// answer.
//
//	js, err := jetstream.New(nc)
//	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Subjects: []string{"orders.eu.>"}})
//	defer r.Close(context.Background())
//	for m, err := range r.Messages(ctx) {
//		...
//	}
//
// A reader is a sequence of sessions: a pull consumer with an inbox subscription.
// A session is judged by the server's answers to the reader's own pulls and by
// nothing else; it is replaced whole, the new one first and proven. The rules are
// a pure state machine, package session; this package performs them on nats.go:
//
//	nats.go's callback ──► receive ──► rules ──► ready ──► Next, NextBatch, Messages
//	timer, connection, API answers ──► input ──► rules
//	                                     │
//	                                   follow: events ──► Observer (one goroutine while there are any)
//	                                     │
//	                                     └──► work ──► perform ──► nats.go (one goroutine while there is work)
//
// What must stay true: callers hold no lock and wait for no call into nats.go,
// which can block for a minute behind a frozen server; nothing is sent and nobody
// is called back under a lock; an idle reader has no goroutine but the one nats.go
// runs for its subscription; what happens per connection (slots for API requests,
// the verdict on a dead link, permission violations, its state) happens once for
// all its readers.
//
// A graceful end is the example of Drain: nothing more is pulled, what was pulled is
// handled, and the last acknowledgement has arrived. What replaces nats.go's Consume,
// Messages, OrderedConsumer and Fetch is in MIGRATING.md beside this file.
//
// Connect with nats.FlusherTimeout(2*time.Second) and nats.MaxReconnects(-1): the
// first bounds how long nats.go may block behind a frozen server, the second keeps
// a long outage from closing the connection, and with it the reader, for good.
package reader
