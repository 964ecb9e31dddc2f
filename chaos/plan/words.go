package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Section is one part of a plan in words.
type Section struct {
	Head  string   `json:"head"`
	Lines []string `json:"lines"` // sentences; each begins a line
}

// Words tells the plan in English: what server, who publishes, who reads, what happens
// when, and what must hold.
func (p Plan) Words() []Section {
	var all []Section
	say := func(head string, lines ...string) {
		if lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" }); len(lines) > 0 {
			all = append(all, Section{head, lines})
		}
	}
	say("Why", strings.Join(strings.Fields(p.Why), " "))
	say("Server", p.serverWords(), p.streamWords())
	say("Load", p.loadWords()...)
	say("Target", p.targetWords()...)
	say("Steady", fmt.Sprintf("For %s all is read as it is published; if not, nothing is injected and nothing judged.", short(orElse(p.Phases.Steady, defaultSteady))))
	say("Faults", p.faultWords()...)
	say("Quiet", p.quietWords()...)
	then := "then"
	if p.Phases.Settle > 0 {
		then = short(p.Phases.Settle) + " later"
	}
	say("Recover", fmt.Sprintf("All faults are cleared. Within %s the target reads what is published after that; %s nobody publishes, and within %s it has read all that is stored%s.",
		short(orElse(p.Phases.Recover, defaultRecover)), then, short(orElse(p.Phases.Drain, defaultDrain)),
		onlyIf(p.Target.Durable != "", ", a durable within %s more", short(oracle.DefaultAckWait))))
	say("Must hold", p.contractWords()...)
	say("Expected", p.expectWords()...)
	if p.Seed > 0 {
		say("Seed", fmt.Sprintf("%d.", p.Seed))
	}
	return all
}

// sentence joins what is said into one sentence.
func sentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func onlyIf(said bool, format string, args ...any) string {
	if !said {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (p Plan) serverWords() string {
	s := p.Server
	if s.Connect {
		return "The server that the command line names."
	}
	version := ", of the version that the program brings"
	if s.Version != "" {
		version = " " + s.Version
	}
	what := "one nats-server of the lab" + version
	if s.Nodes > 1 {
		what = fmt.Sprintf("a cluster of %d nats-servers of the lab%s", s.Nodes, version)
	}
	return sentence(what, onlyIf(s.Config != "", "with config of the plan's own"))
}

func (p Plan) streamWords() string {
	s := p.Stream
	store := "in a file store"
	if p.Server.Storage == Memory {
		store = "in memory"
	}
	keeps := map[Retention]string{Interest: "until all consumers have acknowledged it", WorkQueue: "until one consumer has acknowledged it"}[s.Retention]
	return sentence("its stream keeps messages "+store,
		onlyIf(p.Server.Replicas > 1, "on %d nodes", p.Server.Replicas),
		onlyIf(keeps != "", "each %s", keeps),
		onlyIf(s.MaxMessages > 0, "at most %d", s.MaxMessages),
		onlyIf(s.MaxMessagesPerSubject > 0, "at most %d of one subject", s.MaxMessagesPerSubject),
		onlyIf(s.MaxBytes > 0, "at most %d bytes", s.MaxBytes),
		onlyIf(s.MaxAge > 0, "none older than %s", short(s.MaxAge)),
		onlyIf(s.Discard == DiscardNew, "and refuses what is too much"),
		onlyIf(s.MaxConsumers > 0, "for at most %s", counted(s.MaxConsumers, "consumer")),
		onlyIf(s.FirstSequence > 1, "from sequence %d on", s.FirstSequence),
		onlyIf(s.MadeAfter > 0, "and is made %s after the target began to open it", short(s.MadeAfter)))
}

func (p Plan) loadWords() []string {
	l := p.Load
	subjects := orElse(l.Subjects, 1)
	writers := orElse(l.Writers, subjects)
	who := "One writer publishes"
	if writers > 1 {
		who = fmt.Sprintf("%d writers publish", writers)
	}
	text := fmt.Sprintf("%s %d messages a second", who, orElse(l.Rate, defaultRate))
	if l.Size > 0 {
		text += fmt.Sprintf(" of %d bytes", l.Size)
	}
	if subjects > 1 {
		text += fmt.Sprintf(" to %d subjects", subjects)
	}
	lines := []string{text + "."}
	if l.Bursts != nil {
		lines = append(lines, fmt.Sprintf("Every %s they publish %d more at once.", short(l.Bursts.Every), l.Bursts.Count))
	}
	if l.Prefill > 0 {
		lines = append(lines, fmt.Sprintf("%s are stored before the target opens.", counted(l.Prefill, "message")))
	}
	return lines
}

func (p Plan) targetWords() []string {
	t := p.Target
	name := orElse(t.Name, TargetReader)
	what := "a reader of nats-reader"
	if command, exec := strings.CutPrefix(name, execPrefix); exec {
		what = "the program " + command
	} else if name != TargetReader {
		what = name + ", a reader of nats.go"
	}
	length := func(what string, d time.Duration) string { return onlyIf(d > 0, "%s %s", what, short(d)) }
	lines := []string{
		sentence(what, onlyIf(t.Durable != "", "through the durable %s, with acks", t.Durable),
			onlyIf(t.Start != "" && t.Start != StartAll, "from: %s", t.Start),
			onlyIf(len(t.Subjects) > 0, "of the load's subjects only %s", strings.Trim(fmt.Sprint(t.Subjects), "[]")),
			onlyIf(t.Work > 0, "whose caller works %s on each message", short(t.Work))),
		sentence(length("heartbeat", t.Heartbeat), length("expires", t.Expires), onlyIf(t.Batch > 0, "batch %d", t.Batch),
			onlyIf(t.MaxBytes > 0, "at most %d bytes read ahead", t.MaxBytes), onlyIf(t.Consumer != "", "consumer %s", t.Consumer),
			onlyIf(t.OnError != "", "on error %s", t.OnError), onlyIf(t.OnMissed != "", "on missed %s", t.OnMissed), onlyIf(t.OnReset != "", "on reset %s", t.OnReset),
			onlyIf(t.WaitForStream, "waits for a missing stream"), length("stream grace", t.StreamGrace), length("pauses at most", t.RetryMax),
			length("gives up a recovery after", t.RetryTimeout), length("an attempt at most", t.AttemptTimeout),
			length("inactive threshold", t.InactiveThreshold), onlyIf(t.KeepConnection, "keeps its connection"), onlyIf(t.Replicas > 0, "consumer on %d nodes", t.Replicas)),
	}
	return lines
}

func (p Plan) faultWords() (lines []string) {
	for _, s := range p.Steps {
		lines = append(lines, s.words())
	}
	if r := p.Random; r != nil {
		from := "those that can act here and destroy no messages"
		switch {
		case len(r.Layers) > 0:
			from = "those of the layers " + strings.Join(r.Layers, ", ")
		case len(r.Faults) > 0:
			from = "those that the plan names"
		}
		lines = append(lines, fmt.Sprintf("%s by lot, from %s; the seed fixes them.", counted(r.Count, "fault"), from))
	}
	if len(lines) == 0 {
		lines = []string{"None."}
	}
	return lines
}

// words tells a step: when, what, what that does, and for how long.
func (s Step) words() string {
	when := s.When.String()
	text := strings.ToUpper(when[:1]) + when[1:] + ": " + s.Fault
	spec, err := s.Spec()
	fault, known := chaos.FindFault(spec.Name)
	if err != nil || !known {
		return text + "."
	}
	switch {
	case s.Node == anyNode:
		text += " on a node by lot"
	case s.Node != "":
		text += " on " + s.Node
	}
	text += ": " + fault.Does
	if length := s.Length(); length > 0 {
		text += "; for " + short(length)
	}
	if s.Count > 1 {
		text += fmt.Sprintf("; %d times, every %s", s.Count, short(s.Every))
	}
	return text + "."
}

func (p Plan) quietWords() (lines []string) {
	for _, w := range p.Quiet {
		lines = append(lines, fmt.Sprintf("From %s to %s nothing is published.", short(w.From), short(w.From+w.For)))
	}
	return lines
}

func (p Plan) expectWords() (lines []string) {
	for _, name := range sortedKeys(p.Expect) {
		lines = append(lines, fmt.Sprintf("Of %s: contract %s.", name, p.Expect[name]))
	}
	return lines
}
