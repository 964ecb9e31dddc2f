package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

var update = flag.Bool("update", false, "write the golden files")

func render(t *testing.T, f Format, runs ...result.Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, f, runs...); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGoldens(t *testing.T) {
	sets := map[string][]result.Run{"held": {held()}, "deaf": {deaf()}, "everything": {everything()}, "set": {held(), deaf(), everything(), unjudged()}}
	for name, runs := range sets {
		for _, f := range Formats() {
			t.Run(name+" "+string(f), func(t *testing.T) {
				got := render(t, f, runs...)
				if again := render(t, f, runs...); again != got {
					t.Error("the same run gives other bytes")
				}
				path := filepath.Join("testdata", name+f.Extension())
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s is another: look at it, and run with -update", path)
				}
			})
		}
	}
}

// What each format must say, whatever its form.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		name  string
		run   result.Run
		words []string
	}{
		{"held", held(), []string{"contract held", "as expected", "4711", "deaf-after-power-outage", "drop-subscription", "kill-server", "2.15.3", "after 4.01s", "longest silence", "4.01s"}},
		{"deaf", deaf(), []string{"contract broken", "as expected", "postfix", "w-600", "never", "stored messages waited", "not told", "not counted", "3 nodes, R3"}},
		{"everything", everything(), []string{
			"contract broken", "expected held", "3 messages delivered twice", "1 message out of order", "1 message read but never published", "1 consumer of its own left",
			"fault pause-consumer: no such consumer", "nobody-1", "read behind x-2",
		}},
		{"unjudged", unjudged(), []string{"contract unknown", "expected held", "no message was published"}},
	} {
		for _, f := range []Format{Text, Markdown, HTML, JUnit} {
			got := strings.NewReplacer(`\-`, "-", `\_`, "_", "&#39;", "'", "\n", " ").Replace(render(t, f, test.run))
			for strings.Contains(got, "  ") {
				got = strings.ReplaceAll(got, "  ", " ")
			}
			for _, word := range test.words {
				if !strings.Contains(got, word) {
					t.Errorf("%s as %s does not say %q", test.name, f, word)
				}
			}
		}
	}
	text := strings.TrimSpace(render(t, Text, deaf()))
	if last := text[strings.LastIndexByte(text, '\n')+1:]; last != "contract broken  delivered=600 lost=2395 duplicated=0 out_of_order=0 sessions=unknown longest_deaf=unknown api_requests=0 orphans=unknown" {
		t.Errorf("the last line is %q", last)
	}
	text = strings.TrimSpace(render(t, Text, held(), everything()))
	if last := text[strings.LastIndexByte(text, '\n')+1:]; last != "1 of 2 runs as expected  held=1 broken=1 unknown=0" {
		t.Errorf("the last line is %q", last)
	}
}

// wellFormed reads all of a document as XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v at %d", err, d.InputOffset())
		}
	}
}

func TestPageStandsAlone(t *testing.T) {
	for name, runs := range map[string][]result.Run{"one": {held()}, "blind": {deaf()}, "set": {held(), everything(), unjudged()}, "none": {}, "empty": {{}}} {
		got := render(t, HTML, runs...)
		wellFormed(t, got)
		for _, no := range []string{"<script", "http://", "https://", "<link", "<img", "@import", "url(", " on", "javascript:", "ZgotmplZ"} {
			if i := strings.Index(strings.ToLower(got), no); i >= 0 && no != " on" {
				t.Errorf("%s: the page has %q: %s", name, no, got[max(0, i-40):min(len(got), i+40)])
			}
		}
		if strings.Count(got, "<svg") > 0 && strings.Count(got, "role=\"img\"") > strings.Count(got, "<desc") {
			t.Errorf("%s: a drawing without a description", name)
		}
	}
}

// The timeline has each of its lanes, and draws each time where it was.
func TestTimeline(t *testing.T) {
	l := timelineOf(held())
	if len(l.Phases) != 6 || len(l.Faults) != 3 || len(l.Sessions) != 3 || len(l.Deaf) != 2 || len(l.Silences) != 2 || l.Read == "" || l.Lag == "" {
		t.Errorf("%d phases, %d rows of faults, %d sessions, %d deaf, %d silences", len(l.Phases), len(l.Faults), len(l.Sessions), len(l.Deaf), len(l.Silences))
	}
	if b := l.Deaf[0]; b.X != "200" || b.W != "66.8" || !strings.Contains(b.Title, "deaf for 4.01s from 12.000s after answers_lost") {
		t.Errorf("deaf at %s for %s: %q", b.X, b.W, b.Title)
	}
	if n := len(l.Ticks); n < 4 || n > 8 || l.Ticks[1].Text != "10s" {
		t.Errorf("ticks %v", l.Ticks)
	}
	blind := render(t, HTML, deaf())
	if strings.Contains(blind, "Times in which the reader was deaf") || !strings.Contains(blind, "to the end") {
		t.Error("a target that tells no events has no lane of deaf times, and its last silence is open")
	}
}

func TestLongRunIsBounded(t *testing.T) {
	run := long()
	for f, most := range map[Format]int{HTML: 1 << 20, Markdown: 1 << 20, JUnit: 1 << 20, Text: 1 << 20} {
		got := render(t, f, run)
		t.Logf("%s: %d KB", f, len(got)>>10)
		if len(got) >= most {
			t.Errorf("%s has %d bytes", f, len(got))
		}
	}
	got := render(t, HTML, run)
	for _, want := range []string{"events left out in the middle", "17 beyond the first 10000"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	wellFormed(t, got)
	back, err := result.Decode(strings.NewReader(render(t, JSON, run)))
	if err != nil || len(back.Events) != result.MaxEvents {
		t.Errorf("%v: %d events", err, len(back.Events))
	}
}

func TestFormats(t *testing.T) {
	all, err := Parse("text, html,text")
	if err != nil || len(all) != 2 || all[1] != HTML {
		t.Errorf("%v %v", all, err)
	}
	for _, bad := range []string{"", "pdf", "text,", "Text"} {
		if _, err := Parse(bad); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "want some of text json junit markdown html") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	seen := map[string]bool{}
	for _, f := range Formats() {
		if seen[f.Extension()] {
			t.Errorf("%s twice", f.Extension())
		}
		seen[f.Extension()] = true
		if err := Write(failing{}, f, held()); err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s on a full disk: %v", f, err)
		}
	}
	if err := Write(io.Discard, "pdf"); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestSummary(t *testing.T) {
	v := oracle.Verdict{Finding: oracle.Held, Delivered: 7, Sessions: 1, Orphans: oracle.NotCounted}
	if got := Summary(v); got != "contract held  delivered=7 lost=0 duplicated=0 out_of_order=0 sessions=1 longest_deaf=0s api_requests=0 orphans=unknown" {
		t.Error(got)
	}
}
