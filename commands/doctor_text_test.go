package commands

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// hostile is a name that would move the cursor, end a table and run a command.
const hostile = "a\x1b[2J|`x`'; rm -rf ~ #\u202e<b>"

// What servers and clients are called by others stays text, in every format.
func TestDoctorHostileNames(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := doctor.Facts{
		Schema: doctor.FactsSchema, Began: at, Ended: at.Add(6 * time.Second), Account: doctor.Account{Known: true},
		Streams: []doctor.Stream{{Name: "S", Created: at}},
		Consumers: []doctor.Consumer{{
			Stream: "S", Name: hostile, Created: at, Config: doctor.ConsumerConfig{Durable: hostile},
			Samples: []doctor.Sample{{Time: at, Pending: 1}, {Time: at.Add(3 * time.Second), Pending: 1}, {Time: at.Add(6 * time.Second), Pending: 1}},
		}},
	}
	r := doctor.Judge(f, doctor.JudgeOptions{})
	if len(r.Findings) != 1 {
		t.Fatalf("found %+v", r.Findings)
	}
	for _, format := range doctorFormats {
		var out bytes.Buffer
		if err := printDiagnosis(&out, doctorPlan{format: format}, r); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.ContainsRune(text, '\x1b') && format != "prometheus" || strings.ContainsRune(text, '\u202e') && format != "prometheus" && format != "json" {
			t.Errorf("%s: it moves the cursor: %q", format, text)
		}
		switch format {
		case "text":
			// Quoted for a shell as a whole.
			if want := `nats consumer rm S 'a?[2J|` + "`x`" + `'\''; rm -rf ~ #?<b>'`; !strings.Contains(text, want) {
				t.Errorf("the command is not %s in\n%s", want, text)
			}
		case "junit":
			if err := xml.Unmarshal(out.Bytes(), new(struct{})); err != nil {
				t.Error(err)
			}
		case "nagios":
			if strings.Count(text, "|") != 1 || strings.Count(text, "\n") != 1 {
				t.Errorf("it is not one line with figures: %q", text)
			}
		}
	}
}
