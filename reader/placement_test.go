package reader_test

import (
	"strconv"
	"testing"
)

// A cluster that has no node to place a consumer on says so and may have one later: it
// is asked again until it does.
func TestPlacementRefused(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"insufficient resources": "api-error(err_code=10023,subject=CONSUMER.CREATE.>,limit=3)",
		"no suitable peers":      `api-error(err_code=10005,code=400,text="no suitable peers for placement",subject=CONSUMER.CREATE.>,limit=3)`,
	} {
		t.Run(name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			r := b.open(calm())
			b.expect(r, 1, 10)
			b.fault(fault)
			b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
			b.publish(11, 20)
			b.expect(r, 11, 20)
			if e := b.await("replace_failed", 3); !contains(e.Err, strconv.Itoa(e.Code)) || !contains(e.Err, name) {
				t.Errorf("told code=%d %v", e.Code, e.Err)
			}
			b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
		})
	}
}
