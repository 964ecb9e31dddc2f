package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

const explainSchema = "nats-reader/explain/v1"

// topic is the kind of a word that can be explained.
type topic string

// The topics, in the order they are listed.
const (
	topicStatus topic = "status"
	topicCode   topic = "err_code"
	topicEvent  topic = "event"
	topicCause  topic = "cause"
	topicState  topic = "state"
	topicFault  topic = "fault"
	topicCheck  topic = "check"
	topicExit   topic = "exit_code"
)

var topics = []topic{topicStatus, topicCode, topicEvent, topicCause, topicState, topicFault, topicCheck, topicExit}

// entry explains one word.
type entry struct {
	Topic  topic  `json:"topic"`
	Word   string `json:"word"`
	Text   string `json:"text,omitempty"` // the server's own words, of a status or code
	Means  string `json:"means"`
	Reader string `json:"reader"` // what the reader does about it
	Do     string `json:"do"`     // what to do about it
}

// entries is everything that can be explained.
func entries() []entry {
	return slices.Concat(statusEntries(), codeEntries(), eventEntries(), causeEntries(), stateEntries(), faultEntries(), checkEntries(), exitEntries())
}

// faultEntries come from the catalogue: what a fault does is written in one place.
func faultEntries() []entry {
	var all []entry
	for _, f := range chaos.Faults() {
		e := entry{
			Topic: topicFault, Word: f.Name,
			Means:  fmt.Sprintf("%s. Where: %s.", capital(f.Does), f.Where),
			Reader: fmt.Sprintf("%s After the fault: %s. Danger: %s.", faultOutcome(f), f.Undo, f.Danger),
			Do:     fmt.Sprintf("Write it as %s%s; with %s.", faultExample(f), map[bool]string{true: ", or without + until the end"}[!f.Once && f.Default == 0], layerWords[f.Layer]),
		}
		for _, q := range f.Parameters {
			e.Do += fmt.Sprintf(" %s=%s: %s.", q.Name, strings.ToUpper(string(q.Type)), q.Words)
		}
		all = append(all, e)
	}
	return all
}

// faultOutcome says what a reader makes of a fault.
func faultOutcome(f chaos.Fault) string {
	if f.Name == "delete-stream" || f.Name == "lose-store" {
		return "Waits for the stream's grace and ends with that error, or waits on with --wait-for-stream."
	}
	return "Heals, within the deafness the contract allows."
}

func faultExample(f chaos.Fault) string {
	switch {
	case f.Once:
		return f.Name + "@5s"
	case f.Default > 0:
		return fmt.Sprintf("%s@5s+%s", f.Name, f.Default)
	default:
		return f.Name + "@5s+10s"
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

const explainDescription = `What the server, the reader and the doctor say, and what to do about it. WORD is
a status of a pull (409, or its text), an err_code of the JetStream API (10059),
a kind of event, a cause, a state of a reader, a fault, a check of doctor
(READER_003, or 3) or an exit code. Blanks, "-" and "_" are alike.`

var explainExamples = []example{
	{line: "nats-reader explain --list", about: "every word there is"},
	{line: "nats-reader explain 409 consumer deleted", about: "what a server answered"},
	{line: "nats-reader explain 10059", about: "the err_code of an API error"},
	{line: "nats-reader explain READER_003", about: "a finding of doctor"},
	{line: "nats-reader explain exit 2", about: "how a command ended"},
}

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "what a status, code, event, state, fault or check means; what to do",
		ArgsUsage: "[WORD...]", Description: explainDescription,
		Flags: []cli.Flag{
			boolFlag(flagList, "", "list every word; as without a word"),
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: func(c *cli.Context) error {
			asJSON, err := wantsJSON(c)
			if err != nil {
				return err
			}
			if c.Bool(flagList) && c.NArg() > 0 {
				return usage{problem: fmt.Sprintf("explain --%s takes no word: %q is one too many", flagList, c.Args().First()), hint: "leave one of them out"}
			}
			return p.explain(strings.Join(c.Args().Slice(), " "), asJSON)
		},
	}
}

func (p *program) explain(word string, asJSON bool) error {
	all := entries()
	found := all
	if word != "" {
		found = lookUp(all, word)
		if i := strings.IndexAny(word, "(@"); len(found) == 0 && i > 0 { // a fault as it is written elsewhere
			found = lookUp(all, word[:i])
		}
		if id := doctor.CheckID(word); id != "" && (len(found) == 0 || found[0].Topic == topicExit) { // a check by its number alone
			found = append(found, lookUp(all, id)...)
		}
		if len(found) == 0 {
			u := usage{
				problem: fmt.Sprintf("nothing is known by the word %q", word),
				hint:    didYouMean(word, wordsOf(all), "nats-reader explain --list has all words"),
			}
			if near := proxy.Nearest(word, chaos.FaultNames()); len(nearest(word, wordsOf(all))) == 0 && len(near) > 0 {
				u.hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return u
		}
	}
	switch {
	case asJSON:
		return json.NewEncoder(p.stdout).Encode(struct {
			Schema  string  `json:"schema"`
			Entries []entry `json:"entries"`
		}{explainSchema, found})
	case word == "":
		return listWords(p.stdout, all)
	default:
		return printEntries(p.stdout, found)
	}
}

// lookUp finds a word by itself, by the server's text, or by both: "409 consumer
// deleted". Case, "-" and "_" do not matter. An exact hit wins over a part.
func lookUp(all []entry, word string) []entry {
	want := plainWord(word)
	var exact, part []entry
	for _, e := range all {
		name, text := plainWord(e.Word), plainWord(e.Text)
		switch {
		case want == name, want == text && text != "", want == name+" "+text, want == plainWord(string(e.Topic))+" "+name, e.Topic == topicExit && want == "exit "+name:
			exact = append(exact, e)
		case text != "" && len(want) > 3 && (strings.Contains(name+" "+text, want) || strings.Contains(want, text)):
			part = append(part, e)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return part
}

func plainWord(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '-' || r == '_' || r == '"'
	}), " "))
}

func wordsOf(all []entry) []string {
	var words []string
	for _, e := range all {
		words = append(words, e.Word)
		if e.Text != "" {
			words = append(words, e.Text)
		}
	}
	return words
}

func printEntries(w io.Writer, found []entry) error {
	said := func(text string) string { return fold(text, len("  means:  ")) }
	for i, e := range found {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		title := e.Word
		if e.Text != "" {
			title += fmt.Sprintf(" %q", e.Text)
		}
		title = fold(fmt.Sprintf("%s (%s)", title, e.Topic), 0)
		second := "reader:"
		if e.Topic == topicCheck { // what a finding means for whom it is about
			second = "why:   "
		}
		if _, err := fmt.Fprintf(w, "%s\n  means:  %s\n  %s %s\n  do:     %s\n", title, said(e.Means), second, said(e.Reader), said(e.Do)); err != nil {
			return err
		}
	}
	return nil
}

// wordColumn is where what is said of a word begins in the list of all.
const wordColumn = 23

// listWords lists all words, a topic after the other.
func listWords(w io.Writer, all []entry) error {
	for _, t := range topics {
		if _, err := fmt.Fprintf(w, "%s\n", strings.ToUpper(string(t))); err != nil {
			return err
		}
		for _, e := range all {
			if e.Topic != t {
				continue
			}
			about := e.Text
			if about == "" {
				about, _, _ = strings.Cut(e.Means, ". ")
			}
			if _, err := fmt.Fprintf(w, "  %-20s %s\n", e.Word, fold(strings.TrimSuffix(about, "."), wordColumn)); err != nil {
				return err
			}
		}
	}
	return nil
}
