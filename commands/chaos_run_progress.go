package commands

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// progressShow tells on stderr what runs do: a line for each thing that happens and, on
// a terminal, a bar for each run below the lines.
type progressShow struct {
	quiet  bool
	many   bool // runs: lines say whose they are
	lines  *printer
	err    io.Writer
	bars   progress.Writer // nil: no terminal
	ended  sync.Once
	render sync.WaitGroup
	drawn  chan struct{} // closed when the bars are drawn no more

	mu  sync.Mutex
	bar map[job2]*progress.Tracker
}

// job2 is what bars are told apart by.
type job2 struct{ plan, target string }

// Times of the bars.
const (
	barEvery = 200 * time.Millisecond
	barStop  = 20 * time.Millisecond
)

func (p *program) showProgress(w runPlan) *progressShow {
	s := &progressShow{quiet: w.quiet, many: len(w.jobs) > 1, err: p.stderr, bar: map[job2]*progress.Tracker{}, drawn: make(chan struct{})}
	s.lines = &printer{out: writerFunc(s.line), gone: func() {}, bare: true}
	if w.quiet || !isTerminal(p.stderr) {
		close(s.drawn)
		return s
	}
	s.bars = progress.NewWriter()
	s.bars.SetOutputWriter(p.stderr)
	s.bars.SetUpdateFrequency(barEvery)
	s.bars.SetTrackerLength(20)
	s.bars.SetTrackerPosition(progress.PositionRight)
	s.bars.Style().Visibility.Value = false
	s.bars.Style().Visibility.ETA = false
	s.bars.Style().Visibility.TrackerOverall = false
	s.render.Go(func() {
		defer close(s.drawn)
		s.bars.Render()
	})
	return s
}

// writerFunc writes by a function.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// line writes a line, above the bars where there are some.
func (s *progressShow) line(b []byte) (int, error) {
	if s.quiet {
		return len(b), nil
	}
	if s.bars != nil {
		s.bars.Log("%s", strings.TrimSuffix(string(b), "\n"))
		return len(b), nil
	}
	return s.err.Write(b)
}

// stderr takes what outside programs write.
func (s *progressShow) stderr() io.Writer {
	if s.quiet {
		return nil
	}
	return s.lines.out
}

// trace takes the stack of a panic, however quiet it is to be.
func (s *progressShow) trace() io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		text := "nats-reader: error: a bug of nats-reader: " + redact(string(b))
		if s.bars != nil {
			s.bars.Log("%s", text)
			return len(b), nil
		}
		if _, err := io.WriteString(s.err, text); err != nil {
			return 0, err
		}
		return len(b), nil
	})
}

// say writes a remark.
func (s *progressShow) say(text string) { s.lines.note(text) }

// end draws the bars for the last time. Calling it again does nothing.
func (s *progressShow) end() {
	s.ended.Do(func() {
		if s.bars == nil {
			return
		}
		again := time.NewTicker(barStop) // it takes no notice before it has begun
		defer again.Stop()
		for {
			s.bars.Stop()
			select {
			case <-s.drawn:
				s.render.Wait()
				return
			case <-again.C:
			}
		}
	})
}

// told gives what a run tells its progress to.
func (s *progressShow) told(j job) func(run.Progress) {
	whose := ""
	if s.many {
		whose = j.plan.Name + " " + j.target.Name() + ": "
	}
	lines := &printer{out: writerFunc(func(b []byte) (int, error) {
		if whose == "" {
			return s.line(b)
		}
		at, rest, _ := strings.Cut(string(b), " ")
		return s.line([]byte(at + " " + whose + rest))
	}), gone: func() {}, bare: true}
	var before run.Figures
	var mu sync.Mutex
	return func(p run.Progress) {
		s.draw(j, p)
		switch {
		case p.Fault != nil:
			lines.firing(*p.Fault, p.Acted)
		case p.Event != nil:
			if toldWhileRunning[p.Event.Kind] {
				lines.event(*p.Event)
			}
		case p.Figures != nil:
			mu.Lock()
			news := *p.Figures != before
			before = *p.Figures
			mu.Unlock()
			if news && s.bars == nil && p.Time.Second()%figuresStep == 0 {
				lines.noteAt(p.Time, string(p.Phase), "acknowledged", fmt.Sprint(p.Figures.Acknowledged), "read", fmt.Sprint(p.Figures.Read))
			}
		case p.Begins:
			lines.noteAt(p.Time, "phase "+string(p.Phase))
		default:
			lines.noteAt(p.Time, redact(oneLine(p.Text)))
		}
	}
}

// figuresStep is every how many seconds the figures get a line.
const figuresStep = 5

// toldWhileRunning are the events that get a line.
var toldWhileRunning = map[session.Kind]bool{
	session.KindSessionOpened: true, session.KindSessionSilent: true, session.KindSessionLost: true, session.KindSessionReplaced: true,
	session.KindSessionHealed: true, session.KindReplaceFailed: true, session.KindGap: true, session.KindMissed: true, session.KindSkipped: true,
	session.KindStreamReset: true, session.KindStreamMissing: true, session.KindPaused: true, session.KindPermissionDenied: true,
	session.KindConnectionForced: true, session.KindFailed: true,
}

// draw moves the bar of a run.
func (s *progressShow) draw(j job, p run.Progress) {
	if s.bars == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := job2{j.plan.Name, j.target.Name()}
	t := s.bar[key]
	if t == nil {
		ph := j.plan.Phases
		t = &progress.Tracker{Total: int64((ph.Steady + ph.Inject + endsTypically).Seconds()), AutoStopDisabled: true}
		t.UpdateMessage(key.plan + " " + key.target)
		s.bar[key] = t
		s.bars.AppendTracker(t)
	}
	text := fmt.Sprintf("%s %s: %s", key.plan, key.target, p.Phase)
	if p.Figures != nil {
		t.UpdateMessage(fmt.Sprintf("%s, %d of %d faults, read %d of %d", text, p.Figures.Faults, p.Figures.Steps, p.Figures.Read, p.Figures.Acknowledged))
		t.SetValue(min(t.Value()+1, t.Total-1))
	} else if p.Begins {
		t.UpdateMessage(text)
	}
}

// endsTypically is what a run takes beside its phases of a known length.
const endsTypically = 4 * time.Second

// over tells what became of a run.
func (s *progressShow) over(j job, r result.Run) {
	if s.bars != nil {
		s.mu.Lock()
		if t := s.bar[job2{j.plan.Name, j.target.Name()}]; t != nil {
			t.UpdateMessage(fmt.Sprintf("%s %s: %s", r.Name, r.Target, r.Verdict.Finding))
			if r.ExitCode == exitGood {
				t.MarkAsDone()
			} else {
				t.MarkAsErrored()
			}
		}
		s.mu.Unlock()
	}
	if s.many {
		s.say(fmt.Sprintf("%s %s: contract %s", r.Name, r.Target, r.Verdict.Finding))
	}
}

// isTerminal says whether somebody looks at what is written.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull && os.Getenv("TERM") != "dumb"
}
