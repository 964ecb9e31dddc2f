package reader_test

import (
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
	lab.SideBySide(8)
	goleak.VerifyTestMain(m)
}
