package doctor

import "time"

// Connections are the clients of the account, as the servers tell them.
type Connections struct {
	// Complete says that every page of every server that was heard came, and that
	// no leaf node joins the account: who is not listed is not connected.
	Complete bool         `json:"complete"`
	List     []Connection `json:"list,omitempty"`
	Closed   []Connection `json:"closed,omitempty"` // lately, for a reason that a check looks at
}

// Connection is one client.
type Connection struct {
	Server  string     `json:"server,omitempty"`
	ID      uint64     `json:"cid"`
	Name    string     `json:"name,omitempty"`
	User    string     `json:"authorized_user,omitempty"`
	IP      string     `json:"ip,omitempty"`
	Lang    string     `json:"lang,omitempty"`
	Version string     `json:"version,omitempty"`
	Start   time.Time  `json:"start"`
	Stop    *time.Time `json:"stop,omitempty"`
	Reason  string     `json:"reason,omitempty"`               // why it was closed
	Own     bool       `json:"own,omitempty"`                  // the doctor's
	Pending int        `json:"pending_bytes"`                  // bytes the server could not write yet, at the last look
	Before  int        `json:"pending_bytes_before"`           // the same at the first look
	Sent    int64      `json:"out_bytes"`                      // to it, those that wait included, at the last look
	Earlier int64      `json:"out_bytes_before"`               // the same at the first look
	Got     int64      `json:"out_msgs"`                       // messages to it, at the last look
	Had     int64      `json:"out_msgs_before"`                // the same at the first look
	Subs    []string   `json:"subscriptions,omitempty"`        // inboxes, and what is wide enough to take any inbox
	Ended   []string   `json:"subscriptions_before,omitempty"` // those of the first look that it has no longer
	Others  int        `json:"other_subscriptions"`            // how many more it has
}

// Advisory is what the servers told of by themselves during the watch.
type Advisory struct {
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"` // the last word of its type: consumer_action, consumer_leader_elected, nak, …
	Action   string    `json:"action,omitempty"`
	Stream   string    `json:"stream,omitempty"`
	Consumer string    `json:"consumer,omitempty"`
	Client   string    `json:"client,omitempty"` // who asked, of an API audit: "name (cid)"
	Subject  string    `json:"subject,omitempty"`
}

// Heard are the pulls that were heard while listening.
type Heard struct {
	For   time.Duration `json:"for_ns"`
	Pulls []Pulls       `json:"pulls,omitempty"`
}

// Pulls are the pulls for one consumer with one reply inbox.
type Pulls struct {
	Stream    string        `json:"stream"`
	Consumer  string        `json:"consumer"`
	Inbox     string        `json:"inbox"`
	Count     int           `json:"count"`
	Batch     int           `json:"batch,omitempty"`     // the most that one of them asked for
	MostBytes int           `json:"max_bytes,omitempty"` // the largest max_bytes of one, 0: none
	Expires   time.Duration `json:"expires,omitempty"`   // the longest
	Heartbeat time.Duration `json:"heartbeat,omitempty"` // the longest
	NoWait    bool          `json:"no_wait,omitempty"`   // all of them
}

// DryRun is one subject that a reader needs, tried with our own credentials in a
// way that changes nothing.
type DryRun struct {
	What      string `json:"what"`      // what a reader does with it
	Operation string `json:"operation"` // publish or subscribe
	Subject   string `json:"subject"`
	Needed    bool   `json:"needed"`           // no reader works without it
	Denied    string `json:"denied,omitempty"` // the server's words; empty: permitted
}

// Monitor is what the monitoring port of a server told.
type Monitor struct {
	URL        string `json:"url"`
	Name       string `json:"server_name,omitempty"` // of the server
	Health     string `json:"health,omitempty"`      // what /healthz says where it is not ok
	Disabled   bool   `json:"disabled,omitempty"`
	MaxMemory  int64  `json:"max_memory,omitempty"`
	MaxStorage int64  `json:"max_storage,omitempty"`
	Memory     uint64 `json:"memory,omitempty"`
	Storage    uint64 `json:"storage,omitempty"`
	Slow       int64  `json:"slow_consumers,omitempty"`
}
