package bench

import (
	"encoding/json"
	"fmt"
	"io"
)

type (
	plainReading Reading
	readingJSON  struct {
		plainReading
		TookText      string  `json:"took"`
		CPUText       string  `json:"cpu"`
		ServerCPUText *string `json:"server_cpu"` // null: not measured
	}
	plainResult Result
	resultJSON  struct {
		plainResult
		WorkText string `json:"work"`
	}
)

// MarshalJSON writes durations as Go strings beside their nanoseconds.
func (r Reading) MarshalJSON() ([]byte, error) {
	j := readingJSON{plainReading: plainReading(r), TookText: r.Took.String(), CPUText: r.CPU.String()}
	if r.ServerCPU != nil {
		text := r.ServerCPU.String()
		j.ServerCPUText = &text
	}
	return json.Marshal(j)
}

// MarshalJSON writes durations as Go strings beside their nanoseconds.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(resultJSON{plainResult(r), r.Work.String()})
}

// Encode writes a result as one indented JSON document.
func Encode(w io.Writer, r Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write the bench: %w", err)
	}
	return nil
}
