//go:build long && unix

package target

import (
	"os"
	"strings"
	"testing"
)

// examplesVariable names the targets to try, name=command a line; scripts/targets.sh
// sets it.
const examplesVariable = "NATS_READER_TARGETS"

// Each example reads what is stored and what comes, goes on after it was frozen, and
// ends when it is told to.
func TestExamples(t *testing.T) {
	examples := strings.TrimSpace(os.Getenv(examplesVariable))
	if examples == "" {
		t.Fatalf("%s names no targets: run scripts/targets.sh", examplesVariable)
	}
	for _, line := range strings.Split(examples, "\n") {
		name, command, _ := strings.Cut(line, "=")
		for _, durable := range []string{"", "mine"} {
			if durable != "" {
				name += "-durable"
			}
			t.Run(name, func(t *testing.T) {
				b := newBed(t)
				b.in.Subjects, b.in.Durable = []string{"s.x", "s.y"}, durable
				b.publish(1, 500)
				p := b.start("exec:" + command).(*program)
				b.awaitRead(500)
				if err := p.Freeze(); err != nil {
					t.Fatal(err)
				}
				b.publish(501, 1000)
				if err := p.Thaw(); err != nil {
					t.Fatal(err)
				}
				b.awaitRead(1000)
				group := p.PID()
				b.stop()
				b.wantGone(group)
				b.wantRead(1, 1000)
				if durable != "" && len(b.consumers()) != 1 {
					t.Errorf("%d consumers, want the durable", len(b.consumers()))
				}
				if len(b.reports) > 0 {
					t.Errorf("it told %v; stderr %q", b.reports, b.stderr.String())
				}
			})
		}
	}
}
