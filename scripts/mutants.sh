#!/usr/bin/env bash
# Breaks every rule of a reader's session and every line of its status table, one at a
# time, and looks whether the transcripts, the other tests of the rules or 2,000
# simulated schedules find it. Fails when one is not found.
#
#   scripts/mutants.sh          all of them: about 20 seconds on two cores
#   scripts/mutants.sh TEXT     those whose name contains the text, and what finds each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,7s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "mutants.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
exec go test -tags long -count=1 -timeout 15m -v -run '^TestEveryMutantIsFound$' ./reader/session/simulate/mutants -mutant "${1:-}"
