package session

import "strings"

func apiError(a *args) error {
	codes := a.word(3)
	l, r, ok := strings.Cut(codes, "/")
	if !ok {
		a.fail("an error wants code/err_code")
	}
	return &APIError{Code: int(a.parse(l)), ErrCode: int(a.parse(r)), Text: strings.Join(a.plain[4:], " ")}
}

func streamOf(a *args) *StreamFacts {
	last := a.number("last", 0)
	f := &StreamFacts{
		Created: int64(a.number("created", 100)), First: a.number("first", 1), Last: last,
		LastTime: int64(a.number("lasttime", last*10)), Retention: a.text("retention", "limits"), Mirror: a.has("mirror"), Weight: int(a.number("weight", 0)),
	}
	f.Limits = f.Retention == "limits"
	return f
}

func consumerOf(a *args, e Effect) *ConsumerFacts {
	c, st, _ := a.pair("delivered")
	f := &ConsumerFacts{
		Name: e.Consumer, DeliveredConsumer: c, DeliveredStream: st, Pending: a.number("pending", 0),
		Paused: a.has("paused"), PauseLeft: a.duration("pauseleft", 0), AckPending: int(a.number("ackpending", 0)), MaxAckPending: int(a.number("maxack", 0)),
		AckFloor: a.number("floor", 0), AckNone: a.has("acknone"), PushBased: a.has("push"), Grouped: a.has("groups"),
		Level: int(a.number("level", 5)), Owner: a.text("owner", "id"), Created: int64(a.number("born", 0)),
		Limits:  Limits{Batch: int(a.number("maxbatch", 0)), Bytes: int(a.number("maxbytes", 0)), Expires: a.duration("maxexpires", 0), Waiting: int(a.number("maxpulls", 0))},
		Waiting: int(a.number("waiting", 0)), MaxWaiting: int(a.number("maxwaiting", 0)),
	}
	if filter := a.text("filter", ""); filter != "" {
		f.Filters = strings.Split(filter, ",")
	}
	return f
}
