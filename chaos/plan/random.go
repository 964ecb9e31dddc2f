package plan

import "time"

// Random draws steps from the catalogue. Each draw depends on the seed and its number
// alone.
type Random struct {
	// Count is how many faults are drawn.
	Count int `yaml:"count"`
	// Layers are those whose faults are drawn, each with the weight 1: all that can act
	// on this server and that destroy no messages. Default wire, server, process, unless
	// Faults are given.
	Layers []string `yaml:"layers,omitempty"`
	// Faults are drawn as they are written, or with parameters by lot where none is
	// written; by weight, 0 is never.
	Faults  []Weighted    `yaml:"faults,omitempty"`
	Begin   time.Duration `yaml:"begin,omitempty"`   // when the first may come; default 0
	Gap     Range         `yaml:"gap,omitempty"`     // between the end of one and the next; default 500ms to 3s
	Length  Range         `yaml:"length,omitempty"`  // of those that last; default 500ms to 4s
	Overlap bool          `yaml:"overlap,omitempty"` // Gap counts from the beginning of the one before
	Nodes   []string      `yaml:"nodes,omitempty"`   // which nodes of a cluster; default the roles and all names
}

// Weighted is a fault and how often it is drawn beside the others.
type Weighted struct {
	Fault  string `yaml:"fault"`
	Weight *int   `yaml:"weight,omitempty"` // default 1; 0: never
}

// Range is from the least to the most of a length.
type Range struct {
	Least time.Duration `yaml:"least"`
	Most  time.Duration `yaml:"most"`
}
