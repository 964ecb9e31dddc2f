package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/target"
)

// TargetReader is the target that is the reader of this project.
const TargetReader = "reader"

// execPrefix begins a target that is any program.
const execPrefix = "exec:"

// targetNames are those that Expect can have.
func targetNames() []string { return append(target.Names(), "exec", Others) }

// TargetKind is the name of a target as Expect has it: without its parameters, and exec
// for every command.
func TargetKind(name string) string {
	if strings.HasPrefix(name, execPrefix) {
		return "exec"
	}
	name, _, _ = strings.Cut(name, "(")
	return strings.TrimSpace(name)
}

// Defaults of a reader, where a setting is judged beside one that is not given.
const (
	readerHeartbeat = 2 * time.Second
	readerExpires   = 30 * time.Second
)

func (p Plan) checkTarget(all *Problems) {
	t := p.Target
	if t.Name != "" {
		_, err := target.Parse(t.Name)
		var wrong *target.Error
		if errors.As(err, &wrong) {
			bare := *wrong
			bare.Allowed = nil
			*all = append(*all, Problem{Path: "target.name", Text: bare.Error(), Allowed: wrong.Allowed, Near: wrong.Suggestions()})
		}
	}
	for i, n := range t.Subjects {
		path := item("target.subjects", i)
		all.when(n < 1 || n > max(p.Load.Subjects, 1), path, "the load has the subjects 1 to %d", max(p.Load.Subjects, 1))
		all.when(slices.Contains(t.Subjects[:i], n), path, "subject %d is there twice", n)
	}
	all.when(t.Durable != "" && !consumerWord.MatchString(t.Durable), "target.durable", "%q is no name of a consumer: a name has no blank, dot, slash or wildcard", cut(t.Durable))
	all.when(t.Consumer != "" && !consumerWord.MatchString(t.Consumer), "target.consumer", "%q is no name of a consumer: a name has no blank, dot, slash or wildcard", cut(t.Consumer))
	all.when(t.Durable != "" && t.Consumer != "", "target.consumer", "it excludes durable, which has its own name")
	all.when(t.Durable != "" && t.OnMissed == "skip", "target.on_missed", "skip excludes durable: a durable's position is the server's")
	all.when(t.Durable != "" && t.Start != "" && t.Start != StartAll, "target.start", "%s excludes durable, which begins where it stands", t.Start)
	all.when(t.Replicas > max(p.Server.Nodes, 1) && !p.Server.Connect, "target.replicas", "%d replicas need so many nodes, and there %s", t.Replicas, countOf(max(p.Server.Nodes, 1), "is", "are", "node"))
	heartbeat, expires := orElse(t.Heartbeat, readerHeartbeat), orElse(t.Expires, readerExpires)
	all.when(heartbeat > expires/2, "target.heartbeat", "%s is more than half of expires, which is %s", heartbeat, expires)
}

// orElse is d, or what stands for 0.
func orElse[T comparable](d, otherwise T) T {
	var zero T
	if d == zero {
		return otherwise
	}
	return d
}

func (p Plan) checkExpect(all *Problems) {
	known := targetNames()
	for _, name := range sortedKeys(p.Expect) {
		path := join("expect", name)
		if !slices.Contains(known, name) {
			*all = append(*all, notOneOf(path, fmt.Sprintf("%q is no target", cut(name)), name, known))
		}
		if f := p.Expect[name]; !slices.Contains(findings(), string(f)) {
			*all = append(*all, notOneOf(path, fmt.Sprintf("%q is no finding", cut(string(f))), string(f), findings()))
		}
	}
}
