package model_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A script, such as testdata/answers.txt: cases, each a list of requests. A case runs on
// the model and on a real server, on a stream of its own; the answers must be equal.

// order is one line of a case: a verb, words, and key=value.
type order struct {
	line    string
	verb    string
	words   []string
	options map[string]string
}

// scene is one case of the script.
type scene struct {
	title  string
	stream string
	orders []order
}

// readScript reads the cases of a script.
func readScript(t *testing.T, file string) (scenes []*scene) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "# "):
			scenes = append(scenes, &scene{title: line[2:], stream: fmt.Sprintf("S%02d", len(scenes)+1)})
		default:
			s := scenes[len(scenes)-1]
			s.orders = append(s.orders, parseOrder(line))
		}
	}
	return scenes
}

func parseOrder(line string) order {
	o := order{line: line, options: map[string]string{}}
	if rest, ok := strings.CutPrefix(line, "pullraw "); ok {
		// What follows the inbox is the body as it is.
		o.verb, o.words = "pullraw", strings.SplitN(rest+" ", " ", 3)
		o.words[2] = strings.TrimSuffix(o.words[2], " ")
		return o
	}
	fields := strings.Fields(line)
	o.verb = fields[0]
	for _, f := range fields[1:] {
		if k, v, ok := strings.Cut(f, "="); ok {
			o.options[k] = v
			continue
		}
		o.words = append(o.words, f)
	}
	return o
}

func (o *order) has(word string) bool {
	for _, w := range o.words {
		if w == word {
			return true
		}
	}
	return false
}

func (o *order) word(i int) string {
	if i >= len(o.words) {
		panic("a word is missing: " + o.line)
	}
	return o.words[i]
}

func (o *order) number(key string, otherwise int) int {
	v, ok := o.options[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(o.line + ": " + err.Error())
	}
	return n
}

func (o *order) duration(key string) time.Duration {
	v, ok := o.options[key]
	if !ok {
		return 0
	}
	return lasting(v)
}

func lasting(v string) time.Duration {
	d, err := time.ParseDuration(v)
	if err != nil {
		panic(err)
	}
	return d
}

func whole(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(err)
	}
	return n
}

// subjects gives filter=a,b as letters.
func (o *order) subjects() []string {
	if f := o.options["filter"]; f != "" {
		return strings.Split(f, ",")
	}
	return nil
}

// inboxes is what arrived, by inbox, as lines.
type inboxes struct {
	lines []string
	last  map[string]string // of an inbox: the heartbeat that repeats is told once
}

// heard notes a line of an inbox and says whether it is news.
func (in *inboxes) heard(inbox int, line string) bool {
	if in.last == nil {
		in.last = map[string]string{}
	}
	key := strconv.Itoa(inbox)
	if in.last[key] == line && strings.HasPrefix(line, "100 ") {
		return false
	}
	in.last[key] = line
	in.lines = append(in.lines, fmt.Sprintf("inbox %d: %s", inbox, line))
	return true
}

// take gives the first n lines, all for 0, inbox after inbox.
func (in *inboxes) take(n int) (out []string) {
	if n == 0 || n > len(in.lines) {
		n = len(in.lines)
	}
	got := in.lines[:n]
	in.lines = append([]string(nil), in.lines[n:]...)
	for inbox := range 10 {
		for _, line := range got {
			if strings.HasPrefix(line, fmt.Sprintf("inbox %d: ", inbox)) {
				out = append(out, line)
			}
		}
	}
	return out
}

// consumerWords is what a consumer's facts look like; more are told where asked for.
type consumerWords struct {
	cseq, sseq, pending, floor    uint64
	waiting, ackPending, repeated int
	paused                        bool
	config                        string
}

func (f consumerWords) String(o *order) string {
	s := fmt.Sprintf("del=c%d/s%d pending=%d", f.cseq, f.sseq, f.pending)
	if o.verb == "info" {
		s += fmt.Sprintf(" waiting=%d", f.waiting)
	}
	if f.paused {
		s += " paused"
	}
	if o.has("acks") {
		s += fmt.Sprintf(" ackpending=%d redelivered=%d", f.ackPending, f.repeated)
	}
	if o.has("floor") {
		s += fmt.Sprintf(" floor=%d", f.floor)
	}
	if o.has("config") {
		s += " " + f.config
	}
	return s
}

func errorWords(code, errCode int, text string) string {
	return fmt.Sprintf("%d/%d %s", code, errCode, text)
}
