package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parsed is what a stream told: its frames as text, and whether and why it turned opaque.
type parsed struct {
	frames []string
	bad    string
	open   bool // the stream ended within a frame
}

// parseChunks runs a decoder over a stream that arrives in the chunks given, as a flow does.
func parseChunks(dir Direction, chunks [][]byte) parsed {
	var (
		out  parsed
		d    = decoder{dir: dir}
		buf  []byte
		body int
		fr   frame
	)
	for _, chunk := range chunks {
		buf = append(buf, chunk...)
		for out.bad == "" && len(buf) > 0 {
			if body > 0 {
				part := buf[:min(len(buf), body)]
				if !closes(part, body) {
					out.bad = "payload not closed"
					break
				}
				body -= len(part)
				buf = buf[len(part):]
				continue
			}
			err := d.scan(buf, &fr)
			if errors.Is(err, errMore) {
				break
			}
			if err != nil {
				out.bad = "malformed"
				break
			}
			out.frames = append(out.frames, describe(&fr))
			body = fr.body
			buf = buf[fr.head:]
		}
	}
	out.open = out.bad == "" && (body > 0 || len(buf) > 0)
	return out
}

func describe(f *frame) string {
	code, text := statusOf(f.headers)
	asks := ""
	if f.payload != nil {
		asks = fmt.Sprintf(" asks=%s", f.payload)
	}
	return fmt.Sprintf("%s %q sub=%s reply=%s sid=%s queue=%s max=%d hdr=%d size=%d bytes=%d status=%d %s%s",
		f.verb, f.line, f.subject, f.reply, f.sid, f.queue, f.max, f.hdrSize, f.size, f.bytes(), code, text, asks)
}

func (p parsed) String() string {
	return fmt.Sprintf("%s\nbad=%q open=%v", strings.Join(p.frames, "\n"), p.bad, p.open)
}

// chunked cuts b at random places.
func chunked(b []byte, r *rand.Rand, longest int) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := min(len(b), 1+r.IntN(longest))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

// corpus returns the streams of testdata/streams by name. A line of such a file is one Go-quoted piece.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no streams in testdata/streams: %v", err)
	}
	out := make(map[string][]byte)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".txt")] = unquoted(t, text)
	}
	return out
}

func directionOf(name string) Direction {
	if strings.HasPrefix(name, "up") {
		return Up
	}
	return Down
}

// Whatever the places where TCP cuts a stream, its frames are the same.
func TestAnySplitGivesTheSameFrames(t *testing.T) {
	for name, stream := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			dir := directionOf(name)
			whole := parseChunks(dir, [][]byte{stream}).String()
			golden := filepath.Join("testdata", "streams", name+".frames")
			if *update {
				if err := os.WriteFile(golden, []byte(whole+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSuffix(string(want), "\n") != whole {
				t.Errorf("frames of the whole stream:\n%s\nwant:\n%s", whole, want)
			}
			for i := 0; i < len(stream); i += 1 + len(stream)/300 {
				if got := parseChunks(dir, [][]byte{stream[:i], stream[i:]}).String(); got != whole {
					t.Fatalf("cut at %d:\n%s\nwant:\n%s", i, got, whole)
				}
			}
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 1))
				if got := parseChunks(dir, chunked(stream, r, 1+int(seed))).String(); got != whole {
					t.Fatalf("cut with seed %d:\n%s\nwant:\n%s", seed, got, whole)
				}
			}
		})
	}
}

// FuzzSplit checks that no input makes the decoder panic or grow, and that frames do not depend on chunks.
func FuzzSplit(f *testing.F) {
	for name, stream := range corpus(f) {
		f.Add(stream, directionOf(name) == Up, uint64(len(stream)))
	}
	f.Fuzz(func(t *testing.T, stream []byte, up bool, seed uint64) {
		dir := Down
		if up {
			dir = Up
		}
		whole := parseChunks(dir, [][]byte{stream}).String()
		r := rand.New(rand.NewPCG(seed, 2))
		if got := parseChunks(dir, chunked(stream, r, 1+r.IntN(40))).String(); got != whole {
			t.Fatalf("chunks with seed %d:\n%s\nwant:\n%s", seed, got, whole)
		}
		var single [][]byte
		for i := range stream {
			single = append(single, stream[i:i+1])
		}
		if got := parseChunks(dir, single).String(); got != whole {
			t.Fatalf("byte by byte:\n%s\nwant:\n%s", got, whole)
		}
	})
}

func TestLongLinesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		dir   Direction
		bytes []byte
		want  error
	}{
		{"PUB line at its bound", Up, append([]byte("PUB "), bytes.Repeat([]byte{'a'}, shortLine-4)...), nil},
		{"PUB line below its bound", Up, append([]byte("PUB "), bytes.Repeat([]byte{'a'}, shortLine-5)...), errMore},
		{"INFO beyond a short line", Down, append([]byte("INFO "), bytes.Repeat([]byte{'a'}, shortLine)...), errMore},
		{"INFO at its bound", Down, append([]byte("INFO "), bytes.Repeat([]byte{'a'}, longLine-5)...), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decoder{dir: c.dir}
			var fr frame
			err := d.scan(c.bytes, &fr)
			if c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if c.want == nil && (err == nil || errors.Is(err, errMore)) {
				t.Fatalf("got %v, want an error that names the bound", err)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	line := []byte("MSG ORDERS.new.eu 42 $JS.ACK.ORDERS.reader-Ab12.1.1234567.1234567.1700000000000000000.99 128\r\n")
	stream := append(append(line, bytes.Repeat([]byte{'x'}, 128)...), '\r', '\n')
	d := decoder{dir: Down}
	var fr frame
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.scan(stream, &fr); err != nil {
			b.Fatal(err)
		}
	}
}
