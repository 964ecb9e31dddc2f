package proxy

import (
	"fmt"
	"slices"
	"testing"
)

// learn gives the frames of a client to a knowledge.
func learn(t *testing.T, k *knowledge, stream string) {
	t.Helper()
	d := decoder{dir: Up}
	var fr frame
	for b := []byte(stream); len(b) > 0; b = b[fr.bytes():] {
		if err := d.scan(b, &fr); err != nil {
			t.Fatal(err)
		}
		k.sent(&fr)
	}
}

func deliver(t *testing.T, k *knowledge, last *counter, message string) frame {
	t.Helper()
	d := decoder{dir: Down}
	var fr frame
	if err := d.scan([]byte(message), &fr); err != nil {
		t.Fatal(err)
	}
	k.received(&fr, last)
	return fr
}

func sids(k *knowledge) []string {
	var out []string
	for _, s := range k.snapshot(1).Subscriptions {
		out = append(out, s.SID)
	}
	slices.Sort(out)
	return out
}

// A subscription ends as the server ends it: at its maximum, counted from its SUB.
func TestAutoUnsubscribe(t *testing.T) {
	k := newKnowledge("")
	var last counter
	learn(t, k, "SUB a 1\r\nSUB b 2\r\nSUB c 3\r\n")
	for range 2 {
		deliver(t, k, &last, "MSG a 1 0\r\n\r\n")
	}
	learn(t, k, "UNSUB 1 3\r\nUNSUB 2 1\r\n")
	if got := sids(k); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Fatalf("subscriptions %v before the maximum", got)
	}
	deliver(t, k, &last, "MSG a 1 0\r\n\r\n")
	deliver(t, k, &last, "MSG c 3 0\r\n\r\n")
	if got := sids(k); !slices.Equal(got, []string{"2", "3"}) {
		t.Fatalf("subscriptions %v, want 1 to have ended", got)
	}
	learn(t, k, "UNSUB 3 1\r\n") // reached already
	deliver(t, k, &last, "MSG b 2 0\r\n\r\n")
	deliver(t, k, &last, "MSG b 2 0\r\n\r\n")
	if got := sids(k); len(got) != 0 {
		t.Fatalf("subscriptions %v, want none", got)
	}
	learn(t, k, "SUB a 1\r\nUNSUB 1\r\nUNSUB 77\r\n")
	if got := sids(k); len(got) != 0 {
		t.Fatalf("subscriptions %v, want none", got)
	}
}

func TestPullInboxesAreFound(t *testing.T) {
	const pull = "PUB $JS.API.CONSUMER.MSG.NEXT.S.C %s 0\r\n\r\n"
	for _, c := range []struct {
		subject, reply string
		want           bool
	}{
		{"_INBOX.a", "_INBOX.a", true},
		{"_INBOX.a.*", "_INBOX.a.7", true},
		{"_INBOX.a.>", "_INBOX.a.7.8", true},
		{"_INBOX.>", "_INBOX.a.7.8", true},
		{"_INBOX.*.7", "_INBOX.a.7", true},
		{"*.a.*", "_INBOX.a.7", true},
		{">", "_INBOX.a", true},
		{"_INBOX.a.*", "_INBOX.b.7", false},
		{"_INBOX.a.*", "_INBOX.a.7.8", false},
		{"_INBOX.a", "_INBOX.ab", false},
	} {
		k := newKnowledge("")
		learn(t, k, "SUB other 1\r\nSUB "+c.subject+" 2\r\n"+fmt.Sprintf(pull, c.reply))
		dropped := k.forget(func(s *subscription) bool { return s.pulls })
		if got := len(dropped) == 1 && dropped[0].sid == "2"; got != c.want {
			t.Errorf("%s for a pull on %s: %+v", c.subject, c.reply, dropped)
		}
		if k.forget(func(s *subscription) bool { return s.pulls }) != nil {
			t.Errorf("%s is dropped twice", c.subject)
		}
		if s := k.snapshot(1); s.Pulls != 1 || s.APIRequests != 1 {
			t.Errorf("counted %d pulls, %d requests", s.Pulls, s.APIRequests)
		}
	}
}

func TestAnswersBelongToRequests(t *testing.T) {
	k := newKnowledge("")
	var last counter
	learn(t, k, "SUB _INBOX.m.* 1\r\nPUB $JS.API.CONSUMER.INFO.S.C _INBOX.m.1 0\r\n\r\nPUB $JS.API.CONSUMER.MSG.NEXT.S.C _INBOX.m.2 0\r\n\r\nPUB plain _INBOX.m.3 0\r\n\r\n")
	for subject, want := range map[string]string{"_INBOX.m.1": "$JS.API.CONSUMER.INFO.S.C", "_INBOX.m.2": "", "_INBOX.m.3": ""} {
		fr := deliver(t, k, &last, "MSG "+subject+" 1 0\r\n\r\n")
		if got := k.answered(&fr); got != want {
			t.Errorf("%s answers %q, want %q", subject, got, want)
		}
		if got := k.answered(&fr); got != "" {
			t.Errorf("%s answers %q a second time", subject, got)
		}
	}
}

func TestWaitingRequestsAreBounded(t *testing.T) {
	k := newKnowledge("")
	for i := range 5 * maxRequests {
		learn(t, k, fmt.Sprintf("PUB $JS.API.INFO _INBOX.m.%d 0\r\n\r\n", i))
		if i%2 == 0 {
			var last counter
			fr := deliver(t, k, &last, fmt.Sprintf("MSG _INBOX.m.%d 1 0\r\n\r\n", i))
			k.answered(&fr)
		}
	}
	if len(k.requests) > maxRequests || len(k.order) > 2*maxRequests {
		t.Fatalf("%d requests are kept in %d places", len(k.requests), len(k.order))
	}
	var last counter
	fr := deliver(t, k, &last, fmt.Sprintf("MSG _INBOX.m.%d 1 0\r\n\r\n", 5*maxRequests-1))
	if k.answered(&fr) == "" {
		t.Error("the latest request is forgotten")
	}
}
