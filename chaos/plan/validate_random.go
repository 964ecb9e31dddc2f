package plan

import (
	"slices"
	"strconv"
)

func (p Plan) checkRandom(all *Problems) {
	r := p.Random
	if r == nil {
		return
	}
	before := len(*all)
	all.when(r.Count < 1, "random.count", "%d faults are none: leave out random", r.Count)
	for i, layer := range r.Layers {
		if !slices.Contains(layers(), layer) {
			*all = append(*all, notOneOf(item("random.layers", i), strconv.Quote(cut(layer))+" is no layer", layer, layers()))
		}
	}
	for i, w := range r.Faults {
		path := item("random.faults", i)
		if w.weight() > 0 {
			p.checkFault(all, path+".fault", w.Fault)
		}
		all.when(w.weight() < 0, path+".weight", "%d is below 0", w.weight())
	}
	for _, span := range []struct {
		path string
		Range
	}{{"random.gap", r.gap()}, {"random.length", r.length()}} {
		all.when(span.Least > span.Most, span.path, "least is %s, and most is %s", span.Least, span.Most)
	}
	all.when(r.length().Least < minLength, "random.length", "%s is too short for a fault: want %s or more", r.length().Least, minLength)
	for i, n := range r.Nodes {
		path := item("random.nodes", i)
		switch {
		case p.Server.Nodes < 2:
			all.add(path, "there is no cluster: set server.nodes to 3")
		case !slices.Contains(p.nodes(), n):
			*all = append(*all, notOneOf(path, strconv.Quote(cut(n))+" is no node", n, p.nodes()))
		}
	}
	all.when(p.Phases.Inject > 0 && r.latest() > p.Phases.Inject, "random", "its last fault may end at %s, and the inject phase ends at %s", r.latest(), p.Phases.Inject)
	all.when(len(*all) == before && len(p.urn()) == 0, "random", "no fault is left that can be drawn")
}
