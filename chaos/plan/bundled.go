package plan

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

//go:embed bundled/*.yaml
var bundledFiles embed.FS

// bundled reads the plans once; they never change. A test keeps every one of them valid.
var bundled = sync.OnceValues(func() ([]Plan, error) {
	entries, err := bundledFiles.ReadDir("bundled")
	if err != nil {
		return nil, err
	}
	var all []Plan
	for _, e := range entries {
		text, err := bundledFiles.ReadFile(path.Join("bundled", e.Name()))
		if err != nil {
			return nil, err
		}
		p, err := Parse(e.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Plan) int { return naturally(a.Name, b.Name) })
	return all, nil
})

// Bundled lists the plans that the program brings, in the order of their names.
func Bundled() ([]Plan, error) {
	all, err := bundled()
	if err != nil {
		return nil, fmt.Errorf("the plans that the program brings: %w", err)
	}
	return slices.Clone(all), nil
}

// Tagged lists the bundled plans that have one of some tags; all of them where none is named.
func Tagged(tags ...string) ([]Plan, error) {
	all, err := Bundled()
	if err != nil || len(tags) == 0 {
		return all, err
	}
	return slices.DeleteFunc(all, func(p Plan) bool {
		return !slices.ContainsFunc(p.Tags, func(t string) bool { return slices.Contains(tags, t) })
	}), nil
}

// UnknownError says that no bundled plan has a name.
type UnknownError struct {
	Name string
	Near []string // names that may have been meant
}

// Error is the name, and what is near.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("no plan is called %q", cut(e.Name))
	if len(e.Near) > 0 {
		text += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return text
}

// Find gives the bundled plan of a name, or an *UnknownError.
func Find(name string) (Plan, error) {
	all, err := Bundled()
	if err != nil {
		return Plan{}, err
	}
	var names []string
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Plan{}, &UnknownError{Name: name, Near: proxy.Nearest(name, names)}
}

// naturally compares names so that origin-2 is before origin-10.
func naturally(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			if x != y {
				return x - y
			}
			if c := strings.Compare(a[:x], b[:y]); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
