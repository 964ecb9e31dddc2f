package session

import (
	"errors"
	"fmt"
	"time"
)

// effectLine is what an effect looks like in a transcript. An api_request event
// follows each request and would say the same.
func effectLine(e Effect) string {
	switch e.Do {
	case DoSubscribe:
		return fmt.Sprintf("subscribe %d", e.Attempt)
	case DoUnsubscribe:
		return fmt.Sprintf("unsubscribe %d", e.Attempt)
	case DoDrain:
		return fmt.Sprintf("drain %d", e.Attempt)
	case DoPull:
		return pullLine(e)
	case DoRequest:
		return requestLine(e)
	case DoCancel:
		return fmt.Sprintf("cancel %d", e.Request)
	case DoPing:
		return "ping"
	case DoSuspect:
		return "suspect the link" + waitText(e.Timeout)
	case DoEcho:
		return "echo" + waitText(e.Timeout)
	case DoProven:
		return "link proven"
	case DoEvent:
		return eventLine(e.Event)
	case DoAcceptHeld:
		return fmt.Sprintf("accept what %d holds", e.Attempt)
	case DoDropHeld:
		return fmt.Sprintf("drop what %d holds", e.Attempt)
	case DoOpened:
		return "opened" + errText(e.Err)
	case DoReplaced:
		return fmt.Sprintf("replaced %d%s", e.Ticket, errText(e.Err))
	case DoRaise:
		return "raise" + errText(e.Err)
	case DoEnd:
		return "end" + errText(e.Err)
	case DoGiveBack:
		return "give back"
	case DoDone:
		return "all done"
	}
	panic(fmt.Sprintf("unknown effect %d", e.Do))
}

func waitText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf(" after %s for a message on its way", d)
}

func pullLine(e Effect) string {
	q := e.Pull
	s := fmt.Sprintf("pull %d #%d batch=%d", e.Attempt, q.Token, q.Batch)
	if q.MaxBytes > 0 {
		s += fmt.Sprintf(" bytes=%d", q.MaxBytes)
	}
	return s + fmt.Sprintf(" expires=%s heartbeat=%s", q.Expires, q.Heartbeat)
}

var startNames = map[StartKind]string{
	StartAll: "all", StartNew: "new", StartLast: "last", StartLastPerSubject: "last-per-subject",
	StartSequence: "sequence", StartTime: "time", StartPosition: "position",
}

func requestLine(e Effect) string {
	s := fmt.Sprintf("request %d %s", e.Request, e.API)
	if e.Consumer != "" {
		s += " " + e.Consumer
	}
	if e.API != APIConsumerCreate && e.API != APIConsumerUpdate {
		if e.Sequence > 0 {
			s += fmt.Sprintf(" to=%d", e.Sequence)
		}
		return s
	}
	s += " start=" + startNames[e.Create.Start]
	if e.Create.Sequence > 0 {
		s += fmt.Sprintf(":%d", e.Create.Sequence)
	}
	if e.Create.Time > 0 {
		s += fmt.Sprintf(":@%d", e.Create.Time)
	}
	if e.Create.Again {
		s += " again"
	}
	if e.Create.Lapse {
		s += " lapse"
	}
	return s
}

func eventLine(e Event) string {
	if e.Kind == KindAPIRequest {
		return ""
	}
	s := "event " + string(e.Kind)
	add := func(on bool, format string, v ...any) {
		if on {
			s += fmt.Sprintf(" "+format, v...)
		}
	}
	add(e.Session > 0, "session=%d", e.Session)
	add(e.Cause != "", "cause=%s", e.Cause)
	add(e.Consumer != "", "consumer=%s", e.Consumer)
	add(e.Sequence > 0, "seq=%d", e.Sequence)
	add(e.From > 0 && e.To == 0, "from=%d", e.From)
	add(e.To > 0, "range=%d..%d", e.From, e.To)
	add(e.Count > 0, "count=%d", e.Count)
	add(e.Attempt > 0, "attempt=%d", e.Attempt)
	add(e.Wait > 0, "wait=%s", e.Wait)
	add(e.Took > 0, "took=%s", e.Took)
	add(e.Deaf > 0, "deaf=%s", e.Deaf)
	add(e.Code > 0, "code=%d", e.Code)
	add(e.Err != nil, "err=%q", fmt.Sprint(e.Err))
	add(e.Text != "", "text=%q", e.Text)
	return s
}

// errText gives an error with the sentinel that callers branch on.
func errText(err error) string {
	if err == nil {
		return ""
	}
	s := fmt.Sprintf(" err=%q", err)
	for _, is := range sentinels {
		if errors.Is(err, is.err) {
			s += " is=" + is.name
		}
	}
	return s
}

var sentinels = []struct {
	name string
	err  error
}{
	{"ErrClosed", ErrClosed}, {"ErrConfig", ErrConfig}, {"ErrStreamNotFound", ErrStreamNotFound},
	{"ErrStreamReset", ErrStreamReset}, {"ErrGaveUp", ErrGaveUp}, {"ErrPermission", ErrPermission},
	{"ErrJetStreamNotEnabled", ErrJetStreamNotEnabled}, {"ErrConnectionClosed", ErrConnectionClosed},
	{"ErrConsumerLimit", ErrConsumerLimit}, {"ErrNameInUse", ErrNameInUse},
}
