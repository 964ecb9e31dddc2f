package run

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

func TestMain(m *testing.M) {
	lab.Main()
	bad.Main()
	lab.SideBySide(6)
	goleak.VerifyTestMain(m)
}
