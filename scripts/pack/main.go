// Command pack writes a folder as an archive that holds nothing of the machine it is
// made on: names in order, one time, no owner, modes 0755 and 0644. The same files
// give the same bytes. scripts/release.sh uses it.
//
//	pack -time UNIX -to NAME.tar.gz|NAME.zip FOLDER
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	seconds := flag.Int64("time", 0, "the time of every file, in `SECONDS` since 1970")
	to := flag.String("to", "", "the archive to write, `NAME`.tar.gz or NAME.zip")
	flag.Parse()
	if err := pack(*to, time.Unix(*seconds, 0).UTC(), flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "pack: error: %v\n", err)
		os.Exit(1)
	}
}

// writer takes the files of an archive, one after the other.
type writer interface {
	add(name string, info fs.FileInfo, content io.Reader) error
	Close() error
}

func pack(to string, at time.Time, folders []string) (err error) {
	if len(folders) != 1 {
		return fmt.Errorf("%d folders are given, want one", len(folders))
	}
	begin := map[string]func(io.Writer, time.Time) (writer, error){".tar.gz": newTar, ".zip": newZip}
	kind := filepath.Ext(to)
	if strings.HasSuffix(to, ".tar.gz") {
		kind = ".tar.gz"
	}
	if begin[kind] == nil {
		return fmt.Errorf("-to %q: want a name that ends with .tar.gz or .zip", to)
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	w, err := begin[kind](f, at)
	if err != nil {
		return err
	}
	return errors.Join(addAll(w, folders[0]), w.Close())
}

// addAll adds the regular files of a folder under its name, in the order of their names.
func addAll(w writer, folder string) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", file)
		}
		below, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		return w.add(path.Join(filepath.Base(folder), filepath.ToSlash(below)), info, f)
	})
}

// mode keeps of a file's mode whether it may be executed.
func mode(info fs.FileInfo) fs.FileMode {
	if info.Mode()&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

type tarWriter struct {
	*tar.Writer
	zipped *gzip.Writer
	at     time.Time
}

func newTar(to io.Writer, at time.Time) (writer, error) {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	return &tarWriter{Writer: tar.NewWriter(zipped), zipped: zipped, at: at}, nil
}

func (w *tarWriter) add(name string, info fs.FileInfo, content io.Reader) error {
	err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(mode(info)), ModTime: w.at, Format: tar.FormatUSTAR,
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

func (w *tarWriter) Close() error { return errors.Join(w.Writer.Close(), w.zipped.Close()) }

type zipWriter struct {
	*zip.Writer
	at time.Time
}

func newZip(to io.Writer, at time.Time) (writer, error) {
	w := zip.NewWriter(to)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	return &zipWriter{Writer: w, at: at}, nil
}

func (w *zipWriter) add(name string, info fs.FileInfo, content io.Reader) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.at}
	header.SetMode(mode(info))
	out, err := w.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return err
}
