package tui

import (
	"strings"
	"time"
)

// maxLines is how many lines of the event pane can be scrolled back to.
const maxLines = 10_000

// entry is one line of the event pane.
type entry struct {
	time   time.Time
	reader int
	source Source
	text   string
}

// lines are the newest entries, and how many there have been.
type lines struct {
	all   []entry
	total int
}

func (l *lines) add(e entry) {
	l.total++
	l.all = append(l.all, e)
	if len(l.all) > maxLines+maxLines/4 { // moved rarely
		l.all = append([]entry(nil), l.all[len(l.all)-maxLines:]...)
	}
}

// filtered are the entries that a filter leaves, as far as they were looked at.
type filtered struct {
	filter string
	reader int
	seen   int // how many entries had been told when it was looked last
	kept   []entry
}

// matching gives the entries of a reader (-1: of all) that a filter leaves. A filter is words apart by |, of
// which one is to be in the source or the text, whatever the case. Only what came since the last look at the
// same filter is looked at.
func (f *filtered) matching(l *lines, filter string, reader int) []entry {
	any := alternatives(filter)
	if len(any) == 0 && reader < 0 {
		return l.all
	}
	if f.filter != filter || f.reader != reader || f.seen > l.total {
		*f = filtered{filter: filter, reader: reader}
	}
	fresh := min(l.total-f.seen, len(l.all))
	for _, e := range l.all[len(l.all)-fresh:] {
		if (reader < 0 || e.reader < 0 || e.reader == reader) && e.matches(any) {
			f.kept = append(f.kept, e)
		}
	}
	f.seen = l.total
	if len(f.kept) > maxLines {
		f.kept = append([]entry(nil), f.kept[len(f.kept)-maxLines:]...)
	}
	return f.kept
}

func (e entry) matches(any []string) bool {
	if len(any) == 0 {
		return true
	}
	text := strings.ToLower(string(e.source) + " " + e.text)
	for _, word := range any {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func alternatives(filter string) []string {
	var any []string
	for _, word := range strings.Split(strings.ToLower(filter), "|") {
		if word = strings.TrimSpace(word); word != "" {
			any = append(any, word)
		}
	}
	return any
}
