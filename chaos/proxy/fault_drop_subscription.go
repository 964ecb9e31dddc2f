package proxy

var dropSubscription = Entry{
	Name:  "drop-subscription",
	Where: "to the server, between two frames of the client",
	Words: "the server forgets a subscription while the client believes it is still there: an UNSUB for it is put in. Without subject or sid: the inboxes that JetStream delivers to",
	Undo:  "none: the client hears of it again by subscribing anew",
	Once:  true,
	Parameters: []Parameter{
		connParameter,
		{Name: "subject", Type: Subject, Words: "subscriptions whose subject matches this, pull inbox or not"},
		{Name: "sid", Type: Text, Words: "the subscription with this id"},
	},
	direction: Up,
	build: func(a *arguments) (effect, error) {
		return &subscriptionDropper{
			conn: argument[glob](a, "conn"), subject: argument[pattern](a, "subject"), sid: argument[string](a, "sid"),
		}, nil
	},
}

type subscriptionDropper struct {
	conn    glob
	subject pattern
	sid     string
}

func (d *subscriptionDropper) start(a *applied, conns []*conn) {
	for _, c := range conns {
		if !c.named(d.conn) || c.state() != open {
			continue
		}
		for _, sub := range c.know.forget(d.chosen) {
			c.putUp(injection{
				data:  []byte("UNSUB " + sub.sid + "\r\n"),
				facts: Frame{Verb: UNSUB, SID: sub.sid, Subject: sub.subject, Queue: sub.queue},
				by:    a,
			})
		}
	}
}

func (d *subscriptionDropper) chosen(sub *subscription) bool {
	if d.sid == "" && d.subject == "" {
		return sub.pulls || sub.fed
	}
	return (d.sid == "" || d.sid == sub.sid) && d.subject.matches(sub.subject)
}
