package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/tui"
)

// screenLeave is how long a terminal may take to draw for the last time.
const screenLeave = 2 * time.Second

// watchView is the screen of a run, and what its keys do. Without a terminal there is none: its methods do
// nothing then.
type watchView struct {
	feed      *tui.Feed
	screen    *tui.Screen
	crash     *crashes
	interrupt func()
	over      chan struct{} // closed when the run is to end
	end       func()        // closes it
	done      chan struct{} // closed when the screen has been left
	restore   func()        // gives the log and stderr back
	late      *lateLines

	mu          sync.Mutex
	scene       *scene
	hands       *hands
	kept        *recordFile
	interrupted bool
}

// openView draws a screen for a run. stop ends the run.
func (p *program) openView(plan watchPlan, stop context.CancelFunc, crash *crashes) (*watchView, error) {
	v := &watchView{feed: tui.NewFeed(), crash: crash, over: make(chan struct{}), done: make(chan struct{})}
	v.end = sync.OnceFunc(func() { close(v.over) })
	v.interrupt = func() {
		v.mu.Lock()
		v.interrupted = true
		v.mu.Unlock()
		stop()
	}
	disarmed := ""
	if !plan.demo && !plan.armed {
		disarmed = "start with --" + flagArm + " to make faults on a server that is not the demo's"
	}
	model, err := tui.NewModel(v.feed, tui.Options{
		Title: plan.title(), Where: plan.where, Theme: plan.look.theme, Colors: plan.look.colors, ASCII: plan.look.ascii,
		Armed: plan.armed, Readers: plan.readerNames(),
		Hands: tui.Hands{
			Disarmed: disarmed, Refused: v.refused, Target: v.target, Fire: v.fire, Clear: v.clear,
			Export: v.export, Quit: v.quit, Interrupt: v.interrupt, Copy: func(text string) error { return v.screen.Copy(text) },
		},
	})
	if err != nil {
		return nil, err
	}
	v.screen = tui.NewScreen(model, p.stdin, mustFile(p.stdout))
	v.quieten(p)
	go func() {
		defer close(v.done)
		err := v.screen.Run()
		var crashed *tui.CrashError
		switch {
		case errors.As(err, &crashed):
			crash.caught(crashed.Value, crashed.Stack)
		case err != nil:
			v.interrupt() // the terminal is gone
		}
	}()
	return v, nil
}

// mustFile is the terminal behind an output that is one.
func mustFile(w io.Writer) io.Writer {
	if f, ok := fileOf(w); ok {
		return f
	}
	return w
}

// quieten has what libraries and the program itself would write to the terminal come to the event pane.
func (v *watchView) quieten(p *program) {
	v.late = &lateLines{tell: func(text string) {
		v.feed.Put(tui.Item{Time: time.Now(), Reader: -1, Source: tui.FromLog, Line: text})
	}}
	forget := lastWords()
	stderr, logger, writer, flags := p.stderr, slog.Default(), log.Writer(), log.Flags()
	p.stderr = v.late
	slog.SetDefault(slog.New(slog.NewTextHandler(v.late, nil))) // the package log goes there, too
	v.restore = func() {
		forget()
		slog.SetDefault(logger)
		log.SetOutput(writer)
		log.SetFlags(flags)
		v.late.free(stderr)
	}
}

// close leaves the screen. It may be called again.
func (v *watchView) close() {
	if v == nil {
		return
	}
	v.mu.Lock()
	restore := v.restore
	v.restore = nil
	v.mu.Unlock()
	if restore == nil {
		return
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		v.screen.Over()
		<-v.done
	}()
	limit := time.NewTimer(screenLeave)
	defer limit.Stop()
	select {
	case <-left:
	case <-limit.C:
		v.screen.Kill()
		limit.Reset(screenLeave)
		select {
		case <-left:
		case <-limit.C: // the terminal takes nothing any more
		}
	}
	restore()
}

// wasInterrupted says whether a key asked for the end at once.
func (v *watchView) wasInterrupted() bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.interrupted
}

// begin gives the keys something to act on.
func (v *watchView) begin(c *scene, made *hands) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scene, v.hands = c, made
}

func (v *watchView) made() *hands {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hands
}

func (v *watchView) quit() {
	if v.made() == nil {
		v.interrupt() // there is nothing to judge yet
		return
	}
	v.end()
}

func (v *watchView) refused(reader int, s chaos.Spec) string {
	if h := v.made(); h != nil {
		return h.refused(reader, s)
	}
	return "the reader is not open yet"
}

func (v *watchView) target(reader int) string {
	if h := v.made(); h != nil {
		return h.env(reader).Stream
	}
	return ""
}

func (v *watchView) fire(reader int, s chaos.Spec, typed string) error {
	defer v.crash.guard()
	h := v.made()
	if h == nil {
		return errNotReading
	}
	return h.fire(reader, s, typed)
}

func (v *watchView) clear() (string, error) {
	if h := v.made(); h != nil {
		return h.clear(), nil
	}
	return "no fault is on", nil
}

// keeps says where the run is kept.
func (v *watchView) keeps(f *recordFile) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept = f
}

// export writes the whole run so far into the current folder.
func (v *watchView) export() (string, error) {
	v.mu.Lock()
	c, made, kept := v.scene, v.hands, v.kept
	v.mu.Unlock()
	if c == nil {
		return "", errors.New("there is nothing to export yet: the reader is not open")
	}
	var runs []result.Run
	for _, w := range c.readers {
		end := w.endNow(made)
		runs = append(runs, w.resultOf(made, end, w.oracle.Judge(end)))
	}
	return exporter{record: kept, now: time.Now}.export(c.plan.name(), runs)
}

// sum prints what the screen has shown, for whoever looks at the terminal afterwards.
func (v *watchView) sum(lines *printer) {
	if v == nil {
		return
	}
	v.mu.Lock()
	c, made := v.scene, v.hands
	v.mu.Unlock()
	if c == nil {
		return
	}
	var all reader.Status
	replaced := map[reader.Cause]uint64{}
	for _, w := range c.readers {
		s := w.r.Status()
		all.Delivered += s.Delivered
		all.Bytes += s.Bytes
		all.Gaps += s.Gaps
		all.DuplicatesDropped += s.DuplicatesDropped
		all.Missed += s.Missed
		for cause, n := range s.Replaced {
			replaced[cause] += n
		}
	}
	lines.note("watched "+strings.TrimPrefix(c.describe(), "reading "), "for", time.Since(c.began).Round(time.Second).String(), "server", c.manage.Conn().ConnectedUrlRedacted())
	lines.note("read", "messages", fmt.Sprint(all.Delivered), "bytes", fmt.Sprint(all.Bytes),
		"gaps", fmt.Sprint(all.Gaps), "dropped", fmt.Sprint(all.DuplicatesDropped), "missed", fmt.Sprint(all.Missed))
	lines.note("sessions replaced", countsOf(replaced)...)
	fired := map[string]uint64{}
	for _, p := range made.periods() {
		fired[p.Spec.Name]++
	}
	lines.note("faults fired", countsOf(fired)...)
}

// countsOf are counts as key, value.
func countsOf[K ~string](counts map[K]uint64) []string {
	var facts []string
	total := uint64(0)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		total += counts[key]
		facts = append(facts, string(key), fmt.Sprint(counts[key]))
	}
	return append([]string{"times", fmt.Sprint(total)}, facts...)
}

// maxLate is how many lines are said again behind the screen.
const maxLate = 20

// lateLines takes what is written while the screen has the terminal, tells it there, and repeats warnings
// when the terminal is free.
type lateLines struct {
	tell func(string)

	mu   sync.Mutex
	to   io.Writer // when the terminal is free; nil: it is not
	rest []byte
	kept []string
	more int
}

func (l *lateLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	if l.to != nil {
		defer l.mu.Unlock()
		return l.to.Write(b)
	}
	var told []string
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			break
		}
		line := string(l.rest[:i])
		l.rest = l.rest[i+1:]
		if strings.HasPrefix(line, "nats-reader: ") {
			if len(l.kept) < maxLate {
				l.kept = append(l.kept, line)
			} else {
				l.more++
			}
		}
		told = append(told, redact(oneLine(strings.TrimPrefix(line, "nats-reader: "))))
	}
	l.mu.Unlock()
	for _, line := range told {
		l.tell(line)
	}
	return len(b), nil
}

// free writes what was kept, and from then on everything at once.
func (l *lateLines) free(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = w
	for _, line := range l.kept {
		fmt.Fprintln(w, line)
	}
	if l.more > 0 {
		fmt.Fprintf(w, "nats-reader: and %d lines more\n", l.more)
	}
	l.kept, l.more = nil, 0
}
