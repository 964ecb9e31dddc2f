package proxy

import "maps"

// Connection is what the proxy knows of one client connection.
type Connection struct {
	ID            uint64         // 1 for the first
	Name          string         // as CONNECT says; "" before that
	Lang, Version string         // of the client library
	Subscriptions []Subscription // those the client holds, in no order
	Pulls         uint64         // CONSUMER.MSG.NEXT requests that reached the server
	APIRequests   uint64         // all JetStream API requests that reached the server, pulls included
	Statuses      map[int]uint64 // status messages from the server by code
}

// Subscription is one subscription of a client.
type Subscription struct {
	SID, Subject, Queue string
	Delivered           uint64 // messages the server sent on it
	Max                 uint64 // it ends by itself after so many; 0: never
	Pulls               bool   // it is the inbox of pulls
	Forgotten           bool   // a fault made the server forget it, or kept it from hearing of it
	Waiting             int    // pulls that wait on it
}

func (k *knowledge) snapshot(id uint64) Connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := Connection{
		ID: id, Name: k.client.Name, Lang: k.client.Lang, Version: k.client.Version,
		Pulls: k.pulls, APIRequests: k.asked, Statuses: maps.Clone(k.statuses),
	}
	for _, s := range k.subs.bySID {
		c.Subscriptions = append(c.Subscriptions, Subscription{
			SID: s.sid, Subject: s.subject, Queue: s.queue, Max: s.max, Pulls: s.pulls, Forgotten: s.forgotten,
			Delivered: s.delivered, Waiting: len(s.waiting),
		})
	}
	return c
}
