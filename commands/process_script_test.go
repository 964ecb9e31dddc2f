package commands_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// kill9 SUBJECT LAST EVERY COMMAND ARGS...: runs the command again and again, kills
// it each time it has written EVERY lines more, and expects that its lines are the
// payloads SUBJECT-1 to SUBJECT-LAST: in order, none left out, repeated only where
// it was started again. A pipe holds what is written behind the kill: LAST-EVERY
// lines must be several times what fits into one.
func killInTheMiddle(ts *testscript.TestScript, _ bool, args []string) {
	last, err := strconv.Atoi(args[1])
	ts.Check(err)
	every, err := strconv.Atoi(args[2])
	ts.Check(err)
	highest, kills := 0, 0
	for highest < last {
		before := highest
		cmd, lines := startLines(ts, args[3], args[4:]...)
		for n, killed := 0, false; ; n++ {
			if !killed && (n == every || highest == last) {
				ts.Check(cmd.Process.Kill()) // what is in the pipe by now was written and counts
				killed = true
				kills++
			}
			text, err := lines.ReadString('\n')
			if err != nil {
				break // the rest of a line that the kill has cut does not count
			}
			word, _, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
			got, err := strconv.Atoi(strings.TrimPrefix(word, args[0]+"-"))
			ts.Check(err)
			if goesOn := got == highest+1; !goesOn && (n > 0 || got > before) {
				ts.Fatalf("after %d comes %d", highest, got)
			}
			highest = got
		}
		_ = cmd.Wait() // killed: the error is known
		if kills > last {
			ts.Fatalf("no progress: %d of %d after %d kills", highest, last, kills)
		}
	}
	if kills < 3 {
		ts.Fatalf("read to the end with only %d kills", kills)
	}
}

// interrupt TEXT FILE COMMAND ARGS...: interrupts the command when it has written a
// line with TEXT, writes all its lines to FILE, and expects exit code 130.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	cmd, lines := startLines(ts, args[2], args[3:]...)
	var all bytes.Buffer
	for {
		text, err := lines.ReadString('\n')
		all.WriteString(text)
		if err != nil {
			break
		}
		if strings.Contains(text, args[0]) {
			ts.Check(cmd.Process.Signal(os.Interrupt))
		}
	}
	err := cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), all.Bytes(), 0o600))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		ts.Fatalf("ended with %v, want exit code 130:\n%s", err, all.String())
	}
}

// startLines starts a command and gives its stdout, line by line. A command that
// hangs ends with the test's time.
func startLines(ts *testscript.TestScript, name string, args ...string) (*exec.Cmd, *bufio.Reader) {
	path, err := lookPath(ts, name)
	ts.Check(err)
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = os.Environ()
	for _, key := range []string{"NATS_URL", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	return cmd, bufio.NewReader(out)
}

// lookPath finds a program where testscript put it.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return exec.LookPath(name)
}
