package commands

import (
	"path/filepath"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
)

// journalOf makes the journal of faults on the server that the settings name.
func journalOf(c *cli.Context, s settings) (*chaos.Journal, error) {
	dir, err := chaos.JournalDir()
	if err != nil {
		return nil, usage{problem: err.Error(), hint: "faults on a server that is not the demo's are written down first: set XDG_CACHE_HOME or HOME", cause: err}
	}
	return chaos.NewJournal(dir, placeOf(c, s)), nil
}

// placeOf says where the settings lead, without a login, for the journal.
func placeOf(c *cli.Context, s settings) chaos.Place {
	at := chaos.Place{Servers: withoutLogin(s.servers()), APIPrefix: s.context.JSAPIPrefix(), Domain: s.context.JSDomain()}
	if c.Bool(flagNoContext) {
		return at
	}
	at.Context = c.String(flagContext)
	if strings.HasSuffix(at.Context, ".json") {
		if path, err := filepath.Abs(at.Context); err == nil {
			at.Context = path // found from any folder
		}
	}
	if at.Context == "" {
		at.Context = natscontext.SelectedContext()
	}
	return at
}

// settingsAt leads to a place of the journal: the login is that of the flags and
// the environment, or else of the context that was used then.
func (p *program) settingsAt(c *cli.Context, at chaos.Place) (settings, error) {
	name := c.String(flagContext)
	if name == "" {
		name = at.Context
	}
	below, err := loadContext(c, name)
	if err != nil {
		return settings{}, err
	}
	s, err := p.settingsFrom(c, below)
	s.at = at
	return s, err
}

// closeJournal tells what is left for chaos clear.
func (p *program) closeJournal(j *chaos.Journal) {
	left, err := j.Close()
	if err != nil {
		p.note("warning: %v", err)
	}
	if left > 0 {
		p.note("warning: %d faults could not be undone: nats-reader chaos clear does it once the server answers", left)
	}
}
