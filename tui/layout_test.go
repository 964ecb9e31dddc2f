package tui

import (
	"fmt"
	"strings"
	"testing"
)

// drawn is a layout as boxes: the letter of each pane in its cells.
func drawn(t *testing.T, l Layout) []string {
	t.Helper()
	letters := map[Pane]byte{PaneSessions: 'S', PaneFlow: 'F', PaneAPI: 'A', PaneFaults: 'X', PaneEvents: 'E', PaneContract: 'C', PaneTimeline: 'T'}
	cells := make([][]byte, l.Height)
	for y := range cells {
		cells[y] = []byte(strings.Repeat(".", l.Width))
	}
	row := func(y int, c byte) {
		if y >= 0 {
			cells[y] = []byte(strings.Repeat(string(c), l.Width))
		}
	}
	row(l.Header, 'h')
	row(l.State, 's')
	row(l.Tabs, 't')
	row(l.Footer, 'f')
	for _, p := range l.Panes {
		for y := p.Y; y < p.Y+p.H; y++ {
			for x := p.X; x < p.X+p.W; x++ {
				if y < 0 || y >= l.Height || x < 0 || x >= l.Width || cells[y][x] != '.' {
					t.Fatalf("%dx%d: pane %d overlaps or is outside at %d,%d", l.Width, l.Height, p.Pane, x, y)
				}
				cells[y][x] = letters[p.Pane]
			}
		}
	}
	var rows []string
	for _, r := range cells {
		rows = append(rows, string(r))
	}
	return rows
}

// squeezed writes equal neighbours once, with how many there are.
func squeezed(rows []string) string {
	squeeze := func(all []string) string {
		var out []string
		for i := 0; i < len(all); {
			n := 1
			for i+n < len(all) && all[i+n] == all[i] {
				n++
			}
			out = append(out, fmt.Sprintf("%s*%d", all[i], n))
			i += n
		}
		return strings.Join(out, " ")
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, "("+squeeze(strings.Split(r, ""))+")")
	}
	return squeeze(lines)
}

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		w, h  int
		focus Pane
		want  string
	}{
		{80, 24, PaneSessions, "(h*80)*1 (s*80)*1 (S*80)*7 (F*40 A*40)*5 (X*80)*4 (E*80)*5 (f*80)*1"},
		{80, 24, PaneFaults, "(h*80)*1 (s*80)*1 (S*80)*5 (F*40 A*40)*5 (X*80)*6 (E*80)*5 (f*80)*1"},
		{80, 24, PaneContract, "(h*80)*1 (s*80)*1 (S*80)*6 (F*40 C*40)*5 (X*80)*5 (E*80)*5 (f*80)*1"},
		{80, 24, PaneTimeline, "(h*80)*1 (s*80)*1 (S*80)*5 (F*40 A*40)*5 (T*80)*6 (E*80)*5 (f*80)*1"},
		{160, 48, PaneEvents, ""},
		{140, 40, PaneSessions, ""},
		{79, 24, PaneFlow, "(h*79)*1 (s*79)*1 (t*79)*1 (F*79)*20 (f*79)*1"},
		{200, 19, PaneEvents, "(h*200)*1 (s*200)*1 (t*200)*1 (E*200)*15 (f*200)*1"},
		{60, 6, PaneFlow, "(h*60)*1 (s*60)*1 (t*60)*1 (F*60)*2 (f*60)*1"},
		{59, 40, PaneFlow, "(s*59)*1 (.*59)*39"},
		{100, 5, PaneFlow, "(s*100)*1 (.*100)*4"},
		{1, 1, PaneFlow, "(s*1)*1"},
	} {
		got := squeezed(drawn(t, Arrange(c.w, c.h, c.focus)))
		if c.want != "" && got != c.want {
			t.Errorf("%dx%d, focus %d:\ngot  %s\nwant %s", c.w, c.h, c.focus, got, c.want)
		}
	}
}

// At every size and focus the panes fill what the rows leave, the one with the keys is there, and each has
// room for more than its title.
func TestArrangeFillsEverySize(t *testing.T) {
	for _, w := range []int{0, 1, 59, 60, 79, 80, 81, 139, 140, 220} {
		for _, h := range []int{0, 1, 5, 6, 7, 19, 20, 21, 24, 39, 40, 41, 48, 70} {
			for _, focus := range panes {
				l := Arrange(w, h, focus)
				rows := strings.Join(drawn(t, l), "")
				if l.Shape == ShapeLine {
					continue
				}
				if strings.Contains(rows, ".") {
					t.Fatalf("%dx%d, focus %d: a hole", w, h, focus)
				}
				found := false
				for _, p := range l.Panes {
					found = found || p.Pane == focus
					if p.H < 2 {
						t.Fatalf("%dx%d, focus %d: pane %d has %d rows", w, h, focus, p.Pane, p.H)
					}
				}
				if !found {
					t.Fatalf("%dx%d: pane %d is not there", w, h, focus)
				}
			}
		}
	}
}
