package commands

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// writeBundle writes a bundle that only its owner may read. What stood there before
// stays until the new one is whole: a disk may be full.
func writeBundle(path string, f doctor.Facts) error {
	var data bytes.Buffer
	err := doctor.Write(&data, f)
	if err == nil {
		err = putBundle(path, data.Bytes())
	}
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagBundle, err), cause: err}
	}
	return nil
}

func putBundle(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe or a device is no file to be replaced
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return replaceFile(path, data, 0o600)
}
