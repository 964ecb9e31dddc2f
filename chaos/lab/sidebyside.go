package lab

import (
	"flag"
	"os"
	"strconv"
	"strings"
)

// SideBySide lets n tests of a package run at one time instead of one a core, for tests that have a server each
// and mostly wait. TestMain calls it behind Main; -parallel on the command line overrules it. Outside of a test it
// does nothing.
func SideBySide(n int) {
	given := func(arg string) bool { return strings.HasPrefix(strings.TrimLeft(arg, "-"), "test.parallel") }
	for _, arg := range os.Args[1:] {
		if given(arg) {
			return
		}
	}
	if flag.Lookup("test.parallel") != nil {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // a number is taken
	}
}
