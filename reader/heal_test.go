package reader_test

import (
	"testing"
	"time"
)

// A session that heals after its pulls were lost asks anew at once: it does not
// wait for an answer to what never arrived.
func TestHealedSessionReadsOnAtOnce(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(calm())
	cfg.Pull.Expires = 3 * time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	undo := b.fault("api-timeout(pulls=true)")
	b.await("replace_failed", 3)
	b.publish(11, 30)
	undo()
	b.expect(r, 11, 30)
	if b.count("session_silent") != 1 {
		t.Fatalf("fell silent %d times\n%s", b.count("session_silent"), b.story())
	}
}
