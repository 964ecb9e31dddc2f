package session

import "time"

// Action is what the driver has to do.
type Action int

// The effects. Those marked local touch the reader's own state only and are
// performed at once; the others call the client library and are performed in
// order, never on a goroutine that a caller waits for (rule 14).
const (
	DoSubscribe   Action = iota // subscribe Inbox for Attempt
	DoUnsubscribe               // unsubscribe Attempt's inbox
	DoDrain                     // unsubscribe, deliver what came before, then Drained
	DoPull                      // publish Pull to Subject with reply Inbox.<token>
	DoRequest                   // send the API request, then Sent and Answer
	DoCancel                    // the request's answer is no longer wanted
	DoPing                      // a PING behind the first pull: it brings a refusal within a round trip
	DoSuspect                   // the session is silent: is the link dead? A message may be on its way for Timeout
	DoEcho                      // the same, and Pong wants the answer to a PING that is sent now
	DoProven                    // a session is proven: the link lives

	DoEvent      // local: tell Event
	DoAcceptHeld // local: the message held for Attempt goes to the buffer
	DoDropHeld   // local: it does not
	DoOpened     // local: Open returns; Err nil or why not
	DoReplaced   // local: Replace Ticket returns with Err
	DoRaise      // local: the next call of Next gets Err once
	DoEnd        // local: nothing more will be accepted; after the buffer io.EOF, or Err
	DoGiveBack   // local: what a durable sent and nobody was handed is given back
	DoDone       // local: everything of ours on the server is settled or given up
)

// Effect is one thing to do; fields that an action has no use for are zero.
type Effect struct {
	Do       Action
	Attempt  int
	Inbox    string
	Subject  string
	Consumer string
	Pull     Pull
	Request  RequestID
	API      API
	Create   Create
	Sequence uint64
	Start    Cursor // DoOpened: where the reader begins, after this message
	Timeout  time.Duration
	Ticket   int
	Event    Event
	Err      error
}

func (m *Machine) do(e Effect) { m.effects = append(m.effects, e) }

func (m *Machine) tell(e Event) {
	if e.Session == 0 && m.cur != nil {
		e.Session = m.cur.number
	}
	m.do(Effect{Do: DoEvent, Event: e})
}

// Effects hands over what is to be done, in order, and forgets it. The slice is
// valid until the next input.
func (m *Machine) Effects() []Effect {
	e := m.effects
	if m.effects = m.effects[:0]; cap(e) > 1 {
		m.effects = nil // room for many is needed now and then: an idle reader keeps none
	}
	return e
}

// Busy says that there are effects to perform: the hot path looks before it takes.
func (m *Machine) Busy() bool { return len(m.effects) > 0 }

// Created gives when the stream was created that is being read, 0 unknown.
func (m *Machine) Created() int64 { return m.created }

// Session gives the number of the session in use, 0 before the first.
func (m *Machine) Session() int { return m.number }
