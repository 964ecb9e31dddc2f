package chaos

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestMain(m *testing.M) {
	lab.Main()
	if os.Getenv(victimURL) != "" {
		victim()
	}
	goleak.VerifyTestMain(m)
}
