package reader_test

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// A Name on a stream with one slot for a consumer: no second one can be made beside the
// first, and the name is the first's. Whatever takes the session, its consumer is bound
// anew, set back or made again in the same slot, and nothing is lost or comes twice.
func TestNameInTheOnlySlot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		act  func(*bed, *reader.Reader)
	}{
		{"replace", func(b *bed, r *reader.Reader) { b.must(r.Replace(b.ctx)) }},
		{"subscription lost", func(b *bed, r *reader.Reader) { b.deafen(r) }},
		{"consumer deleted", (*bed).deleteConsumer},
		{"message lost", func(b *bed, _ *reader.Reader) { b.fault("drop-message(nth=1,limit=1)") }},
		{"connection cut", func(b *bed, _ *reader.Reader) { b.fault("cut") }},
		{"replies lost", func(b *bed, r *reader.Reader) {
			undo := b.fault("lose-reply")
			b.deleteConsumer(r)
			b.await("replace_failed", 1)
			undo()
		}},
		{"requests lost", func(b *bed, r *reader.Reader) {
			undo := b.fault("api-timeout")
			b.deleteConsumer(r)
			b.await("replace_failed", 1)
			undo()
		}},
		{"server killed", func(b *bed, _ *reader.Reader) { b.must(b.server.Kill(b.ctx)); b.must(b.server.Start(b.ctx)) }},
		{"stream made again", func(b *bed, _ *reader.Reader) { b.remake(0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t, func(s *jetstream.StreamConfig) { s.MaxConsumers = 1 })
			b.publish(1, 10)
			cfg := hasty(quick())
			cfg.Name = "mine"
			r := b.open(cfg)
			b.expect(r, 1, 10)
			c.act(b, r)
			b.eventually("the server stores", func() bool {
				_, err := b.admin.Publish(b.ctx, "orders.new", []byte("11"), jetstream.WithMsgID("11"))
				return err == nil
			})
			b.publish(12, 20)
			b.expect(r, 11, 20)
			if all := b.consumers(); !slices.Equal(all, []string{"mine"}) {
				t.Fatalf("consumers %v\n%s", all, b.story())
			}
			t.Logf("%d sessions, replaced %v", r.Status().Session.Number, r.Status().Replaced)
			b.must(r.Close(b.ctx))
			if all := b.consumers(); len(all) != 0 {
				t.Fatalf("left: %v", all)
			}
		})
	}
}

// Two readers, one Name, one slot: the second is told, at Open, and the first reads on.
func TestNameInTheOnlySlotIsTaken(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(s *jetstream.StreamConfig) { s.MaxConsumers = 1 })
	b.publish(1, 10)
	cfg := calm()
	cfg.Name = "mine"
	r := b.open(cfg)
	b.expect(r, 1, 10)
	second := b.refused(cfg, reader.ErrNameInUse.Error())
	t.Log(second)
	cfg.Name = "other"
	third := b.refused(cfg, reader.ErrConsumerLimit.Error())
	t.Log(third)
	b.publish(11, 20)
	b.expect(r, 11, 20)
}
