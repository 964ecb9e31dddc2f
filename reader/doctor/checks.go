package doctor

import (
	"slices"
	"sync"
)

// The ids that more than one place speaks of.
const (
	idDeaf     = "READER_001"
	idNoPuller = "READER_002"
	idNobody   = "READER_003"
	idAbsent   = "READER_004"
	idStorm    = "READER_005"
	idOrphan   = "READER_006"
	idWaiting  = "READER_010"
	idLimits   = "READER_017"
	idOwners   = "READER_021"
	idSlow     = "READER_022"
)

// reasonWords are the words of the fleet table for findings without a cause.
var reasonWords = map[string]string{
	idDeaf: "deaf", idNoPuller: "no puller", idNobody: "unheard", idAbsent: "absent", idStorm: "storm", idOrphan: "orphan",
	"READER_007": "short threshold", "READER_008": "behind", "READER_009": "at ack limit", idWaiting: "pulls full",
	"READER_011": "ahead", "READER_012": "passed over", "READER_013": "matches nothing", "READER_015": "no leader",
	idLimits: "refused", "READER_020": "one replica", idOwners: "two owners", idSlow: "slow client",
}

var allChecks = sync.OnceValue(func() []Check {
	return slices.Concat(readingChecks(), leftChecks(), paceChecks(), cursorChecks(), placeChecks(), clientChecks())
})

// Checks are all checks, by their id.
func Checks() []Check {
	all := slices.Clone(allChecks())
	slices.SortFunc(all, func(a, b Check) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}
