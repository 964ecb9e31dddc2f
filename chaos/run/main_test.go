package run

import (
	"flag"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

func TestMain(m *testing.M) {
	lab.Main()
	bad.Main()
	sideBySide()
	goleak.VerifyTestMain(m)
}

// sideBySide lets more tests run at one time than there are cores: each has a server of
// its own, and mostly waits. -parallel says otherwise.
func sideBySide() {
	for _, arg := range os.Args[1:] {
		if strings.HasPrefix(arg, "-test.parallel") {
			return
		}
	}
	_ = flag.Set("test.parallel", "6")
}
