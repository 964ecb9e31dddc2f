package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// exporter writes a whole run, its beginning included, wherever the view of it stands.
type exporter struct {
	record *recordFile
	dir    string
	now    func() time.Time
}

// unsafeInName is what a file's name is not to have.
var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// export writes the JSON lines of a record, and reports of the run, and says where.
func (x exporter) export(of string, runs []result.Run) (string, error) {
	if x.record == nil {
		return "", errors.New("export: the run is not kept: there is no room for it in the temporary folder")
	}
	name := "nats-reader-" + strings.Trim(unsafeInName.ReplaceAllString(of, "-"), "-.") + "-" + x.now().Format("20060102-150405")
	base := filepath.Join(x.dir, name)
	if err := x.record.events(runs); err != nil {
		return "", err
	}
	if err := x.write(base + ".jsonl"); err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	written := []string{".jsonl"}
	whole := func(w io.Writer, f report.Format) error { return report.Write(w, f, runs...) }
	for _, form := range []report.Format{report.Markdown, report.HTML} {
		if err := writeReport(base+form.Extension(), form, whole); err != nil {
			return "", fmt.Errorf("export: %w", err)
		}
		written = append(written, form.Extension())
	}
	return "written: " + base + " " + strings.Join(written, ", "), nil
}

func (x exporter) write(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(x.record.copyTo(f), f.Close())
}

// events gives the runs of several readers, or of one, the first events that a record has of each.
func (r *recordFile) events(runs []result.Run) error {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	schema := []byte(`"schema":"` + session.EventSchema + `"`)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes()[:min(len(lines.Bytes()), 400)], schema) {
			continue
		}
		var one struct {
			Reader string `json:"reader"`
		}
		if json.Unmarshal(lines.Bytes(), &one) != nil {
			continue // it is being written
		}
		for i := range runs {
			switch run := &runs[i]; {
			case one.Reader != "" && one.Reader != run.Name:
			case len(run.Events) >= result.MaxEvents:
				run.EventsDropped++
			default:
				run.Events = append(run.Events, json.RawMessage(bytes.Clone(lines.Bytes())))
			}
		}
	}
	return lines.Err()
}

// resultOf is what a run has come to so far, for a report.
func (c *watched) resultOf(made *hands, end oracle.Ending, v oracle.Verdict) result.Run {
	seen := c.oracle.Observe(end)
	run := result.Run{
		Name: cmp.Or(c.name, c.plan.name()), Title: "watch " + c.plan.title(), Target: "reader", Began: c.began, Ended: end.Time,
		Verdict: v, Expected: oracle.Held, Met: v.Finding == oracle.Held, ExitCode: exitOf(v.Finding),
		Server:   result.Server{Version: c.manage.Conn().ConnectedServerVersion(), Nodes: max(c.plan.nodes, 1), Replicas: 1, Storage: "file", Foreign: !c.plan.demo},
		Sessions: seen.Sessions, Deaf: seen.Deaf, Silences: seen.Silences, Series: seen.Series, APIRequests: seen.Requests,
	}
	for _, p := range made.periods() {
		f := result.Fault{Text: p.Spec.Fault(), Where: string(whereOf(p.Spec)), From: p.From, To: p.To, Target: p.Target}
		if p.Err != nil {
			f.Error = p.Err.Error()
		}
		run.Faults = append(run.Faults, f)
	}
	return run
}
