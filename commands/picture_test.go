//go:build picture && unix

package commands_test

import (
	"flag"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
)

var picture = flag.String("picture", "", "the SVG file to write")

// The size of the picture in cells, and of a cell.
const (
	pictureColumns, pictureRows = 120, 32
	cellWidth, cellHeight       = 7.2, 15
)

// frame is what the terminal showed for a while.
type frame struct {
	lines []string
	lasts time.Duration
}

// TestPicture runs the demo on a terminal, breaks it with keys, and draws what was to be seen as an SVG that
// moves, for the README.
func TestPicture(t *testing.T) {
	if *picture == "" {
		t.Fatal("-picture FILE is missing: scripts/picture.sh gives it")
	}
	var x *terminal
	var frames []frame
	look := func(lasts time.Duration) { frames = append(frames, frame{x.drawn(), lasts}) }
	watch := func(n int) {
		for range n {
			<-time.After(500 * time.Millisecond) // what is shown is the passing of time
			look(500 * time.Millisecond)
		}
	}
	x = onTerminal(t, pictureColumns, pictureRows, []string{"NO_COLOR="}, "watch", "--demo", "--color", "always")
	x.sees("LIVE  #1 for")
	watch(4)
	x.types("A")
	x.sees("[ARMED]")
	watch(1)
	x.types("!")
	x.sees("! a fault's key")
	watch(2)
	x.types("d")
	x.sees("LIVE  #2 for")
	watch(4)
	x.types("!b")
	x.sees("2 fired")
	watch(9)
	x.sees("LIVE  #3 for")
	x.types("1\r")
	x.sees("last answer heard")
	watch(5)
	x.types("q")
	x.ends(0)
	<-x.gone
	look(6 * time.Second)
	if err := os.WriteFile(*picture, []byte(svg(frames)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawn is what the terminal shows, as rows of SVG text.
func (x *terminal) drawn() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var rows []string
	for y := range pictureRows {
		var row strings.Builder
		for from := 0; from < pictureColumns; {
			first := x.screen.Cell(from, y)
			to := from
			var text strings.Builder
			for to < pictureColumns && same(x.screen.Cell(to, y), first) {
				if c := x.screen.Cell(to, y).Char; c == 0 {
					text.WriteByte(' ')
				} else {
					text.WriteRune(c)
				}
				to++
			}
			if s := strings.TrimRight(text.String(), " "); s != "" {
				fmt.Fprintf(&row, `<tspan x="%.1f"%s>%s</tspan>`, float64(from)*cellWidth, style(first), html.EscapeString(s))
			}
			from = to
		}
		rows = append(rows, row.String())
	}
	return rows
}

// The attributes of a cell, as vt10x numbers them.
const (
	reversed = 1 << 0
	bold     = 1 << 2
)

func same(a, b vt10x.Glyph) bool { return a.FG == b.FG && a.BG == b.BG && a.Mode == b.Mode }

func style(g vt10x.Glyph) string {
	fg := g.FG
	if g.Mode&reversed != 0 && fg >= vt10x.DefaultFG {
		fg = g.BG
	}
	s := ""
	if c := hex(fg); c != "" {
		s += ` fill="` + c + `"`
	}
	if g.Mode&bold != 0 {
		s += ` font-weight="bold"`
	}
	return s
}

// hex is one of the 256 colours of terminals; "": the default.
func hex(c vt10x.Color) string {
	basic := []string{"#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5", "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"}
	switch {
	case c < 16:
		return basic[c]
	case c < 232:
		step := func(n vt10x.Color) int {
			if n == 0 {
				return 0
			}
			return int(n)*40 + 55
		}
		n := c - 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
	case c < 256:
		return fmt.Sprintf("#%02x%02x%02x", 8+10*(c-232), 8+10*(c-232), 8+10*(c-232))
	}
	return ""
}

// svg draws the frames one after the other, for ever. A row that does not change is drawn once.
func svg(frames []frame) string {
	total := time.Duration(0)
	for _, f := range frames {
		total += f.lasts
	}
	w, h := pictureColumns*cellWidth+20, float64(pictureRows*cellHeight+20)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12" fill="#d0d0d0">`+"\n", w, h)
	b.WriteString("<title>nats-reader watch --demo: a consumer is deleted, a subscription is lost, and the reader heals</title>\n<style>text{white-space:pre}")
	type span struct{ from, to int }
	var spans []span
	name := map[span]int{}
	var rows strings.Builder
	for y := range pictureRows {
		for i := 0; i < len(frames); {
			n := 1
			for i+n < len(frames) && frames[i+n].lines[y] == frames[i].lines[y] {
				n++
			}
			if text := frames[i].lines[y]; text != "" {
				s := span{i, i + n}
				class := ""
				if n < len(frames) {
					if _, known := name[s]; !known {
						name[s] = len(spans)
						spans = append(spans, s)
					}
					class = fmt.Sprintf(` class="s%d"`, name[s])
				}
				fmt.Fprintf(&rows, `<text y="%d"%s>%s</text>`+"\n", (y+1)*cellHeight, class, text)
			}
			i += n
		}
	}
	at := func(n int) float64 {
		d := time.Duration(0)
		for _, f := range frames[:n] {
			d += f.lasts
		}
		return 100 * d.Seconds() / total.Seconds()
	}
	for i, s := range spans {
		fmt.Fprintf(&b, ".s%d{visibility:hidden;animation:k%d %.1fs step-end infinite}@keyframes k%d{0%%{visibility:%s}", i, i, total.Seconds(), i, map[bool]string{true: "visible", false: "hidden"}[s.from == 0])
		if s.from > 0 {
			fmt.Fprintf(&b, "%.3f%%{visibility:visible}", at(s.from))
		}
		if s.to < len(frames) {
			fmt.Fprintf(&b, "%.3f%%{visibility:hidden}", at(s.to))
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "</style>\n"+`<rect width="100%%" height="100%%" rx="8" fill="#1c1c1c"/><g transform="translate(10,6)">`+"\n%s</g></svg>\n", rows.String())
	return b.String()
}
