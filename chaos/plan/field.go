package plan

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// field is one key of a mapping, as the types of this package describe it: by the tags
// yaml (its name), need (it must be there), one (the words it takes), least and most (of
// a number), and above (a duration that is not 0).
type field struct {
	name  string
	index int
	typ   reflect.Type
	rule
}

// rule is what a value must keep to, beside its type.
type rule struct {
	need, above bool
	one         []string
	least, most int64 // most 0: no bound
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	whenType     = reflect.TypeFor[When]()
)

// fieldsOf lists the keys of a mapping that is read into a struct.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		one := field{name: name, index: i, typ: f.Type}
		one.need, one.above = f.Tag.Get("need") != "", f.Tag.Get("above") != ""
		if words := f.Tag.Get("one"); words != "" {
			one.one = strings.Split(words, ",")
		}
		one.least, _ = strconv.ParseInt(f.Tag.Get("least"), 10, 64)
		one.most, _ = strconv.ParseInt(f.Tag.Get("most"), 10, 64)
		all = append(all, one)
	}
	return all
}

func namesOf(fields []field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// findings are what a plan can expect.
func findings() []string {
	return []string{string(oracle.Held), string(oracle.Broken), string(oracle.Unknown)}
}

// fieldsRule is the rule of a field of Random, by its name in Go.
func fieldsRule(name string) rule {
	t := reflect.TypeFor[Random]()
	f, _ := t.FieldByName(name)
	for _, one := range fieldsOf(t) {
		if one.index == f.Index[0] {
			return one.rule
		}
	}
	return rule{}
}
