#!/usr/bin/env bash
# Simulates any number of schedules: readers against a model of a server, under
# virtual time and seeded faults, with the contract checked after each.
#
#   scripts/simulate.sh [N [SEED]]     N schedules (20000), from a seed on (0)
#   scripts/simulate.sh --seed SEED    one schedule, told
#
# A schedule that breaks a promise is told with its seed, shrunk to the shortest
# that still does, and its transcript is written to the file that is named; the
# exit code is 1 then. 1,000,000 schedules take about a quarter of an hour on two
# cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
	printf 'simulate.sh: error: %s\n' "$*" >&2
	exit 2
}

# number NAME TEXT: TEXT is a number.
number() { [[ $2 =~ ^[0-9]+$ ]] || die "$1 is a number, not '$2'"; }

# A run makes garbage faster than anything that lives: it is collected less often.
export GOGC=${GOGC:-400}
story=$(mktemp "${TMPDIR:-/tmp}/nats-reader-story.XXXXXX")
run=(go test ./reader/session/simulate -count=1 -timeout 0 -run 'TestSimulation$' -v -story "$story")
case "${1:-}" in
-h | --help)
	sed -n '2,11s/^# \{0,1\}//p' "$0"
	exit 0
	;;
--seed)
	[ $# = 2 ] || die "--seed wants one seed"
	number SEED "$2"
	run+=(-seed "$2")
	;;
*)
	[ $# -le 2 ] || die "too many arguments: N and SEED"
	number N "${1:-20000}"
	number SEED "${2:-0}"
	run+=(-runs "${1:-20000}" -from "${2:-0}" -progress)
	;;
esac
code=0
"${run[@]}" || code=$?
[ -s "$story" ] || rm -f "$story"
exit "$code"
