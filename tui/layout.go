package tui

// Pane is a part of the screen with a content of its own.
type Pane int

// The panes, by their keys.
const (
	PaneSessions Pane = iota + 1
	PaneFlow
	PaneAPI
	PaneFaults
	PaneEvents
	PaneContract
	PaneTimeline
)

// panes lists all in the order of tab.
var panes = []Pane{PaneSessions, PaneFlow, PaneAPI, PaneFaults, PaneEvents, PaneContract, PaneTimeline}

var paneNames = map[Pane]string{
	PaneSessions: "Sessions", PaneFlow: "Flow", PaneAPI: "Retry / API", PaneFaults: "Faults", PaneEvents: "Events",
	PaneContract: "Contract", PaneTimeline: "Timeline",
}

// Rect is a part of the terminal in cells, from the top left.
type Rect struct{ X, Y, W, H int }

// Placed is a pane and where it is. Its first row is its title.
type Placed struct {
	Pane Pane
	Rect
	Border bool // its first column is a line beside the pane to the left
}

// Shape is how much of everything is shown.
type Shape int

// The shapes, from the smallest.
const (
	ShapeLine  Shape = iota // one line
	ShapeTabs               // one pane at a time
	ShapeStack              // panes above each other
	ShapeWide               // two columns, timeline and contract
)

// Layout is what is where. Header, State, Tabs and Footer are rows; -1: there is none.
type Layout struct {
	Shape                       Shape
	Width, Height               int
	Header, State, Tabs, Footer int
	Panes                       []Placed
}

// The sizes at which the shape changes.
const (
	wideWidth, wideHeight   = 140, 40
	stackWidth, stackHeight = 80, 20
	tabsWidth, tabsHeight   = 60, 6
)

// Arrange lays out a terminal of a size for a pane that has the keys. The panes never overlap, and fill all
// that the four rows leave.
func Arrange(w, h int, focus Pane) Layout {
	l := Layout{Width: max(w, 0), Height: max(h, 0), Header: -1, State: -1, Tabs: -1, Footer: -1}
	switch {
	case w >= wideWidth && h >= wideHeight:
		l.wide(focus)
	case w >= stackWidth && h >= stackHeight:
		l.stack(focus)
	case w >= tabsWidth && h >= tabsHeight:
		l.Shape, l.Header, l.State, l.Tabs, l.Footer = ShapeTabs, 0, 1, 2, h-1
		l.Panes = []Placed{{Pane: focus, Rect: Rect{0, 3, w, h - 4}}}
	default:
		l.Shape = ShapeLine
		if h > 0 && w > 0 {
			l.State = 0
		}
	}
	return l
}

// frame takes the rows above and below the panes, and gives the first one between and how many there are.
func (l *Layout) frame() (y, rows int) {
	l.Header, l.State, l.Footer = 0, 1, l.Height-1
	return 2, l.Height - 3
}

// stack lays out four rows of panes: sessions; flow beside API or contract; faults or timeline; events.
func (l *Layout) stack(focus Pane) {
	l.Shape = ShapeStack
	y, rows := l.frame()
	heights := share(rows, focus, []part{
		{PaneSessions, 3, 3}, {PaneFlow, 5, 0}, {PaneFaults, 3, 2}, {PaneEvents, 3, 2},
	})
	half := l.Width / 2
	beside, below := PaneAPI, PaneFaults
	switch focus {
	case PaneContract:
		beside = PaneContract
	case PaneTimeline:
		below = PaneTimeline
	}
	l.place(Placed{Pane: PaneSessions, Rect: Rect{0, y, l.Width, heights[0]}})
	y += heights[0]
	l.place(Placed{Pane: PaneFlow, Rect: Rect{0, y, half, heights[1]}})
	l.place(Placed{Pane: beside, Rect: Rect{half, y, l.Width - half, heights[1]}, Border: true})
	y += heights[1]
	l.place(Placed{Pane: below, Rect: Rect{0, y, l.Width, heights[2]}})
	y += heights[2]
	l.place(Placed{Pane: PaneEvents, Rect: Rect{0, y, l.Width, heights[3]}})
}

// wide lays out the timeline over two columns over the events.
func (l *Layout) wide(focus Pane) {
	l.Shape = ShapeWide
	y, rows := l.frame()
	outer, inner := focus, focus
	switch focus {
	case PaneSessions, PaneFaults:
		outer = PaneFlow // the columns
	case PaneTimeline:
		inner = 0
	}
	heights := share(rows, outer, []part{{PaneTimeline, 6, 1}, {PaneFlow, 20, 1}, {PaneEvents, 6, 2}})
	l.place(Placed{Pane: PaneTimeline, Rect: Rect{0, y, l.Width, heights[0]}})
	y += heights[0]
	column := heights[1]
	left := l.Width * 13 / 20
	upper := share(column, inner, []part{{PaneSessions, 6, 3}, {PaneFaults, 8, 3}})
	l.place(Placed{Pane: PaneSessions, Rect: Rect{0, y, left, upper[0]}})
	l.place(Placed{Pane: PaneFaults, Rect: Rect{0, y + upper[0], left, upper[1]}})
	right := share(column, PaneContract, []part{{PaneFlow, 7, 0}, {PaneAPI, 6, 0}, {PaneContract, 7, 1}})
	at := y
	for i, p := range []Pane{PaneFlow, PaneAPI, PaneContract} {
		l.place(Placed{Pane: p, Rect: Rect{left, at, l.Width - left, right[i]}, Border: true})
		at += right[i]
	}
	l.place(Placed{Pane: PaneEvents, Rect: Rect{0, y + column, l.Width, heights[2]}})
}

func (l *Layout) place(p Placed) { l.Panes = append(l.Panes, p) }

// part is a pane's share of the rows: at least so many, and of the rest by weight.
type part struct {
	pane   Pane
	least  int
	weight int
}

// share gives each part its rows; together they are all there are. The part that has the keys counts more.
func share(rows int, focus Pane, parts []part) []int {
	heights := make([]int, len(parts))
	rest, weights := rows, 0
	for i := range parts {
		if sameSlot(parts[i].pane, focus) && parts[i].weight > 0 {
			parts[i].weight += 3
		}
		heights[i] = parts[i].least
		rest -= parts[i].least
		weights += parts[i].weight
	}
	last := 0
	for i, p := range parts {
		if weights > 0 && p.weight > 0 {
			heights[i] += rest * p.weight / weights
			last = i
		}
	}
	for _, n := range heights {
		rows -= n
	}
	heights[last] += rows
	return heights
}

// sameSlot says whether a pane is shown in the place of another where there is little room.
func sameSlot(slot, pane Pane) bool {
	return slot == pane || slot == PaneFaults && pane == PaneTimeline
}
