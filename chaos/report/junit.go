package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// writeJUnit makes a test case of each run. One that was judged, and not as its plan expects, has failed; one
// that could not be judged is in error.
func writeJUnit(w io.Writer, runs []result.Run) error {
	suite := junit.Testsuite{Name: "nats-reader chaos"}
	var total time.Duration
	for i, r := range runs {
		v := viewOf(r, i+1, len(runs))
		lasted := r.Ended.Sub(r.Began)
		total += lasted
		if i == 0 {
			suite.SetTimestamp(r.Began.UTC())
		}
		c := junit.Testcase{
			Name:      fmt.Sprintf("%s / %s / %s / seed %s", v.Name, v.Target, Clean(r.Server.Version), v.Seed),
			Classname: "chaos." + v.Name,
			Time:      seconds(lasted),
			SystemOut: &junit.Output{Data: junitText(v)},
		}
		if !r.Met {
			found := &junit.Result{
				Message: strings.Join(append([]string{fmt.Sprintf("contract %s, %s", v.Finding, v.Expected)}, v.Reasons...), "; "),
				Type:    "contract_" + v.Finding, Data: textTable(v.Violations),
			}
			if r.Verdict.Finding == oracle.Unknown {
				c.Error = found
			} else {
				c.Failure = found
			}
		}
		suite.AddTestcase(c)
	}
	suite.Time = seconds(total)
	all := junit.Testsuites{Name: suite.Name, Time: suite.Time}
	all.AddSuite(suite)
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

func junitText(v view) string {
	var out strings.Builder
	textRun(&out, v, true)
	return out.String()
}
