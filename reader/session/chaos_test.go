package session

import (
	"fmt"
	"slices"
	"time"
)

func (c *chaos) input() {
	switch c.r.Intn(16) {
	case 0, 1, 2, 3:
		c.tick()
	case 4, 5, 6:
		c.answer()
	case 7, 8:
		c.deliver()
	case 9, 10:
		c.status()
	case 11:
		if c.buffered > 0 {
			n := 1 + c.r.Intn(c.buffered)
			c.buffered -= n
			c.m.Took(c.now, n, n*100)
		}
	case 12:
		c.connection()
	case 13:
		c.wish()
	case 14:
		subjects := []string{"other", "$JS.API.CONSUMER.MSG.NEXT.S.D", "$JS.API.STREAM.INFO.S", fmt.Sprintf("_INBOX.r.%d.*", c.r.Intn(9))}
		if c.m.cur != nil {
			subjects = append(subjects, c.m.pullSubject(c.m.cur.consumer))
		}
		if c.r.Intn(4) == 0 {
			c.m.Denied(c.now, subjects[c.r.Intn(len(subjects))], "")
		}
	case 15:
		c.m.Drained(c.now, c.r.Intn(9))
	}
	c.perform()
}

func (c *chaos) pick() (Effect, bool) {
	ids := []RequestID{}
	for id := range c.open {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return Effect{}, false
	}
	slices.Sort(ids)
	return c.open[ids[c.r.Intn(len(ids))]], true
}

func (c *chaos) answer() {
	e, ok := c.pick()
	if !ok {
		return
	}
	delete(c.open, e.Request)
	ans := c.randomAnswer(e)
	c.note("answer %d %+v", e.Request, ans)
	c.m.Answer(c.now, e.Request, ans)
}

func (c *chaos) randomAnswer(e Effect) Answer {
	errs := []error{
		ErrNoResponders, ErrNoAnswer, ErrDenied, &APIError{404, 10014, "consumer not found"}, &APIError{404, 10059, "stream not found"},
		&APIError{503, 10008, "unavailable"}, &APIError{400, 10026, "limit"}, &APIError{400, 10148, "exists"}, &APIError{400, 10204, "invalid reset"},
	}
	if c.r.Intn(4) == 0 {
		return Answer{Err: errs[c.r.Intn(len(errs))]}
	}
	last := uint64(c.r.Intn(30))
	switch e.API {
	case APIStreamInfo:
		return Answer{Stream: &StreamFacts{Created: 100 + int64(c.r.Intn(10)/9), First: last / 2, Last: last, LastTime: int64(last) * 10, Limits: true, Mirror: c.r.Intn(20) == 0}}
	case APIConsumerCreate, APIConsumerInfo:
		f := &ConsumerFacts{Name: e.Consumer, DeliveredStream: last, Pending: uint64(c.r.Intn(3)), Paused: c.r.Intn(20) == 0, Level: c.r.Intn(6), Owner: "id"}
		if e.API == APIConsumerInfo && c.r.Intn(2) == 0 && c.m.cur != nil {
			f.DeliveredConsumer = c.m.cur.consumerSeq
		} else if c.r.Intn(10) == 0 {
			f.DeliveredConsumer = 3
		}
		return Answer{Consumer: f}
	case APIMessageGet:
		return Answer{Message: &MessageFacts{Sequence: e.Sequence, Time: int64(c.r.Intn(30)) * 10}}
	case APIStreamNames:
		return Answer{Names: []string{"S"}}
	}
	return Answer{Done: true}
}

// attempt names an inbox: mostly one that is in use.
func (c *chaos) attempt() (int, uint64) {
	switch {
	case c.r.Intn(8) == 0:
		return c.r.Intn(9), 1
	case c.m.try != nil && c.m.try.sess != nil && c.r.Intn(2) == 0:
		return c.m.try.sess.attempt, c.m.try.sess.consumerSeq + 1
	case c.m.cur != nil:
		return c.m.cur.attempt, c.m.cur.consumerSeq + 1
	}
	return 1, 1
}

func (c *chaos) deliver() {
	attempt, next := c.attempt()
	seq := c.m.cursor.Sequence + uint64(c.r.Intn(3))
	d := Delivery{Sequence: seq, ConsumerSeq: next, Time: int64(seq) * 10, Pending: uint64(c.r.Intn(3)), Size: 100}
	switch c.r.Intn(12) {
	case 0:
		d.ConsumerSeq += 2
	case 1:
		d.ConsumerSeq = 1
	case 2:
		d.Time = 7
	}
	v := c.m.Deliver(c.now, attempt, d)
	c.note("msg %d seq=%d cseq=%d: %s", attempt, d.Sequence, d.ConsumerSeq, verdictNames[v])
	if v == Accept {
		c.buffered++
	}
}

func (c *chaos) status() {
	attempt, next := c.attempt()
	rule := statusTable[c.r.Intn(len(statusTable))]
	if c.r.Intn(2) == 0 {
		rule = statusTable[0]
	}
	st := Status{Token: c.tokens[attempt], Code: rule.code, Text: rule.text, HasLast: rule.code == 100, LastConsumer: next - 1, LastStream: c.m.cursor.Sequence}
	if c.r.Intn(10) == 0 {
		st.LastConsumer++
	}
	if rule.inUse == limited {
		st.Text += " of 5"
	}
	c.note("status %d %d %s last=%d", attempt, st.Code, st.Text, st.LastConsumer)
	c.m.Status(c.now, attempt, st)
}

func (c *chaos) connection() {
	c.note("connection")
	switch {
	case !c.m.connected:
		c.m.Reconnected(c.now)
	case c.r.Intn(3) == 0:
		c.m.Disconnected(c.now)
	}
}

func (c *chaos) wish() {
	switch c.r.Intn(40) {
	case 0:
		c.m.Close(c.now, c.now+2*time.Second)
	case 1:
		c.m.OpenTimedOut(c.now, ErrNoAnswer)
	case 2, 3, 4:
		c.m.Unwish(c.now, c.r.Intn(c.tickets+1))
	case 5, 6, 7, 8:
		c.tickets++
		c.note("replace")
		c.m.Replace(c.now, c.tickets)
	}
}
