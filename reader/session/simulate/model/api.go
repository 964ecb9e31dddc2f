package model

import "time"

// Action is what a create may do.
type Action int

// The actions; Any creates or updates.
const (
	Any Action = iota
	Create
	Update
)

// Info is what CONSUMER.CREATE and CONSUMER.INFO answer.
type Info struct {
	Name              string
	Config            Config
	Level             int
	Version           string // of the server, "" where it does not tell
	Created           int64
	DeliveredConsumer uint64
	DeliveredStream   uint64
	AckFloor          uint64
	AckPending        int
	Redelivered       int
	Waiting           int
	Pending           uint64
	Paused            bool
}

// The errors of the API, with the server's words.
var (
	errStreamNotFound   = &Error{404, 10059, "stream not found"}
	errConsumerNotFound = &Error{404, 10014, "consumer not found"}
	errConsumerExists   = &Error{400, 10148, "consumer already exists"}
	errConsumerAbsent   = &Error{400, 10149, "consumer does not exist"}
	errConsumerLimit    = &Error{400, 10026, "maximum consumers limit reached"}
	errDeliverAll       = &Error{400, 10101, "consumer must be deliver all on workqueue stream"}
	errNoMessage        = &Error{404, 10037, "no message found"}
	errResetPolicy      = &Error{400, 10204, "invalid reset: not allowed"}
	errResetBelow       = &Error{400, 10204, "invalid reset: below start seq"}
)

func errUpdate(what string) *Error { return &Error{500, 10012, what + " can not be updated"} }

// Create is CONSUMER.CREATE; ok is false where the server does not answer.
func (s *Server) Create(stream, name string, cfg Config, action Action) (info *Info, e *Error, ok bool) {
	st := s.Stream(stream)
	if st == nil {
		return nil, errStreamNotFound, true
	}
	c := st.Consumer(name)
	if c != nil && c.Away {
		return nil, nil, false
	}
	if e := st.refuses(cfg); e != nil {
		return nil, e, true
	}
	if c != nil {
		e := c.again(cfg, action)
		if e != nil {
			return nil, e, true
		}
		return c.info(), nil, true
	}
	if action == Update {
		return nil, errConsumerAbsent, true
	}
	limit := st.MaxConsumers
	if limit == 0 {
		limit = s.MaxConsumers
	}
	if limit > 0 && len(st.Consumers()) >= limit {
		return nil, errConsumerLimit, true
	}
	return st.add(name, cfg).info(), nil, true
}

// refuses says what a stream does not take.
func (st *Stream) refuses(cfg Config) *Error {
	switch {
	case cfg.SubjectFilter != 0 && cfg.SubjectFilter != cfg.Filter:
		return &Error{400, 10131, "Consumer create request did not match filtered subject from create subject"}
	case cfg.Unknown != "" && st.s.Strict:
		return &Error{400, 10025, `invalid JSON: json: unknown field "` + cfg.Unknown + `"`}
	case st.MaxInactive > 0 && cfg.Inactive > st.MaxInactive:
		return &Error{400, 10153, "consumer inactive threshold exceeds system limit of " + st.MaxInactive.String()}
	case cfg.Policy == BySequence && cfg.Sequence == 0:
		return &Error{400, 10094, "consumer delivery policy is deliver by start sequence, but optional start sequence is not set"}
	case st.Retention == WorkQueue && !cfg.Explicit && st.s.Level > 0:
		return &Error{400, 10084, "consumer in pull mode requires explicit ack policy on workqueue stream"}
	case st.Retention == WorkQueue && !cfg.Explicit:
		return &Error{400, 10084, "consumer in pull mode requires ack policy"}
	case st.Retention == WorkQueue && cfg.Policy != All:
		return errDeliverAll
	case cfg.Policy == LastPerSubject && cfg.Filter == 0:
		return &Error{400, 10094, "consumer delivery policy is deliver last per subject, but optional filter subject is not set"}
	}
	return nil
}

// again is a create of a consumer that exists.
func (c *Consumer) again(cfg Config, action Action) *Error {
	was := c.asked
	cfg.Unknown, cfg.SubjectFilter = was.Unknown, was.SubjectFilter
	if was == cfg && action == Create {
		if cfg.Inactive == 0 && !cfg.Durable {
			return errConsumerExists // the threshold that the server filled in differs
		}
		return nil
	}
	if was == cfg && !c.s.FixedTime {
		return nil
	}
	switch {
	case action == Create:
		return errConsumerExists
	case was.Policy != cfg.Policy:
		return errUpdate("deliver policy")
	case was.Sequence != cfg.Sequence:
		return errUpdate("start sequence")
	case was.Time != cfg.Time, cfg.Time != 0 && c.s.FixedTime:
		return errUpdate("start time")
	case was.Push != cfg.Push && c.s.Level > 0:
		return &Error{500, 10012, "can not update pull consumer to push based"}
	case was.Push != cfg.Push:
		return errUpdate("max waiting")
	case was.Explicit != cfg.Explicit:
		return errUpdate("ack policy")
	case was.MaxWaiting != cfg.MaxWaiting:
		return errUpdate("max waiting")
	case was.Memory != cfg.Memory && c.s.FixedStorage:
		return errUpdate("storage type")
	}
	if was.Inactive != cfg.Inactive {
		c.active = c.s.now() // it counts from here on
		c.drawSpread()
	}
	c.asked = cfg
	c.Config = cfg.complete()
	c.count()
	return nil
}

func (cfg Config) complete() Config {
	if cfg.Inactive == 0 && !cfg.Durable {
		cfg.Inactive = defaultInactive
	}
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = defaultMaxWaiting
	}
	if cfg.Explicit && cfg.AckWait == 0 {
		cfg.AckWait = defaultAckWait
	}
	if cfg.Explicit && cfg.MaxAckPending == 0 {
		cfg.MaxAckPending = defaultAckPending
	}
	return cfg
}

func (st *Stream) add(name string, cfg Config) *Consumer {
	st.s.births++
	c := &Consumer{Name: name, Config: cfg.complete(), asked: cfg, s: st.s, st: st, born: st.s.births, active: st.s.now()}
	c.drawSpread()
	c.begin()
	if st.s.Pauses && cfg.PauseUntil > st.s.now() {
		c.Pause(cfg.PauseUntil)
	}
	if st.s.FloorAtStart {
		c.acks.floor = c.dseq
	}
	st.consumers = append(st.consumers, c)
	c.told = c.waits()
	return c
}

func (c *Consumer) info() *Info {
	c.recount()
	i := &Info{
		Name: c.Name, Config: c.Config, Level: c.s.Level, Created: int64(c.born), DeliveredConsumer: c.cseq, DeliveredStream: c.dseq,
		AckFloor: c.acks.floor, AckPending: c.acks.open(), Waiting: c.Waiting(), Pending: c.waits(), Paused: c.s.Pauses && c.paused(),
	}
	if c.s.Level > 0 {
		i.Version = c.s.Version
	}
	for _, u := range c.acks.list {
		if u.deliveries > 1 {
			i.Redelivered++
		}
	}
	return i
}

// find gives a consumer for a request about it; ok is false where nobody answers.
func (s *Server) find(stream, name string) (c *Consumer, e *Error, ok bool) {
	st := s.Stream(stream)
	if st == nil {
		return nil, errStreamNotFound, true
	}
	c = st.Consumer(name)
	if c == nil {
		return nil, errConsumerNotFound, true
	}
	return c, nil, !c.Away
}

// Info is CONSUMER.INFO.
func (s *Server) Info(stream, name string) (*Info, *Error, bool) {
	c, e, ok := s.find(stream, name)
	if c == nil || !ok {
		return nil, e, ok
	}
	return c.info(), nil, true
}

// Delete is CONSUMER.DELETE. Where the consumer's node is down it is done, and not
// answered.
func (s *Server) Delete(stream, name string) (*Error, bool) {
	c, e, ok := s.find(stream, name)
	if c == nil {
		return e, ok
	}
	c.st.drop(c)
	return nil, ok
}

// Reset is CONSUMER.RESET, which older servers do not answer.
func (s *Server) Reset(stream, name string, to uint64) (*Info, *Error, bool) {
	if !s.Resets {
		return nil, nil, false
	}
	c, _, ok := s.find(stream, name)
	if c == nil || !ok {
		return nil, nil, false
	}
	switch c.Config.Policy {
	case New, Last, LastPerSubject:
		return nil, errResetPolicy, true
	case BySequence:
		if to < c.Config.Sequence {
			return nil, errResetBelow, true
		}
	case All, ByTime:
	}
	c.next, c.dseq, c.cseq, c.listed = to, to-1, 0, nil
	c.acks.list = nil
	c.count()
	i := c.info()
	c.serve()
	return i, nil, true
}

// Pause is CONSUMER.PAUSE, which 2.10 does not answer.
func (s *Server) Pause(stream, name string, until time.Duration) (*Error, bool) {
	if !s.Pauses {
		return nil, false
	}
	c, e, ok := s.find(stream, name)
	if c == nil || !ok {
		return e, ok
	}
	c.Pause(until)
	return nil, true
}

// StreamInfo is STREAM.INFO.
func (s *Server) StreamInfo(stream string) (*Stream, *Error) {
	if st := s.Stream(stream); st != nil {
		return st, nil
	}
	return nil, errStreamNotFound
}

// Get is STREAM.MSG.GET by sequence.
func (s *Server) Get(stream string, sequence uint64) (*Message, *Error) {
	st := s.Stream(stream)
	if st == nil {
		return nil, errStreamNotFound
	}
	if m := st.at(sequence); m != nil {
		return m, nil
	}
	return nil, errNoMessage
}

// LastTime is when the last message was stored, 0 if that is not known any more.
func (st *Stream) LastTime() int64 { return st.lastTime }
