package doctor

import (
	"bytes"
	"encoding/json"
	"testing"
)

// Whatever a bundle holds, it is refused or judged: it may come from anybody.
func FuzzBundle(f *testing.F) {
	for _, c := range cases {
		c.f.Schema = FactsSchema
		data, err := json.Marshal(c.f)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		r := Judge(facts, JudgeOptions{})
		Orphans(facts, JudgeOptions{})
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("the report cannot be written: %v", err)
		}
		if err := Write(new(bytes.Buffer), facts); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
