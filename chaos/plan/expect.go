package plan

import (
	"maps"
	"slices"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Others stands in Expect for the targets that are not named there.
const Others = "others"

// Expected is the finding that a plan expects of a target, by its name on the command line.
func (p Plan) Expected(target string) oracle.Finding {
	if f, said := p.Expect[TargetKind(target)]; said {
		return f
	}
	if f, said := p.Expect[Others]; said && target != TargetReader {
		return f
	}
	return oracle.Held
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
