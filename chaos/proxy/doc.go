// Package proxy is a fault proxy that knows the NATS client protocol. It stands in front of any
// nats-server, for any client, and lets faults act on single frames and on whole connections.
//
//	p, err := proxy.New(server.ClientURL(), proxy.Options{})
//	defer p.Close()
//	nc, err := nats.Connect(server.ClientURL(), nats.SetCustomDialer(p.Dialer()))
//	fault, err := proxy.ParseFault("drop-message(nth=3)")
//	undo, err := p.Apply(fault)
//
// Programs in other languages connect to a port that Listen opened.
//
// A client is let in when an upstream has said its INFO, the first thing a server says: one that is down, frozen or
// no NATS server is passed over for the next one (Options.InfoTimeout), and where none is left the client is
// closed.
//
// The server may want TLS (Options.UpstreamTLS), and clients may be asked for it (Options.ServerTLS): it ends at
// the proxy on either side, so faults act on frames all the same. Clients are told of no other server to go to
// than, if at all, the proxy itself.
//
// # One connection
//
//	         ┌────────────────────────────── conn ──────────────────────────────┐
//	         │  up flow:   read > decoder > decide > write > line (when slowed)  │
//	client ──┤                         knowledge                                 ├── server
//	         │  down flow: line < write < decide < decoder < read                │
//	         └───────────────────────────────────────────────────────────────────┘
//
// Each direction is a flow with one goroutine that alone reads one side and writes the other. The decoder
// finds the head of a frame (control line and header block, and all of a pull) however TCP has cut the stream;
// decide teaches the head to the connection's knowledge and asks the faults in force; the payload is never
// copied into anything: runs of frames that pass are written as they were read, in one write, and a payload
// larger than the buffer goes through in parts.
//
// What must stay true:
//
//   - A frame is put in only between two frames (flow.between), and only by the flow's own goroutine; others
//     hand it over with put, which wakes the flow out of its read.
//   - A frame that is taken out leaves nothing behind: no part of it, no answer, no error. On a verbose
//     connection the +OK that the client counts on is made up for.
//   - A frame that is forged is byte for byte what a server of that version writes; tests compare it with real
//     ones. It counts for its subscription as the client counts it (conn.delivered), and its fault has been
//     recorded before it can arrive (flow.after).
//   - What is held back keeps its order on its subscription: what follows there waits behind it, unless the
//     fault is that others overtake.
//   - Bytes that are no frames pass unchanged from there on, in that direction, and are told once, or the
//     connection ends (Options.CloseMalformed).
//   - A side that ends only its own direction still gets what the other has to say. A server that has ended its own
//     and takes nothing more ends the connection for a client that goes on sending too.
//   - Memory per direction is bounded by a head (1 MiB of INFO or CONNECT, 64 KiB of anything else) unless a
//     fault holds or doubles a frame, then by that frame and 8 MiB behind it, or slows the direction down, then by
//     8 MiB on their way.
//   - Without a fault that filters, a flow asks nobody: one atomic load per frame.
//   - No callback runs and nothing is written under a lock.
//   - After the end of a fault the connection works on with no trace of it; a connection that a fault ended
//     is ended towards every side that fault speaks of.
//   - What a fault draws depends on Options.RandSeed, the connection's number and the direction, and on nothing
//     else.
//
// # Versions
//
// What is forged follows the version of the server behind the proxy. Another one's is written with parameters:
// from 2.12 on a 503 names the pull (Nats-Subject) and a 423 says what was left, which headers=none leaves out;
// the 423 of a wrong pin is "Nats-Pin-Id mismatch" for a pull that comes and "Nats-Wrong-Pin-Id" for one that
// waits. Servers up to 2.10.22 answer nothing to a pull where no consumer is: drop-status(code=503) is that
// silence in front of a newer one, forge-status(code=503,on=pulls) the 503 in front of an older one.
//
// # A further fault
//
// A fault is one file: an Entry that says its name, its parameters and, in words, where it acts, what it
// does and what its end leaves; and an effect, which has the methods it needs:
//
//	judge        a filter: is asked about each frame of the entry's direction, and passes, doubles, drops or holds it
//	direction    a directed: has its parameters choose that direction
//	expire       an expirer: decides on a frame it holds, when its time has come
//	start        a starter: acts once on the connections open at Apply
//	join, leave  a joiner: changes whole connections, later ones too, for as long as the fault lasts
//	stop         a stopper: has more to undo
//
// A filter may put frames into either direction (conn.putUp, conn.deliver, flow.put), which is how an answer is
// forged. The entry is named in the table of catalogue.go.
package proxy
