package commands

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestOutage(t *testing.T) {
	type step struct {
		after time.Duration
		event reader.Event
	}
	lost := reader.Event{Kind: session.KindSessionLost, Session: 1, Cause: session.CauseReconnected}
	away := reader.Event{Kind: session.KindDisconnected, Session: 1, Sequence: 7}
	failed := reader.Event{Kind: session.KindReplaceFailed, Session: 1, Attempt: 2, Err: errors.New("no answer")}
	silent := reader.Event{Kind: session.KindSessionSilent, Session: 1, Deaf: 4 * time.Second}
	replaced := reader.Event{Kind: session.KindSessionReplaced, Session: 2}
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"healed in time", []step{{0, away}, {9 * time.Second, replaced}, {time.Minute, away}, {9 * time.Second, replaced}}, nil},
		{"told once, with its end", []step{{0, away}, {8 * time.Second, lost}, {2 * time.Second, failed}, {time.Minute, failed}, {0, replaced}}, []string{
			"warning: nothing can be read for 10s, and it goes on trying: session 1 lost cause=reconnected",
			"reading again after 1m10s",
		}},
		{"counted from the last answer", []step{{0, silent}, {6500 * time.Millisecond, replaced}}, []string{
			"warning: nothing can be read for 10s, and it goes on trying: session 1 is silent",
			"reading again after 10.5s",
		}},
		{"it healed by itself", []step{{0, silent}, {7 * time.Second, reader.Event{Kind: session.KindSessionHealed, Session: 1}}}, []string{
			"warning: nothing can be read for 10s, and it goes on trying: session 1 is silent",
			"reading again after 11s",
		}},
		{"the end is no healing", []step{{0, away}, {11 * time.Second, reader.Event{Kind: session.KindFailed, Session: 1}}, {time.Hour, replaced}}, []string{
			"warning: nothing can be read for 10s, and it goes on trying: disconnected sequence=7",
		}},
		{"closed before", []step{{0, away}, {time.Second, reader.Event{Kind: session.KindClosed, Session: 1}}}, nil},
		{"the first session is the command's", []step{{0, reader.Event{Kind: session.KindReplaceFailed}}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said []string
				o := outage{note: func(format string, args ...any) { said = append(said, oneLine(fmt.Sprintf(format, args...))) }}
				for _, s := range test.steps {
					time.Sleep(s.after)
					synctest.Wait()
					o.follows(s.event)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if !slices.Equal(said, test.want) {
					t.Errorf("said %q, want %q", said, test.want)
				}
			})
		})
	}
}
