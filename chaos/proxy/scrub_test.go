package proxy_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// scrubber takes out of captured bytes what differs from run to run (names drawn at random, times, ports) and
// puts something of the same length in its place, the same for the same, so that frames stay as they are.
type scrubber struct{ names map[string]string }

func newScrubber() *scrubber { return &scrubber{names: map[string]string{}} }

// variable finds what differs: an expression, whose first group it is, and the letter that stands for its kind.
var variable = []struct {
	kind string
	what *regexp.Regexp
}{
	{"N", regexp.MustCompile(`"server_id":"(N[A-Z2-7]{55})"`)},
	{"X", regexp.MustCompile(`"xkey":"(X[A-Z2-7]{55})"`)},
	{"C", regexp.MustCompile(`"nonce":"([^"]+)"`)},
	{"I", regexp.MustCompile(`_INBOX\.([0-9A-Za-z]{22})\b`)},
	{"R", regexp.MustCompile(`_INBOX\.[0-9A-Za-z]{22}\.([0-9A-Za-z]{8})\b`)},
	{"E", regexp.MustCompile(`"name":"([0-9A-Za-z]{8})"`)},
	{"O", regexp.MustCompile(`"name":"([0-9A-Za-z]{22})_\d+"`)},
	{"O", regexp.MustCompile(`CONSUMER\.CREATE\.ORDERS\.([0-9A-Za-z]{22})_\d+`)},
	{"E", regexp.MustCompile(`CONSUMER\.CREATE\.ORDERS\.([0-9A-Za-z]{8})\b`)},
	{"P", regexp.MustCompile(`"port":(\d{4,5}),`)},
}

var (
	stamped = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	acked   = regexp.MustCompile(`(\$JS\.ACK\.\S+\.)\d{19}(\.\d+)`)
)

func (s *scrubber) scrub(stream []byte) []byte {
	for _, v := range variable {
		for _, found := range v.what.FindAllSubmatch(stream, -1) {
			if name := string(found[1]); s.names[name] == "" {
				s.names[name] = s.standIn(v.kind, len(name))
			}
		}
	}
	// Each name at once: what stands for one is never taken for another.
	var pairs []string
	for name, other := range s.names {
		pairs = append(pairs, name, other)
	}
	out := []byte(strings.NewReplacer(pairs...).Replace(string(stream)))
	out = acked.ReplaceAll(out, []byte("${1}1000000000000000000${2}"))
	return stamped.ReplaceAllFunc(out, func(at []byte) []byte {
		return append([]byte("2000-01-01T00:00:00.111111111")[:len(at)-1], 'Z')
	})
}

// standIn is the next name of a kind, of the length that is asked for.
func (s *scrubber) standIn(kind string, length int) string {
	if kind == "P" { // a number, in JSON
		return strings.Repeat("4", length)
	}
	n := 1
	for _, other := range s.names {
		if strings.HasPrefix(other, kind) {
			n++
		}
	}
	number := fmt.Sprint(n)
	return kind + strings.Repeat("0", length-len(kind)-len(number)) + number
}

func TestScrubKeepsLengths(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 120_000_000, time.UTC)
	inbox := strings.Repeat("aB3", 7) + "z"
	stream := []byte(fmt.Sprintf("MSG _INBOX.%[1]s.Zz345678 1 $JS.ACK.ORDERS.c.1.2.3.%[2]d.4 {\"port\":12345,\"time\":\"%[3]s\",\"to\":\"_INBOX.%[1]s\"}",
		inbox, at.UnixNano(), at.Format(time.RFC3339Nano)))
	got := newScrubber().scrub(stream)
	if len(got) != len(stream) {
		t.Errorf("%d bytes of %d: %s", len(got), len(stream), got)
	}
	want := "MSG _INBOX.I000000000000000000001.R0000001 1 $JS.ACK.ORDERS.c.1.2.3.1000000000000000000.4 " +
		`{"port":44444,"time":"2000-01-01T00:00:00.11Z","to":"_INBOX.I000000000000000000001"}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again := newScrubber().scrub(got); !bytes.Equal(again, got) {
		t.Errorf("scrubbed again it is\n%s", again)
	}
}
