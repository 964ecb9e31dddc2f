package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// around is what a newcomer has around the Go of the README: statements are the inside of a function, and what begins
// with func is a file of tests. MIGRATING.md is run by the tests of package reader.
const around = `package newcomer

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)
`

// Every block of Go in the README is built.
func TestReadmeGo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```go\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	source := around + `
func readAll(*nats.Conn) []string { return nil } // code of the newcomer's own
`
	for i, b := range blocks {
		code := b[1]
		if !strings.HasPrefix(code, "func ") {
			given := "js jetstream.JetStream"
			if strings.Contains(code, "js, err := ") {
				given = "nc *nats.Conn"
			}
			code = fmt.Sprintf("func inside%d(ctx context.Context, %s) error {\n%s\n_, _ = r, err\nreturn nil\n}\n", i, given, code)
		}
		source += code
	}
	file := filepath.Join(t.TempDir(), "newcomer_test.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "vet", file)
	build.Dir = ".." // where go.mod is
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nof\n%s", err, out, source)
	}
}
