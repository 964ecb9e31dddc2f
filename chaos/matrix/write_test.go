package matrix

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
)

// sample is a result with a square of every kind.
func sample() Result {
	r := Result{
		Schema: ResultSchema, Made: Made{Program: "1.2.3", System: "linux/amd64", Go: "go1.26.8", Cores: 2, Began: at(0), Ended: at(time.Hour)},
		Targets: []string{"reader", "consume", "exec:node my-reader.mjs --all 'of it'"},
		Faults:  []Fault{{"thirteen-a-consumer-deleted", "a", "The consumer is deleted"}, {"thirteen-cut", "cut", "The connection is cut"}, {"thirteen-perm", "perm", "Pulls are not permitted"}},
		Servers: []string{Embedded}, Rounds: 1, Seed: 1, Settle: "35s",
	}
	cell := func(target, fault int) Outcome {
		return Outcome{
			Schema: OutcomeSchema, Cell: Cell{r.Targets[target], r.Faults[fault].Name, Embedded, 1}, Version: "2.15.3", Seed: 1, Began: at(0),
			Finding: oracle.Held, End: Reads, Took: 40 * time.Second, Acknowledged: 4000, Delivered: 4000,
		}
	}
	held, slow, gone, deaf, lost, unknown := cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1), cell(1, 2), cell(2, 0)
	slow.Silence, slow.After = 4040*time.Millisecond, 40*time.Millisecond
	gone.Finding, gone.End, gone.Reasons = oracle.Broken, GaveUp, []string{"the target ended by itself: consumer deleted", "3 messages lost"}
	deaf.Finding, deaf.End, deaf.Unread, deaf.Silence, deaf.After = oracle.Broken, Deaf, 7014, 80*time.Second, 80*time.Second
	deaf.Reasons = []string{"7014 messages lost"}
	lost.Finding, lost.Lost, lost.Duplicated, lost.OutOfOrder, lost.Silence, lost.After = oracle.Broken, 999, 1, 2, 6*time.Second, 6*time.Second
	unknown.Finding, unknown.End, unknown.Error = oracle.Unknown, None, "not prepared: the server: no space"
	r.Cells = []Outcome{held, slow, gone, deaf, lost, unknown}
	return r
}

// versions is a result of one target on several servers.
func versions() Result {
	r := sample()
	r.Targets, r.Servers, r.Rounds = r.Targets[:1], []string{"2.10.7", Embedded}, 2
	cells := r.Cells[:2]
	r.Cells = nil
	for _, round := range []int{1, 2} {
		for _, c := range cells {
			c.Round = round
			r.Cells = append(r.Cells, c)
		}
	}
	r.Cells[3].Silence = 5 * time.Second
	return r
}

func written(t *testing.T, f report.Format, r Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, f, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGoldens(t *testing.T) {
	for name, r := range map[string]Result{"targets": sample(), "versions": versions()} {
		for _, f := range Formats() {
			got := written(t, f, r)
			if again := written(t, f, r); again != got {
				t.Errorf("%s as %s: the same result gives other bytes", name, f)
			}
			golden(t, name+f.Extension(), got)
		}
	}
}

func TestFormats(t *testing.T) {
	if got, err := ParseFormats("text, html,text"); err != nil || len(got) != 2 || got[1] != report.HTML {
		t.Errorf("%v, %v", got, err)
	}
	for _, list := range []string{"", "junit", "text,pdf"} {
		if _, err := ParseFormats(list); !errors.Is(err, report.ErrFormat) {
			t.Errorf("%q: %v", list, err)
		}
	}
	for _, f := range []report.Format{report.JUnit, "pdf"} {
		if err := Write(io.Discard, f, sample()); !errors.Is(err, report.ErrFormat) {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, f := range Formats() {
		if err := Write(full{}, f, sample()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A table of the text is as wide as a terminal, however many columns there are.
func TestTextIsNarrow(t *testing.T) {
	r := sample()
	for _, f := range r.Faults {
		f.Name += "-again"
		f.Short += "2"
		r.Faults = append(r.Faults, f)
	}
	tables := 0
	for line := range strings.SplitSeq(written(t, report.Text, r), "\n") {
		if strings.Contains(line, " | ") && len([]rune(line)) > textWidth {
			t.Errorf("%d wide: %s", len([]rune(line)), line)
		}
		if strings.HasPrefix(line, "nats-server ") {
			tables++
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
	if tables < 2 {
		t.Errorf("%d tables", tables)
	}
}

// What a target is called has no effect on a terminal, on Markdown or on a page.
func TestHostileNames(t *testing.T) {
	for _, text := range []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "\x1b[31mred\a", "a\r\nb", "\u202egnp.exe", "\xff\x00", "| a | b |", "`code`",
		"[click](javascript:alert(1))", "## heading", "'; rm -rf / #", "{{.}}", strings.Repeat("W", 100_000),
	} {
		r := sample()
		old := r.Targets[2]
		r.Targets[2] = "exec:" + text
		for i := range r.Cells {
			if r.Cells[i].Target == old {
				r.Cells[i].Target = r.Targets[2]
			}
			r.Cells[i].Reasons, r.Cells[i].Version = []string{text}, text
		}
		r.Faults[0].Title, r.Faults[0].Short, r.Made.Program = text, text, text
		for _, f := range []report.Format{report.Text, report.Markdown, report.HTML} {
			got := written(t, f, r)
			if len(got) > 1<<20 {
				t.Errorf("%.20q as %s: %d bytes", text, f, len(got))
			}
			for _, no := range []string{"\x1b", "\a", "\r", "\u202e", "\x00", "\xff"} {
				if strings.Contains(got, no) {
					t.Errorf("%.20q as %s: %q goes through", text, f, no)
				}
			}
			if f == report.HTML {
				wellFormed(t, got)
				if strings.Contains(got, "<script") || strings.Contains(got, "<img") {
					t.Errorf("%.20q: markup in the page", text)
				}
			}
			if f == report.Markdown && (strings.Contains(got, "[click](") || strings.Contains(got, "<script") || strings.Contains(got, "\n## heading")) {
				t.Errorf("%.20q: markup in Markdown", text)
			}
		}
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not well formed: %v", err)
		}
	}
}

// The page needs nothing but itself.
func TestPageIsAlone(t *testing.T) {
	page := written(t, report.HTML, sample())
	for _, no := range []string{"<script", "http://", "https://", "url(", "@import", "src="} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %s", no)
		}
	}
	for _, want := range []string{"prefers-color-scheme: dark", "@media print", `<html lang="en">`, "viewport"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	first := written(t, report.JSON, sample())
	back, err := Decode(strings.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if again := written(t, report.JSON, back); again != first {
		t.Errorf("written again it is another:\n%s", again)
	}
	if !reflect.DeepEqual(back, sample()) {
		t.Errorf("got %+v", back)
	}
	empty := sample()
	empty.Cells = nil
	if back, err = Decode(strings.NewReader(written(t, report.JSON, empty))); err != nil || len(back.Cells) != 0 {
		t.Errorf("%v: %+v", err, back.Cells)
	}
}

func TestBadDocuments(t *testing.T) {
	good := written(t, report.JSON, sample())
	for name, c := range map[string]struct {
		text, want string
		schema     bool
	}{
		"nothing":          {"", "unexpected end of JSON", false},
		"no JSON":          {"hello", "invalid character", false},
		"a list":           {"[]", "unknown schema", true},
		"another version":  {strings.Replace(good, "matrix/v1", "matrix/v2", 1), "unknown schema", true},
		"an unknown field": {strings.Replace(good, `"rounds"`, `"runds"`, 1), "runds", false},
		"one in a cell":    {strings.Replace(good, `"unread"`, `"unred"`, 1), "unred", false},
		"two documents":    {good + good, "after top-level value", false},
		"a foreign cell":   {strings.Replace(good, `"fault":"thirteen-cut"`, `"fault":"thirteen-x"`, 1), "not one of this matrix", false},
		"no finding":       {strings.Replace(good, `"finding":"held"`, `"finding":"great"`, 1), "no finding", false},
		"no duration":      {strings.Replace(good, `"took_ns":40000000000`, `"took_ns":-4`, 1), "cannot be", false},
	} {
		_, err := Decode(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrSchema) != c.schema || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestCounts(t *testing.T) {
	r := sample()
	if n := r.Of("reader"); n.Held != 2 || n.Missing != 1 || n.Finding() != oracle.Unknown || n.Silence != 4040*time.Millisecond {
		t.Errorf("%+v", n)
	}
	if n := r.Of("consume"); n.Broken != 3 || n.Missing != 0 || n.Finding() != oracle.Broken || n.Silence != 6*time.Second {
		t.Errorf("%+v", n)
	}
	if n := r.Of(r.Targets...); n.All() != 9 || n.Unknown != 1 || r.Whole() {
		t.Errorf("%+v", n)
	}
	if n := versions().Of("reader"); n.All() != 12 || n.Missing != 8 {
		t.Errorf("%+v", n)
	}
	if (Count{Held: 3}).Finding() != oracle.Held {
		t.Error("three held cells do not hold")
	}
}
