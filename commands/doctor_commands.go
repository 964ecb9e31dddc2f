package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// reach is what the commands of a report need to come to the same servers and
// account as the one that wrote it: without it they would go to whatever a selected
// context says, and delete there what is named alike.
type reach struct {
	flags    string   // as they are written behind a command; empty: nothing is needed
	withheld []string // flags that hold a secret, which is not written
}

// reached are flags of natscli's as well; a variable and a selected context are there
// for the next command, too.
var reached = []string{
	flagContext, flagNoContext, flagServer, flagUser, flagCreds, flagNKey, flagTLSCert, flagTLSKey, flagTLSCA, flagTLSFirst,
	flagSocksProxy, flagAPIPrefix, flagDomain, flagEventPrefix, flagInboxPrefix,
}

func reachOf(c *cli.Context) (r reach) {
	var words []string
	for _, name := range reached {
		if layerOf(c, name) != layerFlag {
			continue
		}
		value := c.String(name)
		switch name {
		case flagNoContext, flagTLSFirst:
			if c.Bool(name) {
				words = append(words, "--"+name)
			}
			continue
		case flagUser:
			if c.String(flagPassword) == "" { // it is a token
				r.withheld = append(r.withheld, "--"+name)
				continue
			}
		case flagServer, flagSocksProxy:
			if hasLogin(value) {
				r.withheld = append(r.withheld, "the login in --"+name)
			}
			value = withoutLogin(value)
		}
		if value = printable(value); strings.Contains(value, hidden) {
			r.withheld = append(r.withheld, "--"+name)
			continue
		}
		words = append(words, "--"+name, doctor.ShellWord(value))
	}
	for _, name := range []string{flagPassword, flagToken, flagJWT, flagSeed} {
		if layerOf(c, name) == layerFlag {
			r.withheld = append(r.withheld, "--"+name)
		}
	}
	r.flags = strings.Join(words, " ")
	return r
}

// amend writes the flags behind every command of a report.
func (r reach) amend(found []doctor.Finding) []doctor.Finding {
	if r.flags == "" {
		return found
	}
	found = slices.Clone(found)
	for i := range found {
		found[i].Do = slices.Clone(found[i].Do)
		for j := range found[i].Do {
			if step := &found[i].Do[j]; step.Command != "" {
				step.Command += " " + r.flags
			}
		}
	}
	return found
}

// missing says what the reader of a report has to add to its commands; empty: nothing.
func (r reach) missing(found []doctor.Finding) string {
	if len(r.withheld) == 0 || !slices.ContainsFunc(found, func(f doctor.Finding) bool {
		return slices.ContainsFunc(f.Do, func(s doctor.Step) bool { return s.Command != "" })
	}) {
		return ""
	}
	return "the commands above need " + strings.Join(r.withheld, ", ") + " too, as you gave it: a secret is not written"
}

// headline is the verdict with what is worst, so that the first line alone says
// where to look.
func headline(r doctor.Report) string {
	var worst []string
	for _, f := range r.Findings {
		if f.Severity != doctor.Info && f.Severity == r.Findings[0].Severity {
			text := f.Title
			if where := findingWhere(f); where != "" {
				text += ": " + where
			}
			worst = append(worst, text)
		}
	}
	text := r.Text
	if len(worst) > 0 {
		text += "; " + worst[0]
	}
	if n := len(worst) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return printable(text)
}
