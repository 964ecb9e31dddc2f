package plan

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// minLength is the shortest that a drawn fault lasts.
const minLength = 10 * time.Millisecond

// layers are those that faults can be drawn from.
func layers() []string { return fieldsRule("Layers").one }

// ball is one fault that can be drawn, so often beside the others.
type ball struct {
	text   string
	spec   chaos.Spec
	fault  chaos.Fault
	weight int
}

// urn is all that the random section draws from, in the order of the catalogue, then of
// the plan.
func (p Plan) urn() (all []ball) {
	r := p.Random
	from := r.Layers
	if from == nil && len(r.Faults) == 0 {
		from = layers()
	}
	put := func(text string, weight int, named bool) {
		spec, err := chaos.ParseSpec(text)
		if err != nil {
			return
		}
		f, _ := chaos.FindFault(spec.Name)
		if !named && f.Destructive || len(p.misfits(spec, f)) > 0 || p.beyondReach(f) {
			return
		}
		i := slices.IndexFunc(all, func(b ball) bool { return b.text == spec.Fault() })
		if i >= 0 {
			all = slices.Delete(all, i, i+1)
		}
		if weight > 0 {
			all = append(all, ball{spec.Fault(), spec, f, weight})
		}
	}
	for _, f := range chaos.Faults() {
		if slices.Contains(from, string(f.Layer)) {
			put(f.Name, 1, false)
		}
	}
	for _, w := range r.Faults {
		put(w.Fault, w.weight(), true)
	}
	return all
}

// beyondReach says whether a fault acts on code that a program of its own has inside.
func (p Plan) beyondReach(f chaos.Fault) bool {
	return TargetKind(p.Target.Name) == "exec" && f.Layer == chaos.LayerReader && f.Name != "freeze-reader"
}

// drawn gives the steps of the random section: plain ones.
func (p Plan) drawn(l lots) (steps []Step) {
	balls := p.urn()
	total := 0
	for _, b := range balls {
		total += b.weight
	}
	at := p.Random.Begin
	for i := range p.Random.Count {
		d := l.at("random", i)
		if gap := p.Random.gap(); i > 0 {
			at += d.between("gap", gap.Least, gap.Most)
		}
		ticket, b := d.below("fault", total), ball{}
		for _, b = range balls {
			if ticket -= b.weight; ticket < 0 {
				break
			}
		}
		s := p.drawOne(d, b)
		s.When = When{Kind: At, Time: at}
		steps = append(steps, s)
		if !p.Random.Overlap {
			at += s.For
		}
	}
	return steps
}

// drawTries is how often parameters are drawn until they go together.
const drawTries = 20

// drawOne draws the parameters that are not written, the node and the length of a fault.
func (p Plan) drawOne(l lots, b ball) Step {
	var s Step
	if !b.fault.Once {
		length := p.Random.length()
		s.For = l.between("length", length.Least, length.Most)
		if b.spec.For > 0 {
			s.For = b.spec.For
		}
	}
	spec := chaos.Spec{Name: b.spec.Name, Params: b.spec.Params}
	if draw := parameterDraws[b.fault.Name]; draw != nil && len(spec.Params) == 0 {
		for try := range drawTries {
			params := map[string]string{}
			draw(l.at("parameters", try), params)
			if with := (chaos.Spec{Name: spec.Name, Params: params}); with.Validate() == nil {
				spec = with
				break
			}
		}
	}
	if node := p.drawNode(l, b.fault); node != "" && spec.Params["node"] == "" {
		spec.Params = withNode(spec.Params, node)
	}
	s.Fault = spec.Fault()
	return s
}

// readersNode is the node that the target is connected to.
const readersNode = "reader"

// drawNode draws the node of a fault that takes one; "": all of them, where it can be.
func (p Plan) drawNode(l lots, f chaos.Fault) string {
	takes := slices.ContainsFunc(f.Parameters, func(q proxy.Parameter) bool { return q.Name == "node" })
	if !takes || p.Server.Nodes < 2 || !f.Clustered && !f.OneNode && l.chance("all nodes", 30) {
		return ""
	}
	from := p.Random.Nodes
	if len(from) == 0 {
		from = p.nodes()
		if TargetKind(p.Target.Name) == "exec" { // nobody knows where a program is connected to
			from = slices.DeleteFunc(from, func(n string) bool { return n == readersNode })
		}
	}
	return l.one("node", from...)
}
