package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// anyNode stands for a node by lot.
const anyNode = "any"

func (p Plan) checkSteps(all *Problems) {
	for i, s := range p.Steps {
		p.checkStep(all, item("steps", i), s)
	}
	if len(*all) == 0 {
		p.checkTogether(all)
	}
}

func (p Plan) checkStep(all *Problems, path string, s Step) {
	p.checkWhen(all, path+".when", s)
	all.when(s.Count > 1 && s.Every == 0, path+".count", "%d times need an interval: set every", s.Count)
	all.when(s.Every > 0 && s.Count < 2, path+".every", "it needs a count of 2 or more: how often in all")
	spec, fault, ok := p.checkFault(all, path+".fault", s.Fault)
	if !ok {
		return
	}
	length := s.Length()
	switch {
	case fault.Once && s.For > 0:
		all.add(path+".for", "%s acts once and takes no duration", spec.Name)
	case s.For > 0 && spec.For > 0 && spec.For != s.For:
		all.add(path+".for", "%s, and the fault itself says %s: leave one out", s.For, spec.For)
	case s.Every > 0 && s.Every < length:
		all.add(path+".every", "%s is shorter than the fault lasts, which is %s", s.Every, length)
	}
	p.checkNode(all, path, s, spec, fault)
	all.when(p.Phases.Inject > 0 && p.last(s) > p.Phases.Inject, path, "its last fault may end at %s, and the inject phase ends at %s", p.last(s), p.Phases.Inject)
}

func (p Plan) checkWhen(all *Problems, path string, s Step) {
	w := s.When
	switch w.Kind {
	case At:
	case Drawn:
		all.when(w.Until <= w.Time, path+".random", "to is %s, and must be after from, which is %s", w.Until, w.Time)
	case Session, Heartbeat, Sequence:
		all.when(w.Number == 0, path, "%ss are counted from 1", w.Kind)
	case Quiet:
		all.when(w.Number == 0 || w.Number > uint64(len(p.Quiet)), path+".quiet", "there %s, counted from 1", countOf(len(p.Quiet), "is", "are", "quiet window"))
		all.when(s.Count > 1, path, "a step before a quiet window comes once")
		all.when(w.After > 0, path+".after", "nothing comes after the last message but the window: leave it out")
	default:
		*all = append(*all, notOneOf(path, strconv.Quote(cut(string(w.Kind)))+" is no moment", string(w.Kind), whenKinds()))
	}
	all.when(w.After > 0 && w.Timed(), path+".after", "it goes with an event: add it to the time")
}

// checkFault reads the fault of a step or of a draw and says whether it can act here.
func (p Plan) checkFault(all *Problems, path, text string) (spec chaos.Spec, fault chaos.Fault, ok bool) {
	spec, ok = readFault(all, path, text)
	if !ok {
		return spec, fault, false
	}
	fault, _ = chaos.FindFault(spec.Name)
	before := len(*all)
	for _, why := range p.misfits(spec, fault) {
		all.add(path, "%s %s", spec.Name, why)
	}
	return spec, fault, len(*all) == before
}

// checkFaults reads the faults of all steps, by themselves.
func (p Plan) checkFaults(all *Problems) {
	for i, s := range p.Steps {
		if s.Fault != "" {
			readFault(all, item("steps", i)+".fault", s.Fault)
		}
	}
}

// readFault reads the text of a fault, which has no schedule.
func readFault(all *Problems, path, text string) (chaos.Spec, bool) {
	spec, err := chaos.ParseSpec(text)
	var wrong *proxy.FaultError
	switch {
	case errors.As(err, &wrong):
		bare := *wrong
		bare.Allowed = nil
		*all = append(*all, Problem{Path: path, Text: bare.Error(), Allowed: wrong.Allowed, Near: wrong.Suggestions()})
	case err != nil:
		all.add(path, "%v", err)
	case scheduled(text):
		all.add(path, "fault %q: %q is a schedule: when says when it comes, and for how long it lasts", cut(spec.Name), text[strings.LastIndexByte(text, '@'):])
	default:
		return spec, true
	}
	return spec, false
}

// scheduled says whether the text of a fault holds when it comes.
func scheduled(text string) bool {
	i := strings.LastIndexByte(text, '@')
	return i >= 0 && !strings.HasSuffix(strings.TrimSpace(text), ")")
}

// misfits are the reasons why a fault cannot act in this plan.
func (p Plan) misfits(s chaos.Spec, f chaos.Fault) (why []string) {
	no := func(bad bool, format string, args ...any) {
		if bad {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	clustered := p.Server.Nodes > 1
	no(f.Layer == chaos.LayerProcess && p.Server.Connect, "acts on the process of a server of the lab: leave out server.connect")
	no(f.Clustered && !clustered && !p.Server.Connect, "acts in a cluster: set server.nodes to 3")
	no(f.Clustered && strings.HasPrefix(f.Name, "step-down-") && p.Server.Replicas < 2 && clustered, "needs another replica that can lead: set server.replicas to 3")
	no(f.Name == "pause-consumer" && olderThan(p.Server.Version, 2, 11), "needs nats-server 2.11 or later, and server.version is %s", p.Server.Version)
	no(f.Name == "fill-consumers" && p.Stream.MaxConsumers == 0 && !p.Server.Connect, "fills a stream up to max_consumers: set stream.max_consumers")
	no(f.Name == "freeze-reader" && TargetKind(p.Target.Name) != "exec", "stops the process of a target, and only exec: has one")
	gone := f.Name == "delete-stream" || f.Name == "lose-store" && p.Server.Replicas < 2
	no(gone && p.Ends == "", "takes the stream away for good, and nothing that is stored then can be read: say in ends how the target is to end, or use recreate-stream")
	_, named := s.Params["node"]
	no(named && !clustered, "names a node: set server.nodes to 3")
	if name := s.Params["node"]; named && clustered && !slices.Contains(p.nodes(), name) {
		no(true, "names node %q: there are %s", cut(name), strings.Join(p.nodes(), ", "))
	}
	if n, err := strconv.Atoi(s.Params["count"]); err == nil && f.Clustered && clustered {
		no(n > p.Server.Nodes, "wants %d nodes, and there are %d", n, p.Server.Nodes)
	}
	return why
}

// nodes are the nodes of the plan's cluster: by what they do, then by name.
func (p Plan) nodes() []string {
	all := chaos.NodeRoles()
	for n := range p.Server.Nodes {
		all = append(all, "n"+strconv.Itoa(n+1))
	}
	return all
}

func (p Plan) checkNode(all *Problems, path string, s Step, spec chaos.Spec, fault chaos.Fault) {
	if s.Node == "" {
		_, named := spec.Params["node"]
		all.when(fault.OneNode && p.Server.Nodes > 1 && !named, path+".fault", "%s needs a node: a cluster whose nodes all do so forgets its streams", spec.Name)
		return
	}
	takes := slices.ContainsFunc(fault.Parameters, func(q proxy.Parameter) bool { return q.Name == "node" })
	_, twice := spec.Params["node"]
	known := append(p.nodes(), anyNode)
	switch {
	case !takes:
		all.add(path+".node", "%s acts on no node", spec.Name)
	case p.Server.Nodes < 2:
		all.add(path+".node", "there is no cluster: set server.nodes to 3")
	case twice:
		all.add(path+".node", "the fault itself names one: leave one out")
	case !slices.Contains(known, s.Node):
		*all = append(*all, notOneOf(path+".node", fmt.Sprintf("%q is no node", cut(s.Node)), s.Node, known))
	}
}

// checkTogether says which steps cannot act together: those whose time is known.
func (p Plan) checkTogether(all *Problems) {
	var specs []chaos.Spec
	for i, s := range p.Steps {
		spec, err := s.Spec()
		if err != nil {
			return // told before
		}
		if f, _ := chaos.FindFault(spec.Name); s.When.Kind != At || f.Layer != chaos.LayerProcess {
			continue
		}
		if s.Node != "" {
			spec.Params = withNode(spec.Params, s.Node)
		}
		if s.For == 0 && spec.Length() == 0 {
			spec.For = s.Length()
		}
		for n := range max(s.Count, 1) {
			spec.At = s.at(n)
			specs = append(specs, spec)
		}
		if err := chaos.CheckSchedule(specs); err != nil {
			all.add(item("steps", i), "%v", err)
			return
		}
	}
}
