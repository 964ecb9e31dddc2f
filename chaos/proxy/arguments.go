package proxy

import (
	"strconv"
	"strings"
	"time"
)

// read turns the text of a value into its type, or says what is wrong with it.
func (p *Parameter) read(value string) (typed any, problem string) {
	if value == "" {
		return nil, "the value is empty; leave the parameter out for its default"
	}
	switch p.Type {
	case Subject:
		if err := pattern(value).check(); err != nil {
			return nil, err.Error()
		}
		return pattern(value), ""
	case Name:
		return glob(value), ""
	case Text:
		return value, ""
	case Count:
		n, ok := sequence(value)
		if !ok || n == 0 {
			return nil, "want a whole number from 1"
		}
		return n, ""
	case Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > MaxDuration {
			return nil, "want a duration above 0, such as 500ms, and at most 1000h"
		}
		return d, ""
	case Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return nil, "want true or false"
		}
		return b, ""
	case Word:
		for _, w := range p.Allowed {
			if w == value {
				return w, ""
			}
		}
		return nil, "no such value"
	default:
		return nil, "no type " + string(p.Type)
	}
}

// Check says what is wrong with a value, as it is written; "" for nothing.
func (p *Parameter) Check(value string) (problem string) {
	_, problem = p.read(value)
	return problem
}

// arguments are the checked values of one fault.
type arguments struct {
	fault  string
	values map[string]any
	given  map[string]string // as written
}

func argument[T any](a *arguments, name string) T {
	v, _ := a.values[name].(T)
	return v
}

func (a *arguments) has(name string) bool { _, ok := a.values[name]; return ok }

// wrong is the error for values that are each allowed but not together.
func (a *arguments) wrong(field, problem string) error {
	return &FaultError{Fault: a.fault, Field: field, Value: a.given[field], Problem: problem}
}

// glob is a name with * for any run of characters; the zero value matches every name.
type glob string

func (g glob) matches(name string) bool {
	if g == "" {
		return true
	}
	parts := strings.Split(string(g), "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return name == first
	}
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}
