package commands

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// writeNagios is one line, as plugins of Nagios write it: the verdict, the worst
// findings, then figures.
func writeNagios(to io.Writer, r doctor.Report) error {
	word := map[doctor.Verdict]string{
		doctor.VerdictHealthy: "OK", doctor.VerdictWarning: "WARNING", doctor.VerdictCritical: "CRITICAL", doctor.VerdictUnknown: "UNKNOWN",
	}[r.Verdict]
	counts := countFindings(r)
	var worst []string
	for _, f := range r.Findings {
		if f.Severity != doctor.Info && len(worst) < 5 {
			worst = append(worst, strings.TrimSpace(f.Check+" "+findingWhere(f))+": "+f.Text)
		}
	}
	_, text, _ := strings.Cut(r.Text, ": ") // the verdict stands before it
	line := word + " " + text
	if len(worst) > 0 {
		line += "; " + strings.Join(worst, "; ")
	}
	line = strings.ReplaceAll(printable(line), "|", "/")
	_, err := fmt.Fprintf(to, "%s | critical=%d warning=%d info=%d consumers=%d streams=%d\n", line,
		counts[doctor.Critical], counts[doctor.Warning], counts[doctor.Info], r.Consumers, r.Streams)
	return err
}

func countFindings(r doctor.Report) map[doctor.Severity]int {
	counts := map[doctor.Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	return counts
}

// writePrometheus is the text format of a scrape, for a node exporter's textfile
// collector.
func writePrometheus(to io.Writer, r doctor.Report) error {
	var out strings.Builder
	metric := func(name, help string) {
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
	}
	value := func(name string, v float64, labels ...string) {
		out.WriteString(name)
		for i := 0; i+1 < len(labels); i += 2 {
			fmt.Fprintf(&out, "%s%s=\"%s\"", map[bool]string{true: "{", false: ","}[i == 0], labels[i], label(labels[i+1]))
		}
		if len(labels) > 0 {
			out.WriteByte('}')
		}
		out.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
	}
	metric("nats_reader_doctor_verdict", "0 healthy, 1 warning, 2 critical, 3 unknown")
	value("nats_reader_doctor_verdict", map[doctor.Verdict]float64{doctor.VerdictWarning: 1, doctor.VerdictCritical: 2, doctor.VerdictUnknown: 3}[r.Verdict])
	metric("nats_reader_doctor_consumers", "Consumers that were looked at")
	value("nats_reader_doctor_consumers", float64(r.Consumers))
	counts := countFindings(r)
	metric("nats_reader_doctor_findings", "Findings by severity")
	for _, s := range []doctor.Severity{doctor.Critical, doctor.Warning, doctor.Info} {
		value("nats_reader_doctor_findings", float64(counts[s]), "severity", string(s))
	}
	metric("nats_reader_doctor_finding", "1 for each finding")
	seen := map[string]bool{}
	for _, f := range r.Findings {
		labels := []string{"check", f.Check, "severity", string(f.Severity), "stream", f.Stream, "consumer", f.Consumer, "cause", f.Cause}
		if key := strings.Join(labels, "\x00"); !seen[key] { // a series stands once
			seen[key] = true
			value("nats_reader_doctor_finding", 1, labels...)
		}
	}
	for _, g := range []struct {
		name, help string
		of         func(doctor.Member) float64
	}{
		{"nats_reader_doctor_pending", "Messages that wait", func(m doctor.Member) float64 { return float64(m.Pending) }},
		{"nats_reader_doctor_ack_pending", "Messages that are out unacknowledged", func(m doctor.Member) float64 { return float64(m.Out) }},
		{"nats_reader_doctor_waiting_pulls", "Pulls that wait", func(m doctor.Member) float64 { return float64(m.Waiting) }},
		{"nats_reader_doctor_idle_seconds", "Since the consumer was made, delivered or was acknowledged", func(m doctor.Member) float64 { return m.Idle.Seconds() }},
	} {
		metric(g.name, g.help)
		for _, m := range r.Fleet {
			value(g.name, g.of(m), "stream", m.Stream, "consumer", m.Consumer, "reason", m.Reason)
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// label escapes a label's value as the text format wants it.
func label(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v)
}

// writeDoctorJUnit makes a test case of each check; one with findings has failed.
// Findings that are for information alone fail nothing.
func writeDoctorJUnit(to io.Writer, w doctorPlan, r doctor.Report) error {
	suite := junit.Testsuite{Name: "nats-reader doctor", Time: strconv.FormatFloat(r.Watched.Seconds(), 'f', 3, 64)}
	suite.SetTimestamp(r.Ended.UTC())
	for _, c := range doctor.Checks() {
		if len(w.judge.Only) > 0 && !slices.Contains(w.judge.Only, c.ID) || slices.Contains(w.judge.Skip, c.ID) {
			continue
		}
		test := junit.Testcase{Name: c.ID + " " + c.Title, Classname: "doctor", Time: "0.000"}
		var texts []string
		worst := doctor.Info
		for _, f := range r.Findings {
			if f.Check != c.ID {
				continue
			}
			texts = append(texts, strings.TrimSpace(string(f.Severity)+" "+findingWhere(f))+": "+f.Text)
			if f.Severity == doctor.Critical || worst == doctor.Info {
				worst = f.Severity
			}
		}
		whole := printable(strings.Join(texts, "; "))
		switch {
		case r.Verdict == doctor.VerdictUnknown:
			test.Error = &junit.Result{Message: r.Text, Type: "unknown"}
		case len(texts) == 0:
		case worst == doctor.Info:
			test.SystemOut = &junit.Output{Data: whole}
		default:
			test.Failure = &junit.Result{Message: printable(texts[0]), Type: string(worst), Data: whole}
		}
		suite.AddTestcase(test)
	}
	all := junit.Testsuites{Name: suite.Name, Time: suite.Time}
	all.AddSuite(suite)
	if _, err := io.WriteString(to, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(to)
}

func writeDoctorMarkdown(to io.Writer, w doctorPlan, r doctor.Report) error {
	var out strings.Builder
	plain := func(s string) string {
		return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "'").Replace(printable(s))
	}
	fmt.Fprintf(&out, "# %s\n\n%s, %s\n", plain(capital(headline(r))), r.Ended.UTC().Format(time.RFC3339), "server time")
	shown, left := shownFindings(w, r)
	for _, f := range shown {
		fmt.Fprintf(&out, "\n## %s\n\n%s.\n\n", plain(findingHead(f)), plain(capital(f.Text)))
		out.WriteString("| fact | value |\n|---|---|\n")
		for _, fact := range f.Facts {
			fmt.Fprintf(&out, "| %s | %s |\n", plain(fact.Name), plain(fact.Value))
		}
		fmt.Fprintf(&out, "\n%s\n\n", plain(f.Why))
		for i, step := range f.Do {
			line := plain(step.Text)
			if step.Command != "" {
				line = strings.TrimPrefix(line+": `"+strings.ReplaceAll(printable(step.Command), "`", "'")+"`", ": ")
			}
			fmt.Fprintf(&out, "%d. %s\n", i+1, line)
		}
	}
	for _, line := range append(left, w.reach.missing(shown)) {
		if line != "" {
			fmt.Fprintf(&out, "\n%s\n", plain(line))
		}
	}
	if len(r.Fleet) > 0 {
		t, left := fleetTable(w, r)
		fmt.Fprintf(&out, "\n%s\n%s", t.RenderMarkdown(), left)
	}
	for i, n := range r.NotJudged {
		if i == 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "- %s\n", plain(notJudged(n)))
	}
	_, err := io.WriteString(to, out.String())
	return err
}
