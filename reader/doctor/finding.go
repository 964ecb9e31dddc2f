package doctor

import (
	"fmt"
	"strings"
)

// ReportSchema is the schema of a Report as JSON.
const ReportSchema = "nats-reader/doctor/v1"

// Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical" // a reader does not get its messages, or will not
	Warning  Severity = "warning"  // may be so, or will be
	Info     Severity = "info"     // worth knowing; no fault
)

// rank orders severities, worst first.
func (s Severity) rank() int {
	switch s {
	case Critical:
		return 0
	case Warning:
		return 1
	default:
		return 2
	}
}

// Check is one thing that is looked for.
type Check struct {
	ID       string   `json:"id"` // READER_001
	Title    string   `json:"title"`
	Severity Severity `json:"severity"` // the worst that it finds
	Means    string   `json:"means"`    // what fires it
	Why      string   `json:"why"`      // why that matters
	Do       string   `json:"do"`       // what to do about it, in words

	run func(*subject) []Finding
}

// Finding is one thing that was found.
type Finding struct {
	Check    string   `json:"id"` // of the check
	Title    string   `json:"title"`
	Severity Severity `json:"severity"`
	Stream   string   `json:"stream,omitempty"`
	Consumer string   `json:"consumer,omitempty"`
	Cause    string   `json:"cause,omitempty"` // one word, where a check tells causes apart
	Text     string   `json:"text"`            // one sentence: what is wrong
	Facts    []Figure `json:"facts"`           // what made it fire
	Why      string   `json:"why"`
	Do       []Step   `json:"do"` // in an order that is safe
}

// Step is one thing to do.
type Step struct {
	Text    string `json:"text,omitempty"`
	Command string `json:"command,omitempty"` // to be pasted into a shell
}

// steps reads them as checks write them: "text: $ command".
func steps(written ...string) []Step {
	var all []Step
	for _, w := range written {
		text, command, found := strings.Cut(w, "$ nats")
		s := Step{Text: strings.TrimSuffix(strings.TrimSpace(text), ":")}
		if found {
			s.Command = "nats" + command
		}
		all = append(all, s)
	}
	return all
}

// word quotes a name for a shell, where it needs that.
func word(name string) string {
	if name != "" && strings.Trim(name, nuidDigits+"_-+=,:@%/") == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// ShellWord is a value as commands of steps write it: quoted where a shell needs that.
func ShellWord(value string) string { return word(value) }

// Figure is one fact of a finding.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// figures makes pairs of names and values into figures.
func figures(pairs ...any) []Figure {
	var all []Figure
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, Figure{fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1])})
	}
	return all
}

// on gives a finding about a consumer.
func on(c *Consumer, s Severity, text string, facts []Figure, do ...string) Finding {
	return Finding{Severity: s, Stream: c.Stream, Consumer: c.Name, Text: text, Facts: facts, Do: steps(do...)}
}

// Commands of ours and of the nats command, for steps.
func infoCommand(c *Consumer) string {
	return fmt.Sprintf("$ nats consumer info %s %s", word(c.Stream), word(c.Name))
}

func doctorCommand(c *Consumer, flags string) string {
	return fmt.Sprintf("$ nats-reader doctor %s %s%s", word(c.Stream), word(c.Name), flags)
}
