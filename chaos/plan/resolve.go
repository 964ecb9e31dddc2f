package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Defaults of a plan.
const (
	defaultRate    = 100
	defaultSteady  = time.Second
	defaultInject  = 10 * time.Second // of a plan without steps
	defaultRecover = 20 * time.Second
	defaultDrain   = 20 * time.Second
	eventBound     = 30 * time.Second // for a step that waits for an event
)

// Resolve gives the plan with every default filled in and every draw fixed: the same
// for the same seed, byte for byte. Seed 0 is the plan's own, or else 1. A plan that was
// resolved before stays as it is. The steps of the result are in the order of their
// time (at one time in that of the plan), those that wait for an event last; none has a repetition, a node or a moment by
// lot. Errors are Problems.
func (p Plan) Resolve(seed uint64) (Plan, error) {
	if err := p.Validate(); err != nil {
		return Plan{}, err
	}
	out := p.clone()
	if !p.drawsLeft() && p.Seed > 0 {
		seed = p.Seed
	}
	out.Seed = cmp.Or(seed, p.Seed, 1)
	out.fillIn()
	l := lots{seed: out.Seed}
	out.Steps = nil
	for i, s := range p.Steps {
		out.Steps = append(out.Steps, out.fix(s, l, i)...)
	}
	if p.Random != nil {
		out.Steps = append(out.Steps, out.drawn(l)...)
		out.Random = nil
	}
	out.makeRoom(p.fixedSteps())
	out.sortSteps()
	if err := out.fillInject(); err != nil {
		return Plan{}, err
	}
	return out, out.Validate()
}

// clone is the plan without slices and pointers that another could change.
func (p Plan) clone() Plan {
	p.Tags, p.Steps, p.Quiet = slices.Clone(p.Tags), slices.Clone(p.Steps), slices.Clone(p.Quiet)
	p.Target.Subjects = slices.Clone(p.Target.Subjects)
	return p
}

// drawsLeft says whether anything is left to the seed.
func (p Plan) drawsLeft() bool {
	return p.Random != nil || slices.ContainsFunc(p.Steps, func(s Step) bool { return s.When.Kind == Drawn || s.Node == anyNode })
}

func (p *Plan) fillIn() {
	if !p.Server.Connect {
		p.Server.Nodes = orElse(p.Server.Nodes, 1)
	}
	p.Server.Replicas = orElse(p.Server.Replicas, 1)
	p.Server.Storage = orElse(p.Server.Storage, File)
	p.Stream.Retention = orElse(p.Stream.Retention, Limits)
	p.Stream.Discard = orElse(p.Stream.Discard, DiscardOld)
	p.Load.Rate = orElse(p.Load.Rate, defaultRate)
	p.Load.Subjects = orElse(p.Load.Subjects, 1)
	p.Load.Writers = orElse(p.Load.Writers, p.Load.Subjects)
	p.Target.Name = orElse(p.Target.Name, TargetReader)
	if p.Target.Durable == "" {
		p.Target.Start = orElse(p.Target.Start, StartAll)
	}
	p.Phases.Steady = orElse(p.Phases.Steady, defaultSteady)
	p.Phases.Recover = orElse(p.Phases.Recover, defaultRecover)
	p.Phases.Drain = orElse(p.Phases.Drain, defaultDrain)
}

// fix gives a step for each repetition, with all that is left to the seed drawn.
func (p Plan) fix(s Step, l lots, number int) (steps []Step) {
	spec, err := s.Spec()
	if err != nil {
		return nil // Validate told it
	}
	for n := range max(s.Count, 1) {
		d := l.at("step", number).at("time", n)
		one := Step{When: s.When, For: s.Length()}
		later := time.Duration(n) * s.Every
		switch s.When.Kind {
		case At:
			one.When.Time += later
		case Drawn:
			one.When = When{Kind: At, Time: d.between("time", s.When.Time, s.When.Until) + later}
		default:
			one.When.After += later
		}
		with := chaos.Spec{Name: spec.Name, Params: spec.Params}
		switch s.Node {
		case "":
		case anyNode:
			names := p.nodes()[len(chaos.NodeRoles()):]
			with.Params = withNode(with.Params, d.one("node", names...))
		default:
			with.Params = withNode(with.Params, s.Node)
		}
		one.Fault = with.Fault()
		steps = append(steps, one)
	}
	return steps
}

// fixedSteps is how many steps, repetitions included, have a time of their own.
func (p Plan) fixedSteps() (fixed []bool) {
	for _, s := range p.Steps {
		for range max(s.Count, 1) {
			fixed = append(fixed, s.When.Kind != Drawn)
		}
	}
	return fixed
}

// roomStep is by how much a drawn fault is put off until the server's process is free.
const roomStep = 100 * time.Millisecond

// makeRoom puts off the drawn faults that would meet another one on the server's process.
func (p *Plan) makeRoom(fixed []bool) {
	isFixed := func(i int) bool { return i < len(fixed) && fixed[i] }
	var taken []chaos.Spec
	for _, wanted := range []bool{true, false} {
		for i := range p.Steps {
			s := &p.Steps[i]
			if isFixed(i) != wanted || s.When.Kind != At {
				continue
			}
			spec, _ := s.Spec()
			if f, _ := chaos.FindFault(spec.Name); f.Layer != chaos.LayerProcess {
				continue
			}
			for !wanted && chaos.CheckSchedule(append(slices.Clone(taken), spec)) != nil {
				s.When.Time += roomStep
				spec.At = s.When.Time
			}
			taken = append(taken, spec)
		}
	}
}

// sortSteps puts the steps in the order of their time, as far as it is known.
func (p *Plan) sortSteps() {
	known := func(s Step) time.Duration {
		switch s.When.Kind {
		case At:
			return s.When.Time
		case Quiet:
			return p.Quiet[s.When.Number-1].From
		}
		return 1<<63 - 1
	}
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return cmp.Compare(known(a), known(b)) })
}

// fillInject sets the bound of the inject phase, or checks that of the plan.
func (p *Plan) fillInject() error {
	var end time.Duration
	for _, s := range p.Steps {
		last := p.last(s)
		if !s.When.Timed() && s.When.Kind != Quiet && p.Phases.Inject == 0 {
			last += eventBound
		}
		end = max(end, last)
	}
	for _, w := range p.Quiet {
		end = max(end, w.From+w.For)
	}
	switch {
	case p.Phases.Inject > 0 && end > p.Phases.Inject:
		return Problems{{Path: "phases.inject", Text: fmt.Sprintf("with seed %d the last fault ends at %s, and the phase at %s", p.Seed, end, p.Phases.Inject)}}
	case p.Phases.Inject > 0:
	case len(p.Steps) == 0 && len(p.Quiet) == 0:
		p.Phases.Inject = defaultInject
	default:
		p.Phases.Inject = end + time.Second
	}
	return nil
}
