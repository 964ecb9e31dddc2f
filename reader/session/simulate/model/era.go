package model

// Era is what differs between the versions of a server.
type Era struct {
	Version      string
	Level        int  // metadata _nats.level of its consumers, 0 none
	NoResponders bool // a pull on nothing is answered 503
	Clamps       bool // a start beyond the end begins behind the last message
	Resets       bool // CONSUMER.RESET is answered
	Pauses       bool // consumers can be paused
	ShortNoWait  bool // a no_wait pull served in part ends with 404, not 408
	MutesWaiting bool // a pull with a heartbeat beyond max_waiting gets no answer
	FloorAtStart bool // a new consumer's ack floor is where it starts
	FloorSticks  bool // a message that was sent again does not move the ack floor, an ack that matches nothing does
	AckSkips     bool // an ack beyond what was delivered sets the consumer behind it
	AckBounded   bool // such an ack is ignored
	PurgesOne    bool // a purge of a subject moves the consumers of that subject only, and keeps the acks of others
	Prefetches   bool // a consumer of several filters holds the next message of each ready
	PassesOver   bool // such a purge sets a consumer of several filters to what the subject still has
	CountBounded bool // a count of what waits that cannot be right is bounded, not made anew
	LastOfPurged bool // last on a purged stream starts behind its end
	SkipsTold    bool // info's delivered moves over what a filter skips
	Strict       bool // an unknown field of a configuration is refused
	FixedStorage bool // mem_storage cannot be updated
	FixedTime    bool // what was made with a start time cannot be updated at all
	Groups       bool // priority groups
	MaxConsumers int  // of a stream without a limit of its own, 0 none
}

// Eras are the versions of the matrix, oldest first.
var Eras = []Era{
	{Version: "2.10.7", PurgesOne: true, Prefetches: true, Clamps: true, SkipsTold: true, FixedTime: true, FloorSticks: true},
	{Version: "2.10.22", Clamps: true, SkipsTold: true, AckSkips: true, PassesOver: true},
	{Version: "2.11.17", PassesOver: true, Level: 1, NoResponders: true, Pauses: true, ShortNoWait: true, MutesWaiting: true, LastOfPurged: true, AckBounded: true, Groups: true},
	{Version: "2.12.15", PassesOver: true, CountBounded: true, Level: 3, NoResponders: true, Pauses: true, ShortNoWait: true, MutesWaiting: true, LastOfPurged: true, AckBounded: true, Groups: true,
		Strict: true},
	{Version: "2.14.0", PassesOver: true, CountBounded: true, Level: 4, NoResponders: true, Pauses: true, ShortNoWait: true, MutesWaiting: true, LastOfPurged: true, AckBounded: true, Groups: true,
		Strict: true, Resets: true, FloorAtStart: true},
	{Version: "2.14.10", CountBounded: true, Level: 4, NoResponders: true, Pauses: true, ShortNoWait: true, MutesWaiting: true, LastOfPurged: true, AckBounded: true, Groups: true,
		Strict: true, Resets: true, FloorAtStart: true, FixedStorage: true},
	{Version: "2.15.3", CountBounded: true, Level: 5, NoResponders: true, Pauses: true, ShortNoWait: true, MutesWaiting: true, LastOfPurged: true, AckBounded: true, Groups: true,
		Strict: true, Resets: true, FloorAtStart: true, FixedStorage: true, MaxConsumers: 1000},
}

// EraOf gives the era of a version of the matrix.
func EraOf(version string) (Era, bool) {
	for _, e := range Eras {
		if e.Version == version {
			return e, true
		}
	}
	return Era{}, false
}
