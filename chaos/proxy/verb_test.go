package proxy

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Verbs and directions read back what they write.
func TestWordsReadBack(t *testing.T) {
	for v := NoVerb; v < verbs; v++ {
		text, err := v.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		got := verbs
		if err := got.UnmarshalText(text); err != nil || got != v {
			t.Errorf("%q reads back as %v, %v", text, got, err)
		}
	}
	want := map[Direction]Frame{
		Up:   {Direction: Up, Verb: HPUB, Subject: "a", Fate: Passed},
		Down: {Direction: Down, Verb: ERR, Text: "'x'", Fate: Dropped},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got map[Direction]Frame
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s reads back as %+v, %v", text, got, err)
	}
}

// A word that is none names those that would do, and the nearest.
func TestUnknownWords(t *testing.T) {
	var v Verb
	var d Direction
	const all = "want INFO, CONNECT, PING, PONG, SUB, UNSUB, PUB, HPUB, MSG, HMSG, +OK, -ERR"
	for _, c := range []struct {
		err  error
		want string
	}{
		{v.UnmarshalText([]byte("HMGS")), `verb "HMGS": ` + all + `; did you mean HMSG?`},
		{v.UnmarshalText([]byte("conect")), `verb "conect": ` + all + `; did you mean CONNECT?`},
		{v.UnmarshalText([]byte("ERR")), `verb "ERR": ` + all + `; did you mean -ERR?`},
		{v.UnmarshalText([]byte("publication")), `verb "publication": ` + all},
		{d.UnmarshalText([]byte("dwon")), `direction "dwon": want up, down; did you mean down?`},
		{d.UnmarshalText([]byte("")), `direction "": want up, down`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}
