package chaos

import (
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Spec is one scheduled fault: a value that prints and parses back. It is written
// name, name(parameter=value,...), name@5s, name(...)@5s+10s: "@" is the time from
// the start, "+" how long the fault lasts.
type Spec struct {
	Name   string
	Params map[string]string
	At     time.Duration // from the start; 0: at once
	For    time.Duration // 0: the fault's default
}

// ParseSpec reads a scheduled fault and checks it against the catalogue. Errors
// are *proxy.FaultError.
func ParseSpec(text string) (Spec, error) {
	fault, schedule := splitSchedule(strings.TrimSpace(text))
	f, err := proxy.ReadFault(fault)
	if err != nil {
		return Spec{}, err
	}
	s := Spec{Name: f.Name, Params: f.Params, For: f.For}
	if err := s.parseSchedule(schedule); err != nil {
		return Spec{}, err
	}
	return s, s.Validate()
}

// splitSchedule cuts at the "@" behind the name and its parameters.
func splitSchedule(text string) (fault, schedule string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '@' && !quoted:
			return text[:i], text[i:]
		}
	}
	return text, ""
}

func (s *Spec) wrong(field, value, problem string, allowed ...string) error {
	return &proxy.FaultError{Fault: s.Name, Field: field, Value: value, Problem: problem, Allowed: allowed}
}

func (s *Spec) parseSchedule(text string) error {
	if text == "" {
		return nil
	}
	at, length, hasLength := strings.Cut(text[1:], "+")
	at, length = strings.TrimSpace(at), strings.TrimSpace(length)
	var err error
	if s.At, err = time.ParseDuration(at); err != nil || s.At < 0 || s.At > proxy.MaxDuration {
		return s.wrong("@", at, "want the time from the start, such as @5s, at most @1000h")
	}
	if !hasLength {
		return nil
	}
	d, err := time.ParseDuration(length)
	if err != nil || d < 0 || d > proxy.MaxDuration {
		return s.wrong("+", length, "want how long it lasts, such as +10s, at most +1000h")
	}
	if d > 0 && s.For > 0 && d != s.For {
		return s.wrong("+", length, "the parameter for says another duration")
	}
	if d > 0 {
		s.For = d
	}
	return nil
}

// Validate checks the name, the parameters and the duration against the
// catalogue. Errors are *proxy.FaultError.
func (s Spec) Validate() error {
	f, known := FindFault(s.Name)
	if s.Name == "" {
		return s.wrong("", "", "its name is missing")
	}
	if !known {
		return s.wrong("", "", "no such fault", FaultNames()...)
	}
	if f.Once && s.For > 0 {
		return s.wrong("+", s.For.String(), "this fault acts once and takes no duration")
	}
	if f.Layer == LayerWire {
		return s.wire().Validate()
	}
	for field, value := range s.Params {
		if err := s.checkParameter(f, field, value); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) checkParameter(f Fault, field, value string) error {
	var known []string
	for _, p := range f.Parameters {
		known = append(known, p.Name)
		if p.Name != field {
			continue
		}
		if problem := p.Check(value); problem != "" {
			return s.wrong(field, value, problem, p.Allowed...)
		}
		return nil
	}
	if !f.Once {
		known = append(known, "for")
	}
	return s.wrong(field, value, "no such parameter", known...)
}

// param gives a checked value, or the catalogue's default where it is not set.
func (s Spec) param(field string) string {
	if value, set := s.Params[field]; set {
		return value
	}
	f, _ := FindFault(s.Name)
	for _, p := range f.Parameters {
		if p.Name == field {
			return p.Default
		}
	}
	return ""
}

// count gives a checked number, its default, or 0 where there is none.
func (s Spec) count(field string) uint64 {
	n, _ := strconv.ParseUint(s.param(field), 10, 64)
	return n
}

// wire is the fault as the proxy takes it. The runner ends it, so that its end is told.
func (s Spec) wire() proxy.Fault { return proxy.Fault{Name: s.Name, Params: s.Params} }

// Length is how long the fault lasts once it has fired: its own duration or the
// catalogue's default; 0 for one that acts once, or lasts until the end.
func (s Spec) Length() time.Duration {
	if s.For > 0 {
		return s.For
	}
	f, _ := FindFault(s.Name)
	return f.Default
}

// Fault writes the fault without its schedule.
func (s Spec) Fault() string { return s.wire().String() }

// String writes the scheduled fault so that ParseSpec reads it back.
func (s Spec) String() string { return s.Fault() + "@" + s.At.String() + "+" + s.For.String() }

// MarshalText writes the scheduled fault as String does.
func (s Spec) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads it as ParseSpec does.
func (s *Spec) UnmarshalText(text []byte) error {
	parsed, err := ParseSpec(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}
