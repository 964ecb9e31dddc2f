package target

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

// patience bounds every wait for an event; only a broken target needs it.
const patience = 90 * time.Second

// tests runs the tests, and then waits for what nats.go still holds.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := Settle(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "nats.go has not let go:", err)
		return max(code, 1)
	}
	return code
}

func TestMain(m *testing.M) {
	lab.Main()
	bad.Main()
	actParent()
	goleak.VerifyTestMain(tests{m})
}
