package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// captured are the versions whose frames are in testdata/streams, oldest first.
var captured = []string{"2.10.7", "2.10.22", "2.11.17", "2.12.15", "2.14.0", "2.14.10", "2.15.3"}

// newerThan compares a version as knowledge does.
func newerThan(version string) func(major, minor int) bool {
	k := knowledge{}
	k.server.Version = version
	return k.newer
}

// statusesOf returns the statuses that a captured server sent to the pulls on X.*, whole, by the last token.
func statusesOf(t *testing.T, version string) map[string][]byte {
	t.Helper()
	stream := corpus(t)["down-captured-"+version]
	d := decoder{dir: Down}
	var fr frame
	out := make(map[string][]byte)
	for n := 0; len(stream) > 0; n++ {
		if err := d.scan(stream, &fr); err != nil {
			t.Fatal(err)
		}
		code, text := statusOf(fr.headers)
		if token, ok := strings.CutPrefix(string(fr.subject), "X."); ok && code > 0 {
			out[fmt.Sprintf("%s %d %s", token, code, text)] = bytes.Clone(stream[:fr.bytes()])
		}
		stream = stream[fr.bytes():]
	}
	return out
}

// pullOf is the pull that a status answers, as far as the status tells.
func pullOf(token string, headers []byte) *waitingPull {
	return &waitingPull{
		sid: "3", consumer: headerNumber(headers, lastConsumer, 0), stream: headerNumber(headers, lastStream, 0),
		pull: pull{
			subject: "$JS.API.CONSUMER.MSG.NEXT.ORDERS.raw", reply: "X." + token,
			messages: int(headerNumber(headers, pendingMessages, 0)), bytes: int(headerNumber(headers, pendingBytes, 0)),
		},
	}
}

// forgerOf is the effect of forge-status for one status; lines are its header lines, each with its end.
func forgerOf(t *testing.T, code int, text, lines string) *statusForger {
	t.Helper()
	orNone := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	f := Fault{Name: forgeStatus.Name, Params: map[string]string{
		"code": strconv.Itoa(code), "text": orNone(text),
		"headers": orNone(strings.TrimSuffix(strings.ReplaceAll(lines, "\r\n", "\n"), "\n")),
	}}
	a, err := forgeStatus.arguments(f)
	if err != nil {
		t.Fatal(err)
	}
	e, err := forgeStatus.build(a)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*statusForger)
}

// What is forged in front of a server of a version is what that version sends, byte for byte; in front of another
// one the parameters of forge-status write it.
func TestForgedAsEachVersionSays(t *testing.T) {
	kinds := make(map[string][]string)
	for _, version := range captured {
		for what, real := range statusesOf(t, version) {
			token, status, _ := strings.Cut(what, " ")
			if !slices.Contains(kinds[status], version) {
				kinds[status] = append(kinds[status], version)
			}
			_, headers, _ := bytes.Cut(real, []byte("\r\n"))
			code, text := statusOf(headers)
			p := pullOf(token, headers)
			own := statusHeaders(code, string(text), p, newerThan(version))
			m := message{subject: p.reply, headers: statusLine(code, string(text)) + own + "\r\n"}
			if forged := m.frame(p.sid); !bytes.Equal(forged, real) {
				t.Errorf("%s, %s: the server says\n%q\nforged is\n%q", version, what, real, forged)
			}
			for _, other := range captured {
				if forged := forgerOf(t, code, string(text), own).message(p, newerThan(other)).frame(p.sid); !bytes.Equal(forged, real) {
					t.Errorf("%s in front of %s, %s: the server says\n%q\nforged is\n%q", version, other, what, real, forged)
				}
			}
		}
	}
	for status, versions := range kinds {
		want := captured
		if strings.HasPrefix(status, "503") { // 2.10.22 and older answer nothing where no consumer is
			want = captured[2:]
		}
		if !slices.Equal(versions, want) {
			t.Errorf("%s is captured from %v, want %v", status, versions, want)
		}
	}
	if len(kinds) < 10 {
		t.Errorf("only %d kinds of status are captured: %v", len(kinds), kinds)
	}
}
