package commands

import (
	"sync"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
)

// madeOptions keeps what a context's options came out as: the program that has a secret,
// and may ask its user for it, is asked once, however many connections there are.
type madeOptions struct {
	mu      sync.Mutex
	of      *natscontext.Context
	options []nats.Option
	err     error
}

func (m *madeOptions) optionsOf(c *natscontext.Context) ([]nats.Option, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of != c {
		m.of = c
		m.options, m.err = c.NATSOptions()
	}
	return append([]nats.Option(nil), m.options...), m.err
}

// natsOptions are nats.go's options of the settings, or the one that is wrong.
func (s settings) natsOptions() ([]nats.Option, error) {
	made := s.made
	if made == nil {
		made = new(madeOptions)
	}
	options, err := made.optionsOf(s.context)
	if err == nil {
		err = s.checkFiles()
	}
	if err != nil {
		return nil, s.wrongSetting(err)
	}
	if s.socks != nil {
		options = append(options, nats.SetCustomDialer(s.socks))
	}
	return options, nil
}

// optionValues are nats.go's options of the settings as they come out.
func (s settings) optionValues() (nats.Options, error) {
	all := nats.GetDefaultOptions()
	options, err := s.natsOptions()
	if err != nil {
		return all, err
	}
	for _, set := range options {
		if err := set(&all); err != nil {
			return all, s.wrongSetting(err)
		}
	}
	return all, nil
}
