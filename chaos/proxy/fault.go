package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault names one entry of the catalogue and its parameters: a value that prints and parses back.
//
// It is written as name or name(parameter=value,…), for example drop-message(nth=3) or
// api-timeout(subject=CONSUMER.>,for=3s). A value that holds a comma, a parenthesis, an equals sign, a
// quote, an @ or white space is written as a Go string literal.
type Fault struct {
	Name   string            // of an entry of Catalogue
	Params map[string]string // by parameter name; what is missing has the default the catalogue says
	For    time.Duration     // how long it lasts; 0: until it is undone. Written as the parameter for
}

// FaultError says which part of a fault is wrong and what is allowed there. Its text is one line.
type FaultError struct {
	Fault   string   // the name of the fault, as written
	Field   string   // the parameter, or "" when the name itself or the notation is wrong
	Value   string   // what was written
	Problem string   // what is wrong with it
	Allowed []string // the names or values that would do; nil when they cannot be listed
}

// Error returns the problem and what is allowed.
func (e *FaultError) Error() string {
	var b strings.Builder
	b.WriteString("fault ")
	b.WriteString(strconv.Quote(e.Fault))
	switch {
	case e.Field == "@" || e.Field == "+": // of a schedule
		b.WriteString(": " + strconv.Quote(e.Field+e.Value))
	case e.Field != "":
		b.WriteString(": " + quoteValue(e.Field))
		if e.Value != "" {
			b.WriteString("=" + strconv.Quote(e.Value))
		}
	}
	b.WriteString(": " + e.Problem)
	if len(e.Allowed) > 0 {
		b.WriteString("; allowed: " + strings.Join(e.Allowed, ", "))
	}
	return b.String()
}

// ParseFault reads a fault from its notation and checks it against the catalogue. A schedule such as
// @5s+10s is no part of a fault. Errors are *FaultError.
func ParseFault(s string) (Fault, error) {
	f, err := ReadFault(s)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return Fault{}, err
	}
	return f, nil
}

// ReadFault reads the notation alone, for faults of another catalogue. Errors are *FaultError.
func ReadFault(s string) (Fault, error) {
	s = strings.TrimSpace(s)
	name, rest, listed := strings.Cut(s, "(")
	f := Fault{Name: strings.TrimSpace(name)}
	if listed {
		if err := f.parseList(rest); err != nil {
			return Fault{}, err
		}
	}
	return f, nil
}

// parseList reads the parameters up to the closing parenthesis.
func (f *Fault) parseList(rest string) error {
	wrong := func(problem string) error { return &FaultError{Fault: f.Name, Problem: problem} }
	for {
		rest = strings.TrimLeft(rest, " ")
		if after, ok := strings.CutPrefix(rest, ")"); ok {
			if after = strings.TrimSpace(after); after != "" {
				return wrong(fmt.Sprintf("unexpected %q after the closing parenthesis", after))
			}
			return nil
		}
		end := strings.IndexAny(rest, "=,)")
		if end < 0 {
			return wrong("the closing parenthesis is missing")
		}
		field := strings.TrimSpace(rest[:end])
		if rest[end] != '=' || field == "" {
			return wrong(fmt.Sprintf("%q is not parameter=value", rest[:end]))
		}
		value, left, err := cutValue(rest[end+1:])
		if err != nil {
			return &FaultError{Fault: f.Name, Field: field, Problem: err.Error()}
		}
		if err := f.set(field, value); err != nil {
			return err
		}
		rest = strings.TrimPrefix(left, ",")
	}
}

// cutValue takes one value, quoted or plain, from the front of s; left begins with a comma or a parenthesis.
func cutValue(s string) (value, left string, err error) {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, `"`) {
		literal, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", fmt.Errorf("the closing quote is missing or an escape is wrong")
		}
		value, _ = strconv.Unquote(literal)
		left = strings.TrimLeft(s[len(literal):], " ")
	} else {
		end := strings.IndexAny(s, ",)")
		if end < 0 {
			return "", "", fmt.Errorf("the closing parenthesis is missing")
		}
		value, left = strings.TrimSpace(s[:end]), s[end:]
	}
	if left == "" || (left[0] != ',' && left[0] != ')') {
		return "", "", fmt.Errorf("a comma or the closing parenthesis is missing after the value")
	}
	return value, left, nil
}

func (f *Fault) set(field, value string) error {
	_, twice := f.Params[field]
	if twice || (field == durationField && f.For != 0) {
		return &FaultError{Fault: f.Name, Field: field, Value: value, Problem: "given twice"}
	}
	if field == durationField {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > MaxDuration {
			return &FaultError{Fault: f.Name, Field: field, Value: value, Problem: wantLength}
		}
		f.For = d
		return nil
	}
	if f.Params == nil {
		f.Params = make(map[string]string)
	}
	f.Params[field] = value
	return nil
}

// String writes the fault so that ParseFault reads it back: parameters in the order of the catalogue,
// the duration last.
func (f Fault) String() string {
	var parts []string
	left := maps.Clone(f.Params)
	take := func(name string) {
		if value, ok := left[name]; ok {
			parts = append(parts, name+"="+quoteValue(value))
			delete(left, name)
		}
	}
	if e := entryNamed(f.Name); e != nil {
		for _, p := range e.Parameters {
			take(p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		take(name)
	}
	if f.For != 0 {
		parts = append(parts, durationField+"="+f.For.String())
	}
	if len(parts) == 0 {
		return f.Name
	}
	return f.Name + "(" + strings.Join(parts, ",") + ")"
}

func (f Fault) clone() Fault {
	f.Params = maps.Clone(f.Params)
	return f
}

func quoteValue(v string) string {
	if v == "" || strings.ContainsAny(v, "(),=\"@` \\") || strconv.Quote(v) != `"`+v+`"` {
		return strconv.Quote(v)
	}
	return v
}

// MarshalText writes the fault as String does.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the fault as ParseFault does.
func (f *Fault) UnmarshalText(text []byte) error {
	parsed, err := ParseFault(string(text))
	if err != nil {
		return err
	}
	*f = parsed
	return nil
}

// Validate checks the name, the parameters and the duration against the catalogue. Errors are *FaultError.
func (f Fault) Validate() error {
	e := entryNamed(f.Name)
	if e == nil && strings.Contains(f.Name, "@") {
		return &FaultError{Fault: f.Name, Problem: "a schedule such as @5s+10s is no part of a fault"}
	}
	if e == nil {
		return &FaultError{Fault: f.Name, Problem: "no such fault", Allowed: Names()}
	}
	_, err := e.arguments(f)
	return err
}
