package commands

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader/doctor"
	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestEveryWordIsExplained(t *testing.T) {
	want := map[topic][]string{
		topicFault:  chaos.FaultNames(),
		topicStatus: {"100", "400", "404", "408", "409", "412", "423", "503"},
		topicCode: {
			"10003", "10008", "10010", "10012", "10014", "10023", "10025", "10026", "10027", "10039", "10056", "10059", "10084",
			"10094", "10101", "10131", "10148", "10149", "10204",
			"10002", "10004", "10005", "10007", "10009", "10013", "10028", "10035", "10036", "10047", "10049", "10050", "10052", "10054",
			"10065", "10074", "10077", "10093", "10098", "10099", "10100", "10102", "10103", "10104", "10105", "10109", "10110", "10118",
			"10119", "10120", "10121", "10125", "10126", "10127", "10128", "10132", "10134", "10135", "10136", "10137", "10138", "10139",
			"10153", "10157", "10159", "10160", "10167", "10181", "10185", "10194", "10195", "10202",
		},
	}
	for _, k := range session.Kinds() {
		want[topicEvent] = append(want[topicEvent], string(k))
	}
	for _, c := range session.Causes() {
		want[topicCause] = append(want[topicCause], string(c))
	}
	want[topicState] = statesOfReader(t)
	for _, c := range doctor.Checks() {
		want[topicCheck] = append(want[topicCheck], c.ID)
	}
	for _, code := range []int{exitGood, exitWarning, exitCritical, exitCannotJudge, exitInterrupted} {
		want[topicExit] = append(want[topicExit], strconv.Itoa(code))
	}
	for _, topic := range topics {
		if len(want[topic]) == 0 {
			t.Errorf("nothing is wanted of %s", topic)
		}
	}
	for topic, words := range want {
		for _, w := range words {
			found := false
			for _, e := range lookUp(entries(), w) {
				found = found || e.Topic == topic && e.Word == w
			}
			if !found {
				t.Errorf("no entry for the %s %s", topic, w)
			}
		}
	}
}

// statesOfReader are the states that the reader's source has.
func statesOfReader(t *testing.T) (states []string) {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../reader/status.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, is := n.(*ast.ValueSpec)
		if !is || len(v.Values) != 1 {
			return true
		}
		of, named := v.Type.(*ast.Ident)
		text, literal := v.Values[0].(*ast.BasicLit)
		if named && literal && of.Name == "State" {
			state, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, state)
		}
		return true
	})
	if len(states) < 9 {
		t.Fatalf("states %q", states)
	}
	return states
}

func TestEntriesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries() {
		if e.Means == "" || e.Reader == "" || e.Do == "" {
			t.Errorf("%s %s %q lacks a part: %+v", e.Topic, e.Word, e.Text, e)
		}
		key := string(e.Topic) + e.Word + e.Text
		if seen[key] {
			t.Errorf("%s %s %q is there twice", e.Topic, e.Word, e.Text)
		}
		seen[key] = true
	}
}

func TestLookUp(t *testing.T) {
	for word, want := range map[string]string{
		"409 consumer deleted":                    "Consumer Deleted",
		"Consumer Deleted":                        "Consumer Deleted",
		"no messages":                             "No Messages",
		"Exceeded MaxRequestBatch of 10":          "Exceeded MaxRequestBatch",
		"Bad Request - heartbeat value too large": "Bad Request",
		"stream not found":                        "stream not found",
	} {
		found := lookUp(entries(), word)
		if len(found) == 0 || found[0].Text != want {
			t.Errorf("%q found %+v, want %q", word, found, want)
		}
	}
	for word, want := range map[string]int{"exit 2": 1, "exit code 2": 1, "check READER_003": 1, "state idle": 1, "fault cut": 1, "2": 1} {
		if found := lookUp(entries(), word); len(found) != want {
			t.Errorf("%q found %+v, want %d", word, found, want)
		}
	}
	if found := lookUp(entries(), "409"); len(found) < 8 {
		t.Errorf("409 found %d entries, want all its texts", len(found))
	}
	if found := lookUp(entries(), "session-replaced"); len(found) != 1 {
		t.Errorf("a dash must do for an underscore, found %+v", found)
	}
}

func TestExplainCommand(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := Main(t.Context(), []string{"explain", "kill-servr"}, nil, &stdout, &stderr, ""); code != exitCannotJudge {
		t.Errorf("an unknown word ends with %d", code)
	}
	if !strings.Contains(stderr.String(), "did you mean kill-server?") {
		t.Errorf("no suggestion: %s", stderr.String())
	}
	if code := Main(t.Context(), []string{"explain", "--json"}, nil, &stdout, &stderr, ""); code != exitGood {
		t.Errorf("explain --json ends with %d: %s", code, stderr.String())
	}
	if text := printed(t, "explain", "2"); !strings.Contains(text, "2 \"critical\" (exit_code)") || !strings.Contains(text, "READER_002 ") {
		t.Errorf("a number that is an exit code and a check is explained as\n%s", text)
	}
	if printed(t, "explain", "--list") != printed(t, "explain") {
		t.Error("explain --list is not what explain prints without a word")
	}
	var doc struct {
		Schema  string
		Entries []entry
	}
	if err := json.Unmarshal([]byte(stdout.String()), &doc); err != nil || doc.Schema != explainSchema || len(doc.Entries) != len(entries()) {
		t.Errorf("schema %q, %d entries, %v", doc.Schema, len(doc.Entries), err)
	}
}

// An err_code that a server answers is explained in the words of that server.
func TestCodesAreTheServers(t *testing.T) {
	for _, e := range codeEntries() {
		n, err := strconv.Atoi(e.Word)
		if err != nil {
			t.Fatal(err)
		}
		known, there := server.ApiErrors[server.ErrorIdentifier(n)]
		if !there {
			t.Errorf("%s is no err_code of the server", e.Word)
			continue
		}
		// Where the server's own text is nothing but a reason, ours says what failed.
		text, _, _ := strings.Cut(known.Description, "{")
		text = strings.TrimRight(text, " :,")
		if text != "" && !strings.HasPrefix(strings.ToLower(text), strings.ToLower(e.Text)) {
			t.Errorf("%s is %q, the server says %q", e.Word, e.Text, known.Description)
		}
	}
}

// The table of faults in the README is complete.
func TestReadmeNamesEveryFault(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range chaos.FaultNames() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the README does not name %s", name)
		}
	}
}
