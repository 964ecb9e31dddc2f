package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Options say what a screen shows, and what its keys do.
type Options struct {
	Title   string   // what is read, for the first line
	Where   string   // the server
	Readers []string // their names, by Item.Reader; one reader needs none

	Theme  string // one of Themes; "": DefaultTheme
	Colors Colors
	ASCII  bool

	Armed bool // faults act from the start
	Hands Hands
}

// Hands do what keys ask for. Those that give an error are called on goroutines of their own, and may take
// their time; what a screen has no hand for is told when its key is pressed.
type Hands struct {
	// Disarmed says why faults cannot be armed; "": they can.
	Disarmed string
	// Refused says why a fault cannot act now; "": it can. It must be quick. Nil: there is nothing to make faults on.
	Refused func(reader int, s chaos.Spec) string
	// Target is the name that is to be typed before a destructive fault.
	Target func(reader int) string
	// Fire makes a fault, on a reader.
	Fire func(reader int, s chaos.Spec, typed string) error
	// Clear undoes every fault and calls off those to come, and says what it did.
	Clear func() (string, error)
	// Export writes the whole run, and says where.
	Export func() (string, error)
	// Copy puts a text into the clipboard.
	Copy func(string) error
	// Quit asks for the end of the run, and Interrupt for its end at once.
	Quit, Interrupt func()
}

// mode is what a key means at the moment.
type mode int

const (
	modeKeys   mode = iota
	modeFilter      // letters go into the filter
	modeFault       // a letter makes a fault
	modeName        // letters go into the name of what is to be destroyed
	modeHelp
)

// flashFor is how long a remark stands in the last line.
const flashFor = 6 * time.Second

// Model is the screen: what is known, and what the keys have chosen. It is bubbletea's.
type Model struct {
	opts Options
	look look
	feed *Feed
	book *book
	menu []menuEntry

	now           time.Time
	width, height int
	layout        Layout

	mode    mode
	focus   Pane
	reader  int  // that is looked at
	table   bool // the readers are listed, and none is zoomed into
	armed   bool
	ending  bool // the run was asked to end
	over    bool // it has ended
	help    int  // scrolled lines
	flash   string
	flashed time.Time

	picked   int // in the table of readers
	ranked   ranking
	session  int         // the number of the selected session; 0: the newest
	expanded map[int]int // session numbers, by reader
	fault    int         // selected in the menu
	filter   string
	filtered filtered
	input    textinput.Model
	follow   bool
	line     int // the selected line of the events, counted from all there have been
	zoom     int // of the timeline; 0: the whole run
	frozen   time.Time
	held     []Item // that came while the view is frozen

	replay *player // nil: a live run
}

// NewModel makes the screen of a feed. The error names a theme that is not known.
func NewModel(feed *Feed, opts Options) (*Model, error) {
	if opts.Theme == "" {
		opts.Theme = DefaultTheme
	}
	k, err := newLook(opts.Theme, opts.Colors, opts.ASCII)
	if err != nil {
		return nil, err
	}
	m := &Model{
		opts: opts, look: k, feed: feed, book: newBook(opts.Readers), menu: menu(),
		focus: PaneSessions, table: len(opts.Readers) > 1, armed: opts.Armed && opts.Hands.Disarmed == "",
		expanded: map[int]int{}, follow: true, input: textinput.New(),
	}
	m.input.Prompt = ""
	m.input.CharLimit = 256
	m.input.Cursor.SetMode(cursor.CursorStatic) // nothing blinks
	m.resize(80, 24)
	return m, nil
}

// tickEvery is how often the screen looks for news: ten frames a second.
const tickEvery = 100 * time.Millisecond

// tickMsg brings the time.
type tickMsg time.Time

// overMsg says that the run has ended.
type overMsg struct{}

// manyMsg is what several keys have brought.
type manyMsg []tea.Msg

// doneMsg says what became of what a key asked for.
type doneMsg struct {
	text string
	err  error
}

// Init starts the clock of the screen.
func (m *Model) Init() tea.Cmd { return tick() }

func tick() tea.Cmd { return tea.Tick(tickEvery, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// Update takes a message in.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tickMsg:
		m.passed(time.Time(msg))
		return m, tick()
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case overMsg:
		m.take()
		m.over = true
		return m, tea.Quit
	case doneMsg:
		if msg.err != nil {
			msg.text = msg.err.Error()
		}
		m.say(msg.text)
	case manyMsg:
		for _, one := range msg {
			if _, quit := one.(tea.QuitMsg); quit {
				return m, tea.Quit
			}
			m.Update(one)
		}
	case tea.KeyMsg:
		return m, m.keys(msg)
	}
	return m, nil
}

// passed takes what has come by a time.
func (m *Model) passed(now time.Time) {
	if m.replay != nil {
		m.advance(now)
		return
	}
	m.now = now
	m.take()
}

// take folds in what waits in the feed, or holds it where the view is frozen.
func (m *Model) take() {
	items, dropped := m.feed.take()
	m.book.dropped += dropped
	for _, i := range items {
		if f := i.Fault; f != nil && f.Phase == FaultFailed {
			m.sayFailed(*f)
		}
		if m.frozen.IsZero() {
			m.book.add(i)
			continue
		}
		m.hold(i)
	}
}

// sayFailed tells why a fault failed: whoever asked for it by its key would wait for it.
func (m *Model) sayFailed(f FaultStep) {
	m.say(f.Name + " failed: " + strings.TrimPrefix(f.Why, "fault "+f.Name+": "))
}

// maxHeld is how many items are held while the view is frozen; then it goes on.
const maxHeld = 100_000

// hold keeps an item for later; of the snapshots one a second is enough.
func (m *Model) hold(i Item) {
	if i.Snapshot != nil {
		for at := len(m.held) - 1; at >= 0 && i.Time.Sub(m.held[at].Time) < time.Second; at-- {
			if h := m.held[at]; h.Snapshot != nil && h.Reader == i.Reader {
				m.held[at] = i
				return
			}
		}
	}
	m.held = append(m.held, i)
	if len(m.held) >= maxHeld {
		m.thaw()
		m.say("the view goes on: too much has come meanwhile")
	}
}

// thaw lets the view go on.
func (m *Model) thaw() {
	m.frozen = time.Time{}
	for _, i := range m.held {
		m.book.add(i)
	}
	m.held = nil
}

// seen is the time that the view shows.
func (m *Model) seen() time.Time {
	if !m.frozen.IsZero() {
		return m.frozen
	}
	return m.now
}

func (m *Model) resize(w, h int) {
	m.width, m.height = min(max(w, 0), 1000), min(max(h, 0), 1000)
	m.arrange()
}

func (m *Model) arrange() { m.layout = Arrange(m.width, m.height, m.focus) }

// say shows a remark in the last line for a while.
func (m *Model) say(text string) { m.flash, m.flashed = text, m.now }

// at is the number of the reader that is looked at: in the table the selected one.
func (m *Model) at() int {
	if m.table {
		return m.pickedReader()
	}
	return min(m.reader, len(m.book.readers)-1)
}

func (m *Model) current() *readerBook { return m.book.readers[m.at()] }

// rectOf gives where a pane is; false: it is not on the screen.
func (m *Model) rectOf(p Pane) (Rect, bool) {
	for _, placed := range m.layout.Panes {
		if placed.Pane == p {
			r := placed.Rect
			if placed.Border {
				r.X, r.W = r.X+2, r.W-2
			}
			return r, true
		}
	}
	return Rect{}, false
}

// run calls a hand on a goroutine of its own, whose panic is an error here.
func run(hand func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		text, err := hand()
		return doneMsg{text, err}
	}
}
