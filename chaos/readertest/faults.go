package readertest

import (
	"context"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Inject puts a fault of the wire into force, such as "drop-message(nth=3)" or "api-timeout(for=2s)", or one
// of the server's process, such as "disable-jetstream" or, with Options.Nodes, "kill-node(node=stream-leader)".
// Of the latter stream-leader is that of the newest stream. The end of the test undoes it, if undo or the
// fault's own time has not. nats-reader chaos list, and chaos.Faults, tell all faults.
func (b *Bed) Inject(fault string) (undo func()) {
	b.t.Helper()
	if s, err := chaos.ParseSpec(fault); err == nil {
		switch f, _ := chaos.FindFault(s.Name); f.Layer {
		case chaos.LayerServer:
			b.t.Fatalf("readertest: fault %s acts through the server's API: use JetStream()", s.Name)
		case chaos.LayerProcess:
			return b.onProcess(s)
		case chaos.LayerReader:
			b.t.Fatalf("readertest: fault %s acts on the reader's own side, which is the test's: let its code wait", s.Name)
		case chaos.LayerWire:
		}
	}
	f, err := proxy.ParseFault(fault)
	if err == nil {
		undo, err = b.proxy.Apply(f)
	}
	if err != nil {
		b.t.Fatalf("readertest: %v", err)
	}
	b.t.Cleanup(undo)
	return undo
}

// onProcess makes a fault of the process until it is undone.
func (b *Bed) onProcess(s chaos.Spec) (undo func()) {
	b.t.Helper()
	if s.For > 0 {
		b.t.Fatalf("readertest: fault %s lasts until it is undone: leave its duration out", s.Name)
	}
	env := &chaos.Environment{Stream: b.told.newest(), JS: b.js, Lab: b.server, Cluster: b.cluster}
	if b.cluster != nil {
		env.Lab = nil
	}
	ctx := context.WithoutCancel(b.t.Context()) // it is undone when the test is over, too
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	end, err := env.Inject(within, s)
	done := false
	undo = func() {
		if done || end == nil {
			return
		}
		done = true
		within, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if err := end(within); err != nil {
			b.t.Errorf("readertest: end of fault %s: %v", s.Fault(), err)
		}
	}
	b.t.Cleanup(undo)
	if err != nil {
		b.t.Fatalf("readertest: %v", err)
	}
	return undo
}

// Kill ends the server with KILL. Restart brings it back. In a cluster these methods act on its first node;
// Inject and Cluster reach the others.
func (b *Bed) Kill() { b.t.Helper(); b.act(b.server.Kill) }

// Stop ends the server with TERM, in order. Restart brings it back.
func (b *Bed) Stop() { b.t.Helper(); b.act(b.server.Term) }

// Restart starts the server on the same port and store, after ending it with TERM where it runs. It returns
// when the server is ready.
func (b *Bed) Restart() { b.t.Helper(); b.act(b.server.Restart) }

// Freeze has the server's process stand still: connections stay open, nothing is answered. Thaw lets it go
// on; so does the end of the test.
func (b *Bed) Freeze() {
	b.t.Helper()
	b.act(func(context.Context) error { return b.server.Freeze() })
}

// Thaw lets a frozen server go on.
func (b *Bed) Thaw() { b.t.Helper(); b.act(func(context.Context) error { return b.server.Thaw() }) }

func (b *Bed) act(do func(context.Context) error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	if err := do(ctx); err != nil {
		b.t.Fatalf("readertest: %v", err)
	}
}
