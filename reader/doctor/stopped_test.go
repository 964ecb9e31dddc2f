package doctor_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// nats.go leaves an ordered consumer that was stopped to lapse: where its process
// reads on with another one, nobody misses its messages. One whose handler hangs
// looks alike, but for its inbox.
func TestStoppedOrdered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hangs bool
		want  []string
	}{"stopped": {false, []string{"-READER_006"}}, "hangs": {true, []string{"READER_002"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			s := w.stream()
			w.publish("s.a", 1)
			opened := func(handle func()) jetstream.ConsumeContext {
				o, err := s.OrderedConsumer(w.ctx, jetstream.OrderedConsumerConfig{})
				w.must(err)
				got := make(chan struct{}, 100)
				running, err := o.Consume(func(jetstream.Msg) {
					got <- struct{}{}
					handle()
				}, jetstream.PullMaxMessages(1))
				w.must(err)
				t.Cleanup(running.Stop)
				select {
				case <-got:
				case <-w.ctx.Done():
					t.Fatal("no message came")
				}
				return running
			}
			hang := make(chan struct{})
			t.Cleanup(func() { close(hang) })
			old := opened(func() {
				if c.hangs {
					<-hang
				}
			})
			if !c.hangs {
				old.Stop()
				<-old.Closed()
			}
			for range 100 { // far from it by the counter of names
				w.nc.NewInbox()
			}
			opened(func() {})
			w.publish("s.a", 20)
			_, r := w.examine(short, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}
