package doctor

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Member is one consumer in the table of all.
type Member struct {
	Stream   string        `json:"stream"`
	Consumer string        `json:"consumer"`
	Reason   string        `json:"reason"` // in a word: deaf, no puller, at ack limit, paused, reading, idle, …
	Pending  uint64        `json:"num_pending"`
	Out      int           `json:"num_ack_pending"`
	Waiting  int           `json:"num_waiting"`
	Rate     float64       `json:"delivered_per_second"`
	Idle     time.Duration `json:"idle_ns"` // since it was made, delivered or acknowledged
	rank     int
}

// MarshalJSON writes durations twice, for people and for programs.
func (m Member) MarshalJSON() ([]byte, error) {
	type plain Member
	return json.Marshal(struct {
		plain
		Idle string `json:"idle"`
	}{plain(m), m.Idle.String()})
}

// closedLately is how long a closed connection is remembered.
const closedLately = time.Hour

// suspicion orders the words of the table, the worst first; others come before
// these last, by name.
var suspicion = []string{"working", "not bound", "push", "idle", "reading"}

// fleet is the table of all consumers, the most suspicious first.
func (s *subject) fleet(reasons map[[2]string]string) []Member {
	all := make([]Member, 0, len(s.Consumers))
	for i := range s.Consumers {
		c := &s.Consumers[i]
		m := Member{Stream: c.Stream, Consumer: c.Name, Reason: reasons[[2]string{c.Stream, c.Name}]}
		if m.Reason != "" {
			m.rank = -2
		} else {
			m.Reason = c.state()
			m.rank = slices.Index(suspicion, m.Reason)
		}
		if len(c.Samples) > 0 {
			m.Pending, m.Out, m.Waiting, m.Idle = c.last().Pending, c.last().AckPending, c.last().Waiting, c.idle()
			if d := c.span(); d > 0 && c.last().Delivered.Consumer >= c.first().Delivered.Consumer {
				m.Rate = float64(c.last().Delivered.Consumer-c.first().Delivered.Consumer) / d.Seconds()
			}
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Member) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(b.Pending, a.Pending), strings.Compare(a.Stream, b.Stream), strings.Compare(a.Consumer, b.Consumer))
	})
	return all
}

// state says in a word what a consumer without a finding does.
func (c *Consumer) state() string {
	switch {
	case c.Gone:
		return "gone"
	case len(c.Samples) == 0:
		return "unknown"
	case c.last().Paused:
		return "paused"
	case c.moved():
		return "reading"
	case c.push() && !c.last().PushBound:
		return "not bound"
	case c.push():
		return "push"
	case c.some(func(at Sample) bool { return at.Waiting > 0 }):
		return "idle"
	case c.last().AckPending > 0:
		return "working"
	case c.last().Pending > 0 && c.owner() != "":
		return "holds back" // of ours: it pulls nothing while its caller takes nothing
	case c.last().Pending > 0:
		return "unjudged"
	case c.last().Delivered.Consumer == 0:
		return "unused" // it has never handed out anything
	default:
		return "no pull seen" // one that polls at times looks so, too
	}
}
