package commands

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// removeOrphans deletes what was found orphaned, and tells each on stderr.
func (p *program) removeOrphans(ctx context.Context, nc *nats.Conn, w doctorPlan, f doctor.Facts) error {
	orphans, young := doctor.Orphans(f, w.judge)
	if young > 0 {
		p.note("%s may yet be used: --%s says from when on an idle one is deleted", counted(young, "orphan"), flagIdleAfter)
	}
	if len(orphans) == 0 {
		p.note("no orphan to delete")
		return nil
	}
	removed, err := doctor.Remove(ctx, nc, w.options, orphans)
	left := 0
	for _, r := range removed {
		l := line{sentence: fmt.Sprintf("deleted consumer %s of stream %s", r.Consumer, r.Stream)}
		if !r.Deleted {
			l.sentence = fmt.Sprintf("left consumer %s of stream %s", r.Consumer, r.Stream)
			l.add("because", r.Why)
			left++
		} else {
			l.add("was", r.Orphan.Why)
		}
		p.note("%s", l)
	}
	if err != nil {
		return fmt.Errorf("%d of %d orphans were looked at: %w", len(removed), len(orphans), err)
	}
	p.note("deleted %d of %s", len(removed)-left, counted(len(orphans), "orphan"))
	return nil
}
