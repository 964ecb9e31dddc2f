package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// keyTable is every key of the screen: what it does, in the words of the help, the footer and the README.
type keyTable struct {
	help, next, previous, pane                               key.Binding
	up, down, pageUp, pageDown, top, follow                  key.Binding
	filter, freeze, enter, back                              key.Binding
	arm, fault, clear                                        key.Binding
	export, yank, zoomIn, zoomOut                            key.Binding
	quit, interrupt                                          key.Binding
	slower, faster, seekBack, seekOn, seekFarBack, seekFarOn key.Binding
}

func bind(keys, help, does string) key.Binding {
	return key.NewBinding(key.WithKeys(strings.Fields(keys)...), key.WithHelp(help, does))
}

var keyMap = keyTable{
	help:        bind("?", "?", "help: every key, and the words of the screen"),
	next:        bind("tab", "tab", "next pane"),
	previous:    bind("shift+tab", "shift-tab", "pane before"),
	pane:        bind("1 2 3 4 5 6 7", "1-7", "a pane: sessions, flow, API, faults, events, contract, timeline"),
	up:          bind("up k", "up k", "up"),
	down:        bind("down j", "down j", "down"),
	pageUp:      bind("pgup ctrl+b", "pgup", "a page up"),
	pageDown:    bind("pgdown ctrl+d", "pgdown", "a page down"),
	top:         bind("home g", "home g", "to the first line"),
	follow:      bind("f end G", "f end", "follow: to the newest line, and stay there"),
	filter:      bind("/", "/", "filter the events: words, apart by | ; esc takes it off"),
	freeze:      key.NewBinding(key.WithKeys(" "), key.WithHelp("space", "freeze the view while the reader reads on, or pause a replay")),
	enter:       bind("enter", "enter", "expand a session, zoom into a reader, make the selected fault"),
	back:        bind("esc backspace", "esc", "back"),
	arm:         bind("A", "A", "arm the faults, and disarm them"),
	fault:       bind("!", "!", "then a fault's own key: make it"),
	clear:       bind("0", "0", "undo every fault, and call off those to come; always works"),
	export:      bind("x", "x", "export the whole run: JSONL, Markdown, HTML"),
	yank:        bind("y", "y", "copy the selected line"),
	zoomIn:      bind("+ =", "+", "timeline: less time, in more detail"),
	zoomOut:     bind("- _", "-", "timeline: more time"),
	quit:        bind("q", "q", "end the run; its summary stays on the screen"),
	interrupt:   bind("ctrl+c", "ctrl-c", "interrupt; faults are undone"),
	slower:      bind("<", "<", "replay: half as fast"),
	faster:      bind(">", ">", "replay: twice as fast"),
	seekBack:    bind("left h", "left", "replay: 10s back"),
	seekOn:      bind("right l", "right", "replay: 10s on"),
	seekFarBack: bind("shift+left H", "shift-left", "replay: a minute back"),
	seekFarOn:   bind("shift+right L", "shift-right", "replay: a minute on"),
}

// keySection is a part of the help.
type keySection struct {
	title string
	keys  []key.Binding
}

func (k keyTable) sections() []keySection {
	return []keySection{
		{"See", []key.Binding{k.next, k.previous, k.pane, k.up, k.down, k.pageUp, k.pageDown, k.top, k.follow, k.enter, k.back, k.filter, k.freeze, k.zoomIn, k.zoomOut}},
		{"Break", []key.Binding{k.arm, k.fault, k.clear}},
		{"Keep", []key.Binding{k.export, k.yank, k.help, k.quit, k.interrupt}},
		{"Replay", []key.Binding{k.slower, k.faster, k.seekBack, k.seekOn, k.seekFarBack, k.seekFarOn}},
	}
}

// short are the keys of the footer.
func (k keyTable) short() []key.Binding {
	return []key.Binding{k.help, k.next, k.filter, k.follow, k.freeze, k.yank, k.export, k.quit}
}

// shortWords are those of the footer, where the help's are too long.
var shortWords = map[string]string{
	"?": "help", "tab": "pane", "/": "filter", "f end": "follow", "space": "freeze", "y": "copy", "x": "export", "q": "quit",
}

// KeysMarkdown is the key table as Markdown, for documents.
func KeysMarkdown() string {
	var b strings.Builder
	b.WriteString("| key | does |\n|---|---|\n")
	for _, s := range keyMap.sections() {
		for _, k := range s.keys {
			h := k.Help()
			fmt.Fprintf(&b, "| `%s` | %s |\n", h.Key, strings.ReplaceAll(h.Desc, "|", `\|`))
		}
	}
	return b.String()
}
