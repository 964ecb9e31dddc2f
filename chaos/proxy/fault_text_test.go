package proxy

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFaultPrintsAndParsesBack(t *testing.T) {
	for _, c := range []struct {
		text, printed string
		want          Fault
	}{
		{"cut", "cut", Fault{Name: "cut"}},
		{" cut() ", "cut", Fault{Name: "cut"}},
		{"drop-message(nth=3)", "drop-message(nth=3)", Fault{Name: "drop-message", Params: map[string]string{"nth": "3"}}},
		{"api-timeout( pulls = true , subject = CONSUMER.> )", "api-timeout(subject=CONSUMER.>,pulls=true)",
			Fault{Name: "api-timeout", Params: map[string]string{"subject": "CONSUMER.>", "pulls": "true"}}},
		{"black-hole(for=1500ms,direction=up)", "black-hole(direction=up,for=1.5s)",
			Fault{Name: "black-hole", Params: map[string]string{"direction": "up"}, For: 1500 * time.Millisecond}},
		{`cut(conn="a, b)=\"@")`, `cut(conn="a, b)=\"@")`, Fault{Name: "cut", Params: map[string]string{"conn": `a, b)="@`}}},
		{`cut(conn="plain")`, `cut(conn=plain)`, Fault{Name: "cut", Params: map[string]string{"conn": "plain"}}},
	} {
		t.Run(c.text, func(t *testing.T) {
			f, err := ParseFault(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(f, c.want) {
				t.Errorf("parsed %#v, want %#v", f, c.want)
			}
			if got := f.String(); got != c.printed {
				t.Errorf("printed %s, want %s", got, c.printed)
			}
			data, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			var back Fault
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, f) {
				t.Errorf("%s gives %#v, want %#v", data, back, f)
			}
		})
	}
}

func TestWrongFaultsAreNamed(t *testing.T) {
	for _, c := range []struct{ text, field, says string }{
		{"drop-mesage", "", "no such fault; allowed: drop-subscription, swallow-sub"},
		{"", "", "no such fault"},
		{"cut(", "", "closing parenthesis is missing"},
		{"cut(conn=a", "conn", "closing parenthesis is missing"},
		{"cut(conn)", "", `"conn" is not parameter=value`},
		{"cut(=a)", "", "not parameter=value"},
		{"cut@5s", "", "a schedule such as @5s+10s is no part of a fault"},
		{"drop-message(nth=3)@5s+0s", "", `unexpected "@5s+0s"`},
		{"cut(conn=a,conn=b)", "conn", "given twice"},
		{"black-hole(for=1s,for=2s)", "for", "given twice"},
		{"cut(conn=)", "conn", "the value is empty"},
		{`cut(conn="a)`, "conn", "closing quote"},
		{`cut(conn="a"b)`, "conn", "a comma or the closing parenthesis"},
		{"cut(for=3s)", "for", "acts once and takes no duration"},
		{"black-hole(for=0s)", "for", "want a duration above 0"},
		{"black-hole(for=soon)", "for", "want a duration above 0"},
		{"black-hole(direction=left)", "direction", "allowed: up, down, both"},
		{"drop-message(nht=3)", "nht", "no such parameter; allowed: subject, seq, header, last, conn, sid, nth, every, limit, for"},
		{"cut(x=1)", "x", "no such parameter; allowed: conn"},
		{"drop-message(nth=0)", "nth", "want a whole number from 1"},
		{"drop-message(nth=-1)", "nth", "want a whole number from 1"},
		{"drop-message(last=1s,nth=2)", "last", "does not go with nth"},
		{"drop-message(last=9000h)", "last", "at most 1000h"},
		{"api-timeout(pulls=maybe)", "pulls", "want true or false"},
		{"api-timeout(subject=a..b)", "subject", "no empty token"},
		{"api-timeout(subject=>.a)", "subject", "end of a subject"},
		{"api-timeout(sid=1)", "sid", "no such parameter"},
		{"api-error(err_code=99999,code=400,text=x)", "err_code", "want 1 to 65535"},
		{"api-error(err_code=1,text=x)", "code", "needed beside err_code 1"},
		{"api-error(err_code=1,code=400)", "text", "needed beside err_code 1"},
		{"api-error(code=200)", "code", "want 400 to 599"},
		{"delay-api(pulls=true)", "pulls", "goes with what=request only"},
		{"delay-api(what=both)", "what", "allowed: answer, request"},
		{"drop-status(code=7)", "code", "want 100 to 999"},
		{"drop-status(code=4090)", "code", "want 100 to 999"},
		{"forge-status(code=99)", "code", "want 100 to 999"},
		{"forge-status(on=never)", "on", "allowed: waiting, pulls"},
		{`forge-status(text="a\nb")`, "text", "no line end"},
		{"forge-status(headers=Nats)", "headers", "Name: value"},
		{"permission-denied(verb=read)", "verb", "allowed: publish, subscribe, both"},
		{"latency(delay=10ms,jitter=1s)", "jitter", "more than the delay"},
		{"bandwidth(rate=0)", "rate", "want a whole number from 1"},
		{"bandwidth(rate=1000000000000000)", "rate", "at most"},
		{"reset(for=1s)", "for", "acts once and takes no duration"},
		{"reorder-messages(behind=0)", "behind", "want a whole number from 1"},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := ParseFault(c.text)
			var wrong *FaultError
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v, want a *FaultError", err)
			}
			if wrong.Field != c.field || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("field %q: %s\nwant field %q and %q", wrong.Field, err, c.field, c.says)
			}
		})
	}
}

func TestApplyRefusesWhatIsNoFault(t *testing.T) {
	p, err := New("127.0.0.1:4222", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, f := range []Fault{
		{},
		{Name: "cut", For: time.Second},
		{Name: "black-hole", For: -time.Second},
		{Name: "drop-message", Params: map[string]string{"nth": "x"}},
	} {
		var wrong *FaultError
		if _, err := p.Apply(f); !errors.As(err, &wrong) {
			t.Errorf("%v: got %v, want a *FaultError", f, err)
		}
	}
	if in := p.Faults(); len(in) != 0 {
		t.Errorf("in force: %v", in)
	}
}

// The catalogue says all a user needs, and its defaults are values of their types.
func TestCatalogue(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range Catalogue() {
		if e.Name == "" || e.Where == "" || e.Words == "" || e.Undo == "" || seen[e.Name] {
			t.Errorf("entry %+v is incomplete or doubled", e)
		}
		seen[e.Name] = true
		f := Fault{Name: e.Name}
		if err := f.Validate(); err != nil {
			t.Errorf("%s without parameters: %v", e.Name, err)
		}
		names := make(map[string]bool)
		for _, p := range e.Parameters {
			if p.Name == "" || p.Words == "" || names[p.Name] || p.Name == durationField {
				t.Errorf("%s: parameter %+v is incomplete or doubled", e.Name, p)
			}
			names[p.Name] = true
			if p.Default != "" {
				if _, problem := p.read(p.Default); problem != "" {
					t.Errorf("%s: default of %s: %s", e.Name, p.Name, problem)
				}
			}
			if (p.Type == Word) != (len(p.Allowed) > 0) {
				t.Errorf("%s: %s is a %s with allowed %v", e.Name, p.Name, p.Type, p.Allowed)
			}
		}
		if !names["conn"] {
			t.Errorf("%s cannot be limited to a connection", e.Name)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"cut", "drop-message(nth=3,limit=2)", `cut(conn="a\x00b")`, "black-hole(direction=up,for=10s)", "api-timeout(subject=CONSUMER.>)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fault, err := ParseFault(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("the error has more than one line: %q", err)
			}
			var wrong *FaultError
			if !errors.As(err, &wrong) {
				t.Fatalf("%q: %v is no *FaultError", s, err)
			}
			for _, near := range wrong.Suggestions() {
				if !slices.Contains(wrong.Allowed, near) {
					t.Fatalf("%q: suggested %q, allowed are %q", s, near, wrong.Allowed)
				}
			}
			return
		}
		back, err := ParseFault(fault.String())
		if err != nil {
			t.Fatalf("%q prints as %q: %v", s, fault, err)
		}
		if !reflect.DeepEqual(back, fault) {
			t.Fatalf("%q prints as %q, which is %#v, not %#v", s, fault, back, fault)
		}
	})
}
