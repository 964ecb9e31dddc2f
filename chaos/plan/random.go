package plan

import "time"

// Random draws steps from the catalogue. Each draw depends on the seed and its number
// alone.
type Random struct {
	// Count is how many faults are drawn.
	Count int `yaml:"count" need:"true" least:"1" most:"1000"`
	// Layers are those whose faults are drawn, each with the weight 1: all that can act
	// in this plan and destroy no messages. Default all layers, unless Faults are given.
	Layers []string `yaml:"layers,flow,omitempty" one:"wire,server,process,reader"`
	// Faults are drawn as they are written, or with parameters by lot where none is
	// written; by weight, beside those of Layers, whose weight they set.
	Faults  []Weighted    `yaml:"faults,omitempty"`
	Begin   time.Duration `yaml:"begin,omitempty"`       // when the first comes; default 0
	Gap     *Range        `yaml:"gap,flow,omitempty"`    // between the end of one and the next; default 500ms to 3s
	Length  *Range        `yaml:"length,flow,omitempty"` // of those that last; default 500ms to 4s
	Overlap bool          `yaml:"overlap,omitempty"`     // Gap counts from the beginning of the one before
	Nodes   []string      `yaml:"nodes,flow,omitempty"`  // which of a cluster; default what they do, and all names
}

// Weighted is a fault and how often it is drawn beside the others.
type Weighted struct {
	Fault  string `yaml:"fault" need:"true"`
	Weight *int   `yaml:"weight,omitempty" most:"1000"` // default 1; 0: never
}

func (w Weighted) weight() int {
	if w.Weight == nil {
		return 1
	}
	return *w.Weight
}

// Range is from the least to the most of a length.
type Range struct {
	Least time.Duration `yaml:"least" need:"true"`
	Most  time.Duration `yaml:"most" need:"true" above:"0"`
}

func (r *Random) gap() Range {
	if r.Gap == nil {
		return Range{500 * time.Millisecond, 3 * time.Second}
	}
	return *r.Gap
}

func (r *Random) length() Range {
	if r.Length == nil {
		return Range{500 * time.Millisecond, 4 * time.Second}
	}
	return *r.Length
}

// latest is when the last fault may be over.
func (r *Random) latest() time.Duration {
	return r.Begin + time.Duration(r.Count)*(r.gap().Most+r.length().Most)
}
