package readerprom

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/an-open-reader/nats-reader/reader"
)

// Options say what all series of a collector have in common.
type Options struct {
	// ConstLabels are put on every series. reader, stream, state, cause and request
	// are taken: a registry refuses a collector that has one of them here.
	ConstLabels prometheus.Labels
}

// Source is what a collector looks at: a *reader.Reader is one. Its methods are called
// at each scrape, from any goroutine, and must not wait.
type Source interface {
	Status() reader.Status
	Position() reader.Position // with the zero Time the lag in seconds is not known, and left out
	Err() error                // why it ended; nil while open, and at its end
}

// Collector is a prometheus.Collector over readers. Its methods are safe for concurrent use.
type Collector struct {
	descs []*prometheus.Desc // of the families, in their order
	now   func() time.Time

	mu      sync.Mutex
	readers map[string]*entry
}

// New makes a collector of no reader.
func New(o Options) *Collector {
	c := &Collector{now: time.Now, readers: map[string]*entry{}}
	for _, f := range families {
		c.descs = append(c.descs, prometheus.NewDesc(f.Name, f.Help, f.Labels, o.ConstLabels))
	}
	return c
}

// Describe sends every metric that a reader can have.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect looks at every reader once and sends what it shows.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, e := range c.entries() {
		l := e.look(c.now())
		for i, f := range families {
			if l.opening && !f.early {
				continue
			}
			f.show(l, sender{c.descs[i], f.kind(), []string{l.name, l.stream}, to})
		}
	}
}

// entries are the readers by their names.
func (c *Collector) entries() []*entry {
	c.mu.Lock()
	all := make([]*entry, 0, len(c.readers))
	for _, e := range c.readers {
		all = append(all, e)
	}
	c.mu.Unlock()
	slices.SortFunc(all, byName)
	return all
}
