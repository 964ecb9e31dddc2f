package matrix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// ErrSchema marks a document of another schema, or of another version of it.
var ErrSchema = errors.New("unknown schema")

type (
	plainOutcome Outcome
	outcomeJSON  struct {
		plainOutcome
		SilenceText string `json:"silence"`
		AfterText   string `json:"after"`
		TookText    string `json:"took"`
	}
)

// MarshalJSON writes durations as Go strings beside their nanoseconds.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeJSON{plainOutcome(o), o.Silence.String(), o.After.String(), o.Took.String()})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses fields that are not known.
func (o *Outcome) UnmarshalJSON(b []byte) error {
	var j outcomeJSON
	err := result.Strictly(b, &j)
	*o = Outcome(j.plainOutcome)
	return err
}

// Encode writes a result as one JSON document, a cell a line.
func Encode(w io.Writer, r Result) error {
	cells := r.Cells
	r.Schema, r.Cells = ResultSchema, nil
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the matrix: %w", err)
	}
	var out bytes.Buffer
	out.Write(bytes.TrimSuffix(head, []byte("\n}")))
	out.WriteString(",\n  \"cells\": [")
	for i, c := range cells {
		line, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("write the matrix: cell %s: %w", c.Cell, err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// Decode reads a result. A field that is not known, a second document, a cell that the matrix does not have, and another
// schema are errors; the last wraps ErrSchema.
func Decode(from io.Reader) (Result, error) {
	var r Result
	b, err := io.ReadAll(from)
	if err == nil {
		err = ofSchema(b, ResultSchema)
	}
	if err == nil {
		err = result.Strictly(b, &r)
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Result{}, fmt.Errorf("read a chaos matrix: %w", err)
	}
	return r, nil
}

// ofSchema looks at the schema first: what another version has more is then not told as
// an unknown field.
func ofSchema(b []byte, known string) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		if json.Valid(b) {
			return fmt.Errorf("%w: this version reads %s", ErrSchema, known)
		}
		return err
	}
	if head.Schema != known {
		return fmt.Errorf("%w %q: this version reads %s", ErrSchema, head.Schema, known)
	}
	return nil
}

// check refuses what no matrix of this package has written.
func (r Result) check() error {
	for i, c := range r.Cells {
		switch {
		case !r.has(c.Cell):
			return fmt.Errorf("cell %d (%s) is not one of this matrix", i+1, c.Cell)
		case c.Finding != oracle.Held && c.Finding != oracle.Broken && c.Finding != oracle.Unknown:
			return fmt.Errorf("cell %d (%s): %q is no finding", i+1, c.Cell, c.Finding)
		case c.Silence < 0 || c.After < 0 || c.Took < 0 || c.Took > 1000*time.Hour:
			return fmt.Errorf("cell %d (%s): a duration that cannot be", i+1, c.Cell)
		}
	}
	return nil
}
