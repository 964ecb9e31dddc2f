package run

import (
	"context"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// steps are those of the plan for the runner of faults.
func (r *run) steps() ([]chaos.Step, error) {
	var steps []chaos.Step
	ends := time.Now().Add(r.plan.Phases.Inject)
	for _, s := range r.plan.Steps {
		spec, err := s.Spec()
		if err != nil {
			return nil, err
		}
		step := chaos.Step{Spec: spec}
		switch s.When.Kind {
		case plan.Session, plan.Heartbeat, plan.Sequence:
			step.When = func(ctx context.Context) bool {
				ctx, cancel := context.WithDeadline(ctx, ends)
				defer cancel()
				return r.moments.await(ctx, s.When.Kind, s.When.Number) && pass(ctx, s.When.After) == nil
			}
		case plan.Quiet:
			window := s.When.Number - 1
			step.When = func(ctx context.Context) bool {
				return await(ctx, r.windows.begins[window], r.plan.Phases.Inject+injectGrace) == nil
			}
			step.Acts = r.windows.acting[window].Done
		case plan.At, plan.Drawn:
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// environment is what the faults act on.
func (r *run) environment() *chaos.Environment {
	s := r.stage
	env := &chaos.Environment{
		Stream: s.stream, JS: s.manage, Status: r.statusNow, Proxy: s.proxy, Lab: s.lab, Cluster: s.cluster,
		ReaderUser: s.foreign == nil,
	}
	if s.foreign != nil {
		env.AllowServerFaults, env.TargetName, env.Journal = s.foreign.AllowServerFaults, s.foreign.TargetName, s.foreign.Journal
	}
	if program, is := r.target.(chaos.Program); is && r.traits.Process {
		env.Program = program
	} else {
		env.Pace, env.Connected = &r.pace, s.connected
	}
	return env
}

// firing is told a step of a fault.
func (r *run) firing(f chaos.Firing) {
	acted := -1
	if kind, _ := chaos.FindFault(f.Spec.Name); f.Phase == chaos.PhaseEnded && kind.Layer == chaos.LayerWire {
		acted = r.wire.actedSoFar(f.Spec.Fault())
	}
	if f.Phase == chaos.PhaseFired {
		r.record.came()
	}
	r.tell(Progress{Time: f.Time, Fault: &f, Acted: acted})
}
