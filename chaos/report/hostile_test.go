package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// hostile are names that mean something to a terminal, HTML, Markdown, XML or a shell.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</pre></title></style><svg onload=alert(1)>`, `]]><x/>`,
	"\x1b[31mred\x1b[0m\x1b]0;title\a", "a\r\nb\nc", "\u202egnp.exe", "\xff\xfe\x00", `| a | b |`, "`code`", "![x](http://evil.example/x.png)",
	"[click](javascript:alert(1))", "@everyone", "## heading", "'; rm -rf / #", "$(reboot)", "{{.}}", "<!-- ", strings.Repeat("W", 100_000),
}

func hostileRun(text string) result.Run {
	r := everything()
	r.Name, r.Title, r.Why, r.Plan, r.Target, r.Error = text, text, text, text, text, text
	r.Server.Version, r.Server.Storage = text, text
	r.Faults[0].Text, r.Faults[0].Target, r.Faults[0].Error = text, text, text
	r.Sessions = []oracle.Session{{Number: 1, Consumer: text, From: at(0), To: at(s), Cause: text}}
	r.Deaf = []oracle.Span{{From: at(0), To: at(s), Cause: text}}
	r.Notes = []result.Note{{Time: at(0), Text: text}}
	r.Phases = []result.Phase{{Name: text, From: at(0), To: at(s), Text: text}}
	r.APIRequests = map[string]uint64{text: 1}
	r.Verdict.Doubts = []string{text}
	r.Verdict.Violations = []oracle.Violation{{Kind: oracle.KindUnexpected, Count: 1, Text: text, Samples: []oracle.Sample{{ID: text, Text: text}}}}
	r.Verdict.Blind = false
	return r
}

func TestHostileNames(t *testing.T) {
	for _, text := range hostile {
		run := hostileRun(text)
		for _, f := range []Format{Text, Markdown, HTML, JUnit} {
			got := render(t, f, run, run)
			if len(got) > 1<<20 {
				t.Errorf("%.20q as %s: %d bytes", text, f, len(got))
			}
			for _, no := range []string{"\x1b", "\a", "\r", "\u202e", "\x00", "\xff"} {
				if strings.Contains(got, no) {
					t.Errorf("%.20q as %s: %q goes through", text, f, no)
				}
			}
			switch f {
			case HTML:
				wellFormed(t, got)
				for _, no := range []string{"<script", "<img", "onerror=alert(1)>", "<x/>"} {
					if strings.Contains(got, no) {
						t.Errorf("%.20q: the page has %s", text, no)
					}
				}
			case JUnit:
				wellFormed(t, got)
				var back junit.Testsuites
				if err := xml.Unmarshal([]byte(got), &back); err != nil || len(back.Suites) != 1 || len(back.Suites[0].Testcases) != 2 {
					t.Errorf("%.20q: %v", text, err)
				}
			case Markdown:
				markdownIsTame(t, text, got)
			}
		}
	}
}

// markdownIsTame finds markup of the run outside of code.
func markdownIsTame(t *testing.T, text, got string) {
	t.Helper()
	fenced := ""
	for line := range strings.Lines(got) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") && (fenced == "" || trimmed == fenced) {
			if fenced == "" {
				fenced = strings.TrimSuffix(trimmed, "yaml")
			} else {
				fenced = ""
			}
			continue
		}
		if fenced != "" || strings.HasPrefix(line, "Again: ") {
			continue
		}
		line = strings.ReplaceAll(line, `\]`, "") // it is a bracket, and ends no link
		for _, no := range []string{"<script", "<img", "<svg", "](", "@everyone", "<!--"} {
			if strings.Contains(line, no) {
				t.Errorf("%.20q: %q in %.200s", text, no, line)
			}
		}
	}
	if fenced != "" {
		t.Errorf("%.20q: the plan does not end", text)
	}
}

func TestCleanShowsWhatItTakesOut(t *testing.T) {
	for text, want := range map[string]string{
		"plain":       "plain",
		"é 消息 ✔":      "é 消息 ✔",
		"\x1b[0m":     `\x1b[0m`,
		"a\nb\t":      `a\nb\t`,
		"\xff":        `\xff`,
		"\u202e":      `\u202e`,
		"\ufffd kept": "\ufffd kept",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if n := len(Clean(strings.Repeat("x", 1e6))); n > longestCell+10 {
		t.Errorf("%d bytes", n)
	}
}
