package reader_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func TestMain(m *testing.M) {
	lab.Main()
	readAsChild()
	if url := os.Getenv(holdVariable); url != "" {
		if err := holdName(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	sideBySide()
	goleak.VerifyTestMain(m)
}

// sideBySide lets more tests run at one time than there are cores: each has a server
// and a connection of its own, and mostly waits. -parallel says otherwise.
func sideBySide() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", "8")
	}
}
