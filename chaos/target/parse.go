package target

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Error says what is wrong with the text of a target, for people and tools.
type Error struct {
	Target  string
	Field   string // the parameter; "": the name, or the text as a whole
	Value   string
	Problem string
	Allowed []string // the names or values that can be had; may be empty
}

// Error returns the problem and what is allowed, in one line.
func (e *Error) Error() string {
	text := "target " + strconv.Quote(e.Target)
	if e.Field != "" {
		text += ": " + e.Field
		if e.Value != "" {
			text += "=" + strconv.Quote(e.Value)
		}
	}
	text += ": " + e.Problem
	if len(e.Allowed) > 0 {
		text += "; allowed: " + strings.Join(e.Allowed, ", ")
	}
	return text
}

// Suggestions are the names or values, at most three, that the wrong one may have
// meant; nil where none is near.
func (e *Error) Suggestions() []string {
	word := e.Target
	if e.Field != "" {
		word = e.Field
	}
	return proxy.Nearest(word, e.Allowed)
}

const execPrefix = "exec:"

// Parse reads a target: the name of one in this process, with parameters in
// parentheses, or exec: and a command. Errors are *Error.
func Parse(text string) (Target, error) {
	text = strings.TrimSpace(text)
	if command, is := strings.CutPrefix(text, execPrefix); is {
		return parseExec(text, command)
	}
	f, err := proxy.ReadFault(text)
	if err != nil {
		return nil, notationError(text, err)
	}
	all := catalogue()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == f.Name })
	switch {
	case f.Name == "":
		return nil, &Error{Target: text, Problem: "its name is missing", Allowed: everyName()}
	case i < 0 || strings.HasPrefix(all[i].Name, execPrefix):
		return nil, &Error{Target: f.Name, Problem: "no such target", Allowed: everyName()}
	}
	e := all[i]
	if f.For != 0 {
		return nil, &Error{Target: f.Name, Field: "for", Problem: "a target takes no duration: the plan has it"}
	}
	s := settings{entry: e, given: f.Params}
	if err := s.check(); err != nil {
		return nil, err
	}
	if e.peer == nil {
		return &ourReader{}, nil
	}
	p := &peer{kind: *e.peer, name: f.String(), settings: s}
	return p, nil
}

func everyName() []string { return append(Names(), execPrefix+"CMD") }

// notationError is what is wrong with the parentheses, in a target's words.
func notationError(text string, err error) error {
	var wrong *proxy.FaultError
	if !errors.As(err, &wrong) {
		return &Error{Target: text, Problem: err.Error()}
	}
	return &Error{Target: wrong.Fault, Field: wrong.Field, Value: wrong.Value, Problem: wrong.Problem, Allowed: wrong.Allowed}
}

func parseExec(text, command string) (Target, error) {
	command = strings.TrimSpace(command)
	problem := ""
	switch {
	case command == "":
		problem = "the command is missing: exec:CMD, such as exec:./my-reader"
	case strings.ContainsRune(command, 0):
		problem = "the command has a NUL byte"
	default:
		problem = execProblem
	}
	if problem != "" {
		return nil, &Error{Target: text, Problem: problem}
	}
	return &program{command: command}, nil
}

// settings are the parameters of one target, checked.
type settings struct {
	entry Entry
	given map[string]string
}

func (s settings) check() error {
	var known []string
	for _, p := range s.entry.Parameters {
		known = append(known, p.Name)
	}
	for _, field := range sortedKeys(s.given) {
		i := slices.Index(known, field)
		if i < 0 {
			problem := "no such parameter"
			if len(known) == 0 {
				problem = "this target has no parameters"
			}
			return s.wrong(field, s.given[field], problem, known...)
		}
		if problem := s.entry.Parameters[i].Check(s.given[field]); problem != "" {
			return s.wrong(field, s.given[field], problem, s.entry.Parameters[i].Allowed...)
		}
	}
	if n := s.count("batch"); n > mostBatch {
		return s.wrong("batch", s.given["batch"], fmt.Sprintf("at most %d", mostBatch))
	}
	return s.checkPull()
}

// mostBatch bounds what nats.go sets aside for one fetch.
const mostBatch = 10_000

// checkPull refuses early what nats.go would refuse when reading begins.
func (s settings) checkPull() error {
	expires, heartbeat := s.duration("expires"), s.duration("heartbeat")
	if expires != 0 && expires < leastExpires {
		return s.wrong("expires", expires.String(), "nats.go takes 1s and more")
	}
	if expires == 0 {
		expires = usualExpires
	}
	if heartbeat != 0 && (heartbeat < leastHeartbeat || heartbeat > expires/2) {
		return s.wrong("heartbeat", heartbeat.String(), fmt.Sprintf("nats.go takes 500ms to half of expires, which is %s here", expires/2))
	}
	return nil
}

func (s settings) wrong(field, value, problem string, allowed ...string) error {
	return &Error{Target: s.entry.Name, Field: field, Value: value, Problem: problem, Allowed: allowed}
}

// value is a parameter as it is set, or its default; "": neither.
func (s settings) value(field string) string {
	if v, set := s.given[field]; set {
		return v
	}
	for _, p := range s.entry.Parameters {
		if p.Name == field {
			return p.Default
		}
	}
	return ""
}

// duration is 0 where nothing is set.
func (s settings) duration(field string) time.Duration {
	d, _ := time.ParseDuration(s.value(field)) // checked
	return d
}

func (s settings) count(field string) int {
	n, _ := strconv.Atoi(s.value(field)) // checked
	return n
}

func (s settings) flag(field string) bool {
	b, _ := strconv.ParseBool(s.value(field)) // checked
	return b
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
