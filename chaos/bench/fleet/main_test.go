package fleet

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestMain(m *testing.M) {
	lab.Main()
	lab.SideBySide(6)
	goleak.VerifyTestMain(m)
}
