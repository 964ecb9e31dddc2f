// Package session holds the rules of a reader as a pure state machine: what happened
// goes in with its time, what is to be done comes out as effects. There is no clock,
// no goroutine, no connection and no randomness in it, so that every story a reader
// can live through is a text (see testdata) and a bug is a missing or wrong rule.
//
// Machine is one reader. Link is what all readers of one connection share. The driver
// in package reader owns both, feeds them and performs the effects in order.
//
// # The phases of a reader
//
//	 Start
//	   |                          proof or heal
//	   v          +------------------------------------------------+
//	Opening --> Reading --> Silent --(ask answered, or not)--> Replacing
//	   | proof    |  ^        |                                    |
//	   |          |  +--------+ an answer came: healed             |
//	   |          +--(gap, refused, deleted, disconnected)-------->|
//	   |          |           |                                    |
//	   +----------+-----------+----(end, close, fatal, budget)-----+
//	                          v
//	                       Ending --(all removed, or out of time)--> Done
//
// Reading: the session in use answers. Silent: a pull of ours is out and nothing came
// for two heartbeats; one CONSUMER.INFO asks why. Replacing: attempts are made, paced
// by the policy. A session that is only silent goes on being listened to, and may
// heal; a condemned one may not. Whether the connection is up is told apart: a reader
// keeps its phase while it is away, and comes back to Replacing.
//
// # The steps of an attempt
//
//	finding --> looking --> creating --> pinning --> proving --> swap
//	(stream     (may it     (inbox +     (is it      (first pull;
//	 of the      be read     CREATE)      the same    an answer is
//	 subject)    so?)           |         stream?)    the proof)
//	                            |            ^           |
//	                            |            +-- doubt --+
//	                            +-- no slot, or a Name:
//	                                draining --> asking --> proving    bound as it is
//	                                               |
//	                                               +--> resetting      back to the cursor
//	                                               +--> clearing       delete, then create
//
// Until the swap nothing of the session in use is touched (binding its consumer anew
// excepted: there is no second one). A failed attempt leaves no subscription, and what
// it may have created is a leftover.
//
// # What always holds
//
//   - The session in use is judged by the server's answers to our own pulls, and by
//     nothing else; no request is sent periodically. Under a filter the stream is looked
//     at where retention may have taken something from a session that had to wait: at
//     most once per Expires, and not while nothing is passed over.
//   - A message is accepted only if its consumer sequence is the next one and its
//     stream sequence lies above the cursor. The cursor moves by accepted messages,
//     by the first create's answer, and where a stream_reset or skipped says so.
//   - Nothing of a new session is accepted while the identity of its stream is in
//     doubt; the stream is looked at after the create's answer, never before it.
//   - At most maxConsumers consumers of a reader may exist: the one in use, and
//     leftovers. A leftover is known from before its create is sent until the server
//     says that it is gone, or it has lapsed since the last outage. The name in use is never deleted.
//   - Buffered and asked for together stay within Pull, the probe's and the heal
//     pull's single messages aside.
//   - Between two moves of the clock the number of requests is bounded, whatever the
//     server answers: every failure is paced, and only a proof or a heal starts the
//     budget anew.
//   - While disconnected nothing is sent. After Done nothing happens.
package session
