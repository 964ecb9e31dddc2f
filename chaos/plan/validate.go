package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Validate says all that is wrong with a plan, as Problems without a place in a text.
func (p Plan) Validate() error { return p.problems().err() }

func (p Plan) problems() (all Problems) {
	p.checkHead(&all)
	p.checkServer(&all)
	p.checkStream(&all)
	p.checkLoad(&all)
	p.checkTarget(&all)
	p.checkQuiet(&all)
	p.checkSteps(&all)
	p.checkRandom(&all)
	p.checkExpect(&all)
	return all
}

var (
	plainWord    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	versionWord  = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]+)?$`)
	ownAccounts  = regexp.MustCompile(`(?m)^\s*"?(authorization|accounts|no_auth_user|operator|resolver)"?\s*[:={ ]`)
	consumerWord = regexp.MustCompile(`^[^\s.*>/\\]{1,255}$`)
)

// mostNodes is how many nodes a cluster of the lab can have.
const mostNodes = 9

// longestWord is how long the name of a plan or a tag may be.
const longestWord = 64

func (p Plan) checkHead(all *Problems) {
	if p.Schema != SchemaName {
		*all = append(*all, Problem{Path: "schema", Text: strconv.Quote(cut(p.Schema)) + " is no schema of a plan", Allowed: []string{SchemaName}})
	}
	word := func(path, text string) {
		all.when(!plainWord.MatchString(text) || len(text) > longestWord, path,
			"%q: want at most %d lower-case letters and digits, with single hyphens between", cut(text), longestWord)
	}
	word("name", p.Name)
	all.when(strings.TrimSpace(p.Title) == "" || strings.ContainsAny(p.Title, "\r\n"), "title", "want one line of text")
	for i, tag := range p.Tags {
		path := item("tags", i)
		word(path, tag)
		all.when(slices.Contains(p.Tags[:i], tag), path, "%q is there twice", tag)
	}
}

func item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func (p Plan) checkServer(all *Problems) {
	s := p.Server
	all.when(s.Version != "" && !versionWord.MatchString(s.Version), "server.version", "%q: want a release such as 2.10.22", cut(s.Version))
	all.when(s.Nodes > mostNodes, "server.nodes", "a cluster of the lab has at most %d nodes", mostNodes)
	all.when(s.Replicas > max(s.Nodes, 1) && !s.Connect, "server.replicas", "%d replicas need so many nodes, and there %s", s.Replicas, countOf(max(s.Nodes, 1), "is", "are", "node"))
	all.when(s.Replicas > 5, "server.replicas", "a stream has at most 5 replicas")
	all.when(ownAccounts.MatchString(s.Config), "server.config", "users and accounts are the lab's own: revoke-permission takes rights from the target's user")
	if !s.Connect {
		return
	}
	const own = "it is for a server of the lab, and connect takes the one that the command line names"
	all.when(s.Version != "", "server.version", own)
	all.when(s.Nodes > 0, "server.nodes", own)
	all.when(s.Config != "", "server.config", own)
}

// countOf is a number of things with its verb: is 1 node, are 3 nodes.
func countOf(n int, one, more, thing string) string {
	if n == 1 {
		return one + " 1 " + thing
	}
	return more + " " + strconv.Itoa(n) + " " + thing + "s"
}

func (p Plan) checkStream(all *Problems) {
	s := p.Stream
	limited := s.MaxMessages > 0 || s.MaxBytes > 0 || s.MaxMessagesPerSubject > 0
	all.when(s.Discard == DiscardNew && !limited, "stream.discard", "new refuses messages of a full stream, and no limit can fill it: set max_msgs or max_bytes")
	all.when(s.MaxAge > 0 && s.MaxAge < 100*time.Millisecond, "stream.max_age", "%s: a server takes 100ms and more", s.MaxAge)
	kept := s.Retention == Interest || s.Retention == WorkQueue
	all.when(kept && p.Target.Durable == "", "stream.retention", "%s removes what is acknowledged, and a private reader acknowledges nothing: set target.durable", s.Retention)
	all.when(kept && p.Load.Prefill > 0 && s.Retention == Interest, "load.prefill", "a stream of retention interest keeps nothing before its first consumer is there")
	all.when(s.MadeAfter > 0 && !p.Target.WaitForStream, "stream.made_after", "the target has to wait for it: set target.wait_for_stream")
	all.when(s.MadeAfter > 0 && p.Load.Prefill > 0, "stream.made_after", "it excludes load.prefill: there is no stream yet to be filled")
}

func (p Plan) checkLoad(all *Problems) {
	l := p.Load
	all.when(l.Writers > 0 && l.Writers < l.Subjects, "load.writers", "%s for %d subjects: some have none", counted(l.Writers, "writer"), l.Subjects)
	if b := l.Bursts; b != nil {
		all.when(b.Every < 10*time.Millisecond, "load.bursts.every", "%s: want 10ms or more", b.Every)
	}
	p.checkSize(all)
}

// mostBytes is what the load of a plan may publish in a second.
const mostBytes = 200 << 20

func (p Plan) checkSize(all *Problems) {
	rate := p.Load.Rate
	all.when(rate*p.Load.Size > mostBytes, "load.size", "%d messages of %d bytes a second are more than the %d MiB that a plan may publish", rate, p.Load.Size, mostBytes>>20)
}

func (p Plan) checkQuiet(all *Problems) {
	for i, w := range p.Quiet {
		path := item("quiet", i)
		if i > 0 {
			before := p.Quiet[i-1]
			all.when(w.From < before.From+before.For, path+".from", "%s is within the window before, which ends at %s: write the windows in order", w.From, before.From+before.For)
		}
		all.when(p.Phases.Inject > 0 && w.From+w.For > p.Phases.Inject, path, "it ends at %s, and the inject phase at %s", w.From+w.For, p.Phases.Inject)
	}
}
