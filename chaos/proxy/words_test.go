package proxy

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"", "a", true},
		{">", "a.b", true},
		{"a.b", "a.b", true},
		{"a.b", "a.b.c", false},
		{"a.b.c", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"*.b", "a.b", true},
		{"a.>", "a.b.c", true},
		{"a.>", "a", false},
		{"_INBOX.>", "_INBOX.x.*", true},
		{"_INBOX.*.*", "_INBOX.x.*", true},
		{"_INBOX.x.*", "_INBOX.x.>", false},
		{"_INBOX.x.1", "_INBOX.x.*", false},
		{"CONSUMER.>", "CONSUMER.INFO.S.C", true},
	} {
		if got := pattern(c.pattern).matches(c.subject); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.subject, got)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"", "x", true}, {"*", "", true}, {"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true},
		{"a*b", "ab", true}, {"a*b", "a", false}, {"aa*aa", "aaa", false}, {"a*x*b", "a-x-b", true}, {"a*x*b", "a--b", false},
	} {
		if got := glob(c.glob).matches(c.name); got != c.want {
			t.Errorf("%q matches %q: %v", c.glob, c.name, got)
		}
	}
}

func TestAckSubject(t *testing.T) {
	want := ackSubject{stream: "S", consumer: "C", deliveries: 1, streamSequence: 22, consumerSequence: 3, pending: 4}
	for _, reply := range []string{
		"$JS.ACK.S.C.1.22.3.1700000000000000000.4",
		"$JS.ACK.hub.ACCHASH.S.C.1.22.3.1700000000000000000.4",
		"$JS.ACK._.ACCHASH.S.C.1.22.3.1700000000000000000.4.rand",
		"$JS.ACK._.ACCHASH.S.C.1.22.3.1700000000000000000.4.rand.more",
	} {
		got, ok := parseAck(reply)
		if !ok || got != want {
			t.Errorf("%s: %+v, %v", reply, got, ok)
		}
		if !isAck([]byte(reply)) {
			t.Errorf("%s is no ack subject", reply)
		}
	}
	for _, reply := range []string{"", "$JS.ACK.S.C", "$JS.ACK.x.S.C.1.22.3.17.4", "$JS.ACK.S.C.1.x.3.17.4", "$JS.API.S.C.1.2.3.17.4"} {
		if got, ok := parseAck(reply); ok {
			t.Errorf("%q: %+v", reply, got)
		}
	}
}

func TestAPIRequest(t *testing.T) {
	for _, c := range []struct{ subject, extra, want string }{
		{"$JS.API.INFO", "", "INFO"},
		{"$JS.API.CONSUMER.MSG.NEXT.S.C", "", "CONSUMER.MSG.NEXT.S.C"},
		{"$JS.hub.API.CONSUMER.INFO.S.C", "", "CONSUMER.INFO.S.C"},
		{"ACME.JS.API.STREAM.INFO.S", "ACME.JS.API.", "STREAM.INFO.S"},
		{"ACME.JS.API.STREAM.INFO.S", "", ""},
		{"$JS.ACK.S.C.1.2.3.4.5", "", ""},
		{"$JS.API.", "", ""},
		{"$JS.API", "", ""},
		{"$JS.hub.API", "", ""},
		{"$JS.EVENT.ADVISORY.API", "", ""},
		{"orders.new", "", ""},
	} {
		got, ok := apiRequest(c.subject, c.extra)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", c.subject, got, ok)
		}
	}
}

func TestMembersAreRemovedByteForByte(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1,"connect_urls":["x","y"],"b":2}`, `{"a":1,"b":2}`},
		{`{"connect_urls":["x"]}`, `{}`},
		{`{"connect_urls":[],"a": 1 }`, `{"a": 1 }`},
		{`{ "a" : 1 , "connect_urls" : ["x"] , "b":{"connect_urls":[1]} }`, `{ "a" : 1 , "b":{"connect_urls":[1]} }`},
		{`{"a":1,"ws_connect_urls":["x"],"connect_urls":null}`, `{"a":1}`},
		{`{"a":"connect_urls"}`, `{"a":"connect_urls"}`},
		{`{"n":1e400,"s":"\u00e9\\"}`, `{"n":1e400,"s":"\u00e9\\"}`},
	} {
		got, err := stripMembers([]byte(c.in), []string{"connect_urls", "ws_connect_urls"})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.in, got, err)
		}
		if !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
	for _, in := range []string{`{"connect_urls":[`, `["connect_urls"]`, `connect_urls`, `{"connect_urls":[]`} {
		if got, err := stripMembers([]byte(in), []string{"connect_urls"}); err == nil {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestSelectionCounts(t *testing.T) {
	for _, c := range []struct{ fault, want string }{
		{"api-timeout", "1111111111"},
		{"api-timeout(nth=3)", "0010000000"},
		{"api-timeout(every=3)", "0010010010"},
		{"api-timeout(nth=2,every=3)", "0100100100"},
		{"api-timeout(limit=2)", "1100000000"},
		{"api-timeout(every=2,limit=2)", "0101000000"},
		{"drop-message", "1000000000"},
		{"drop-message(nth=4)", "0001000000"},
		{"drop-message(every=4)", "0001000100"},
		{"drop-message(limit=3)", "1110000000"},
	} {
		f, err := ParseFault(c.fault)
		if err != nil {
			t.Fatal(err)
		}
		e := entryNamed(f.Name)
		a, err := e.arguments(f)
		if err != nil {
			t.Fatal(err)
		}
		built, err := e.build(a)
		if err != nil {
			t.Fatal(err)
		}
		fires := built.(interface{ fires() bool })
		var got strings.Builder
		for range 10 {
			if fires.fires() {
				got.WriteByte('1')
			} else {
				got.WriteByte('0')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s fires %s, want %s", c.fault, got.String(), c.want)
		}
	}
}

func TestUpstreamAddress(t *testing.T) {
	for in, want := range map[string]string{
		"nats://127.0.0.1:4222":  "127.0.0.1:4222",
		"127.0.0.1:4333":         "127.0.0.1:4333",
		"localhost":              "localhost:4222",
		"nats://u:p@example.com": "example.com:4222",
		"nats://[::1]:14222/":    "[::1]:14222",
		"NATS://127.0.0.1:4222":  "127.0.0.1:4222",
		"tls://127.0.0.1:4222":   "127.0.0.1:4222",
		"nats://a:1, b:2":        "a:1",
	} {
		p, err := New(in, Options{})
		if err != nil || p.Upstream() != want {
			t.Errorf("%s: %v, %v", in, p, err)
			continue
		}
		p.Close()
	}
	for in, says := range map[string]string{
		"":                          "empty",
		"ws://127.0.0.1:80":         "WebSocket is not spoken",
		"wss://127.0.0.1:80":        "WebSocket is not spoken",
		"http://127.0.0.1":          `scheme "http"`,
		"nats://a:1,":               "empty",
		"nats://a:1,ws://b:2":       "WebSocket is not spoken",
		"nats://user:secret@":       "no server address",
		"nats://user:secret@host:x": "no server address",
		"host:0":                    "port 0",
		"host:70000":                "port 70000",
		"nats://host/path":          "no server address",
	} {
		_, err := New(in, Options{})
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want it to say %q", in, err, says)
		}
	}
}
