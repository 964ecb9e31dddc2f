package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// tape is what one reader lived through, as the inputs of a transcript.
type tape struct {
	reader int
	now    time.Duration
	length time.Duration // of the part with steps
	kept   int           // what is of interest where nothing failed
	text   strings.Builder
}

func itoa(n int) string { return strconv.Itoa(n) }

// begin writes the reader's configuration, where it differs from the transcripts'
// own defaults.
func (t *tape) begin(p *Plan) {
	c := p.Readers[t.reader]
	line := "config messages=" + itoa(c.MaxMessages) + " bytes=" + itoa(c.MaxBytes)
	add := func(on bool, format string, v ...any) {
		if on {
			line += fmt.Sprintf(" "+format, v...)
		}
	}
	full := c.config()
	add(true, "start=%s", starts[c.Start])
	add(c.Sequence > 0, "seq=%d", c.Sequence)
	add(full.StartTime > 0, "time=%d", full.StartTime)
	add(full.Created > 0, "created=%d", full.Created)
	add(full.Cursor.Sequence > 0, "cursor=%d/%d", full.Cursor.Sequence, full.Cursor.Time)
	add(c.Durable != "", "durable=%s", c.Durable)
	add(c.Name != "", "name=%s", c.Name)
	add(c.Filter != 0, "filter=%s", strings.Join(full.Subjects, ","))
	add(c.StopAtEnd, "stop")
	add(c.WaitForStream, "wait-for-stream")
	add(c.OnError > 0, "on-error=%s", []string{"wait", "raise", "finish"}[c.OnError])
	add(c.OnMissed > 0, "on-missed=skip")
	add(c.OnReset > 0, "on-reset=%s", []string{"restart", "follow-new", "fail"}[c.OnReset])
	add(true, "grace=%s initial=%s max=%s attempt-timeout=%s", c.Grace, c.Retry.Initial, c.Retry.Max, c.Retry.AttemptTimeout)
	add(c.Retry.TotalTimeout > 0, "total-timeout=%s", c.Retry.TotalTimeout)
	add(c.Retry.MaxAttempts > 0, "max-attempts=%d", c.Retry.MaxAttempts)
	add(true, "expires=%s heartbeat=%s inactive=%s rand=%v", c.Expires, c.Heartbeat, c.Inactive, c.Rand)
	t.text.WriteString(line + "\n")
}

var starts = map[session.StartKind]string{
	session.StartAll: "all", session.StartNew: "new", session.StartLast: "last", session.StartLastPerSubject: "last-per-subject",
	session.StartSequence: "sequence", session.StartTime: "time", session.StartPosition: "position",
}

// tapes says whether what happens to r is written down.
func (w *world) tapes(r *reader) bool { return w.tape != nil && w.tape.reader == r.n }

// write notes an input, in a block of its own wherever the clock has moved.
func (w *world) write(r *reader, line string) {
	if !w.tapes(r) {
		return
	}
	w.tape.clock(w.now)
	w.tape.text.WriteString(line + "\n")
}

func (t *tape) clock(now time.Duration) {
	if t.kept == 0 && now > t.length {
		t.kept = t.text.Len()
	}
	if now > t.now {
		fmt.Fprintf(&t.text, "----\n\nwait %s\n", now-t.now)
		t.now = now
	}
}

func (w *world) writeRemark(s Step) {
	if w.tape == nil || s.Do == publishing {
		return
	}
	w.tape.clock(w.now)
	fmt.Fprintf(&w.tape.text, "# %s, for %s\n", s.Do, s.For)
}

func (w *world) writeTook(r *reader, n, bytes int) {
	if w.tapes(r) {
		w.write(r, fmt.Sprintf("took %d bytes=%d", n, bytes))
	}
}

func (w *world) writeAcked(r *reader, d session.Delivery) {
	if w.tapes(r) {
		w.write(r, fmt.Sprintf("acked %d cseq=%d time=%d", d.Sequence, d.ConsumerSeq, d.Time))
	}
}

func (w *world) writeMessage(r *reader, attempt int, d session.Delivery) {
	if w.tapes(r) {
		w.write(r, fmt.Sprintf("msg %d seq=%d cseq=%d time=%d pending=%d size=%d", attempt, d.Sequence, d.ConsumerSeq, d.Time, d.Pending, d.Size))
	}
}

func (w *world) writeStatus(r *reader, attempt int, st session.Status) {
	if !w.tapes(r) {
		return
	}
	line := fmt.Sprintf("status %d %d", attempt, st.Code)
	if st.Text != "" {
		line += " " + st.Text
	}
	line += fmt.Sprintf(" token=%d", st.Token)
	if st.HasLast {
		line += fmt.Sprintf(" last=%d/%d", st.LastConsumer, st.LastStream)
	}
	if st.HasPending {
		line += fmt.Sprintf(" left=%d/%d", st.PendingMessages, st.PendingBytes)
	}
	w.write(r, line)
}

func (w *world) writeAnswer(r *reader, id session.RequestID, a session.Answer) {
	if w.tapes(r) {
		w.write(r, fmt.Sprintf("answer %d %s", id, answerText(r, a)))
	}
}

func answerText(r *reader, a session.Answer) string {
	switch {
	case a.Err != nil:
		return apiErrorText(a.Err)
	case a.Stream != nil:
		s := fmt.Sprintf("stream created=%d first=%d last=%d lasttime=%d retention=%s", a.Stream.Created, a.Stream.First, a.Stream.Last,
			a.Stream.LastTime, a.Stream.Retention)
		if a.Stream.Mirror {
			s += " mirror"
		}
		return s
	case a.Consumer != nil:
		return consumerText(r, a.Consumer)
	case a.Message != nil:
		return fmt.Sprintf("message time=%d", a.Message.Time)
	case a.Names != nil:
		return "names " + strings.Join(a.Names, " ")
	}
	return "done"
}

func consumerText(r *reader, f *session.ConsumerFacts) string {
	s := fmt.Sprintf("consumer delivered=%d/%d pending=%d level=%d", f.DeliveredConsumer, f.DeliveredStream, f.Pending, f.Level)
	add := func(on bool, format string, v ...any) {
		if on {
			s += fmt.Sprintf(" "+format, v...)
		}
	}
	add(f.Paused, "paused")
	add(f.Created > 0, "born=%d", f.Created)
	add(f.AckPending > 0, "ackpending=%d", f.AckPending)
	add(f.MaxAckPending > 0, "maxack=%d", f.MaxAckPending)
	add(f.AckFloor > 0, "floor=%d", f.AckFloor)
	add(f.AckNone, "acknone")
	add(f.PushBased, "push")
	add(f.Owner != r.id, "owner=%s", or(f.Owner, "-"))
	add(len(f.Filters) > 0, "filter=%s", strings.Join(f.Filters, ","))
	add(f.Waiting > 0 && f.MaxWaiting > 0, "waiting=%d maxwaiting=%d", f.Waiting, f.MaxWaiting)
	add(f.Limits.Waiting > 0, "maxpulls=%d", f.Limits.Waiting)
	add(f.Limits.Batch > 0, "maxbatch=%d", f.Limits.Batch)
	add(f.Limits.Bytes > 0, "maxbytes=%d", f.Limits.Bytes)
	add(f.Limits.Expires > 0, "maxexpires=%s", f.Limits.Expires)
	return s
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Transcript runs a plan and gives what one of its readers lived through as a
// transcript without effects: `go test ./reader/session -run Transcripts -update`
// fills them in.
func Transcript(p *Plan, reader int) string {
	w := newWorld(p)
	w.tape = &tape{reader: reader, length: p.Length}
	w.tape.begin(p)
	f := w.live()
	if f != nil {
		w.tape.clock(f.At)
	}
	text := w.tape.text.String()
	head := "# A story the simulator found.\n"
	if f != nil {
		head = fmt.Sprintf("# %s: %s\n", f.Promise, f.Text)
	} else if w.tape.kept > 0 {
		text = text[:w.tape.kept]
	}
	return head + text + "----\n"
}
