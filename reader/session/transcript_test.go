package session

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the effects in testdata/*.txt")

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, blocks := newStory(t), parseTranscript(string(text))
	if *update {
		// Also when the story breaks off: what was told so far shows where.
		defer rewrite(t, file, blocks)
	}
	for i, b := range blocks {
		if b.inputs() == 0 {
			continue
		}
		got := s.play(b)
		if !*update && got != b.want {
			t.Errorf("after\n%s\ngot\n%s\nwant\n%s", strings.Join(b.lines, "\n"), got, b.want)
		}
		blocks[i].want = got
	}
}

func rewrite(t *testing.T, file string, blocks []block) {
	told := []string{}
	for _, b := range blocks {
		told = append(told, b.String())
	}
	if err := os.WriteFile(file, []byte(strings.Join(told, "\n")), 0o644); err != nil {
		t.Error(err)
	}
}
