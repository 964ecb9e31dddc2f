package proxy

import "time"

var reorderMessages = Entry{
	Name:  "reorder-messages",
	Where: "to the client, JetStream deliveries",
	Words: "a message is overtaken by those that follow it on its subscription: the next one, the nth, or the one with a stream sequence",
	Undo:  "messages arrive in order; one that is held is passed on",
	Parameters: deliveryParameters(
		Parameter{Name: "behind", Type: Count, Default: "1", Words: "how many messages overtake it"},
		Parameter{Name: "wait", Type: Duration, Default: "1s", Words: "when so many have not come by then, it is passed on"},
	),
	direction: Down,
	build: func(a *arguments) (effect, error) {
		return &messageReorderer{
			deliveries: newDeliveries(a), behind: argument[uint64](a, "behind"), wait: argument[time.Duration](a, "wait"),
		}, nil
	},
}

type messageReorderer struct {
	*deliveries
	behind uint64
	wait   time.Duration
}

func (r *messageReorderer) judge(a *applied, f *flow, fr *frame) verdict {
	if !isDelivery(fr) {
		return pass
	}
	sid := string(fr.sid)
	if p := f.first(a, func(p *parked) bool { return p.order == sid }); p != nil {
		if p.overtakers--; p.overtakers == 0 {
			p.due = time.Time{}
		}
		return pass
	}
	if !r.means(f.c, fr) || !r.fires() {
		return pass
	}
	return verdict{fate: Held, due: time.Now().Add(r.wait), loose: true, overtakers: r.behind}
}

// expire passes the message on: it has been overtaken, or nothing more came.
func (r *messageReorderer) expire(a *applied, p *parked) bool {
	if p.overtakers == r.behind {
		r.unfired()
		return false
	}
	facts := p.facts
	facts.Time, facts.Fate = time.Now(), Released
	a.p.fired(a, facts)
	return false
}
