package model

import "slices"

// fetched is what a server of 2.10.7 holds ready for one of several filters: a message
// that is removed meanwhile is sent all the same.
type fetched struct {
	subject int
	next    uint64 // where to look for the one after it
	msg     *Message
}

// prefetched gives the next message for a consumer of several filters.
func (c *Consumer) prefetched() *Message {
	if len(c.fetched) == 0 {
		for i := range 64 {
			if c.Config.Filter&(1<<i) != 0 {
				c.fetched = append(c.fetched, fetched{subject: i})
			}
		}
	}
	for i := range c.fetched {
		f := &c.fetched[i]
		f.next = max(f.next, c.next)
		if f.msg != nil {
			continue
		}
		from := f.next
		f.fetch(c.st)
		if f.msg != nil && f.msg.Sequence == from {
			break // no other filter can have an earlier one
		}
	}
	slices.SortStableFunc(c.fetched, func(f, o fetched) int {
		switch {
		case f.msg != nil && o.msg == nil:
			return -1
		case f.msg == nil && o.msg != nil:
			return 1
		}
		return int(f.next) - int(o.next)
	})
	if f := &c.fetched[0]; f.msg != nil {
		return f.msg
	}
	c.next = max(c.next, c.fetched[0].next)
	c.dseq = max(c.dseq, c.next-1)
	if c.next > c.st.last {
		c.pending = 0
	}
	return nil
}

// fetch looks for a filter's next message.
func (f *fetched) fetch(st *Stream) {
	for seq := max(f.next, st.first); seq <= st.last; seq++ {
		if m := st.at(seq); m != nil && m.Subject == f.subject {
			held := *m
			f.msg, f.next = &held, seq+1
			return
		}
	}
	f.next = max(f.next, st.last+1)
}
