package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrSchema marks a document of another schema, or of another version of it.
var ErrSchema = errors.New("unknown schema")

// SetSchema is the schema field of the JSON of several runs.
const SetSchema = "nats-reader/chaos-runs/v1"

// Set is several runs that were made together.
type Set struct {
	Schema string `json:"schema"`
	Runs   []Run  `json:"runs"`
}

// Encode writes a run as one indented JSON document with its schema. Times are written in UTC.
func Encode(w io.Writer, r Run) error {
	r.Schema = Schema
	return encode(w, inUTC(r))
}

// EncodeSet writes several runs as one document.
func EncodeSet(w io.Writer, s Set) error {
	s = Set{Schema: SetSchema, Runs: append([]Run{}, s.Runs...)}
	for i, r := range s.Runs {
		r.Schema = Schema
		s.Runs[i] = inUTC(r)
	}
	return encode(w, s)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Decode reads one run. A field that is not known, a second document and another schema are errors; the last
// wraps ErrSchema.
func Decode(r io.Reader) (Run, error) {
	var run Run
	b, err := checked(r, Schema)
	if err == nil {
		err = Strictly(b, &run)
	}
	if err != nil {
		return Run{}, fmt.Errorf("read a chaos run: %w", err)
	}
	return run, nil
}

// DecodeSet reads several runs, as strictly as Decode. One run alone is a set too.
func DecodeSet(r io.Reader) (Set, error) {
	b, err := checked(r, SetSchema, Schema)
	if err != nil {
		return Set{}, fmt.Errorf("read chaos runs: %w", err)
	}
	if schemaOf(b) == Schema {
		run, err := Decode(bytes.NewReader(b))
		return Set{Schema: SetSchema, Runs: []Run{run}}, err
	}
	var set Set
	if err := Strictly(b, &set); err != nil {
		return Set{}, fmt.Errorf("read chaos runs: %w", err)
	}
	for i, run := range set.Runs {
		if run.Schema != Schema {
			return Set{}, fmt.Errorf("read chaos runs: run %d: %w %q: this version reads %s", i+1, ErrSchema, run.Schema, Schema)
		}
	}
	return set, nil
}

func schemaOf(b []byte) string {
	var head struct {
		Schema string `json:"schema"`
	}
	_ = json.Unmarshal(b, &head) // what cannot be read is told by who reads all of it
	return head.Schema
}

// checked reads a document whose schema is one of those known. The schema is looked at first: what another
// version has more is then not told as an unknown field.
func checked(r io.Reader, known ...string) ([]byte, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if !json.Valid(b) {
		return nil, Strictly(b, new(any))
	}
	schema := schemaOf(b)
	for _, k := range known {
		if schema == k {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w %q: this version reads %s", ErrSchema, schema, known[0])
}

// Strictly decodes one JSON document, without fields that are not known and without anything behind it.
func Strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the document")
	}
	return nil
}
