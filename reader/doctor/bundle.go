package doctor

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrBundle is the error of a bundle that cannot be read; the text says why.
var ErrBundle = errors.New("no bundle of facts")

// Write writes facts as a bundle: JSON, compressed with gzip. Facts hold no
// credentials and no message; of metadata only what checks look at.
func Write(w io.Writer, f Facts) error {
	z := gzip.NewWriter(w)
	encoder := json.NewEncoder(z)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(f); err != nil {
		return err
	}
	return z.Close()
}

// mostBundle bounds what a bundle may unfold to.
const mostBundle = 1 << 30

// Read reads a bundle, compressed or not.
func Read(r io.Reader) (Facts, error) {
	var head [2]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil {
		return Facts{}, fmt.Errorf("%w: it is empty", ErrBundle)
	}
	whole := io.MultiReader(strings.NewReader(string(head[:n])), r)
	if head == [2]byte{0x1f, 0x8b} {
		z, err := gzip.NewReader(whole)
		if err != nil {
			return Facts{}, fmt.Errorf("%w: %v", ErrBundle, err) //nolint:errorlint // the sentinel is what is branched on
		}
		whole = z
	}
	var f Facts
	decoder := json.NewDecoder(io.LimitReader(whole, mostBundle))
	if err := decoder.Decode(&f); err != nil {
		return Facts{}, fmt.Errorf("%w: it is damaged: %v", ErrBundle, err) //nolint:errorlint // as above
	}
	if f.Schema != FactsSchema {
		if f.Schema == "" {
			return Facts{}, fmt.Errorf("%w: it has no schema", ErrBundle)
		}
		return Facts{}, fmt.Errorf("%w: its schema is %s, and this version reads %s", ErrBundle, f.Schema, FactsSchema)
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(whole, mostBundle)); err != nil {
		return Facts{}, fmt.Errorf("%w: it is cut off: %v", ErrBundle, err) //nolint:errorlint // as above
	}
	return f, nil
}
