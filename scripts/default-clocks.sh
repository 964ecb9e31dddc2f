#!/usr/bin/env bash
# Proves the reader with its default clocks on real servers: the cases that tests
# otherwise run with scaled clocks, and those that take minutes. Prints the
# figures of each; fails when a test fails, or did not run.
#
#   scripts/default-clocks.sh                 on the embedded server and 2.10.22
#   scripts/default-clocks.sh VERSION...      on these; "embedded" is the one of go.mod
#
# About eight minutes a version. Servers are built by scripts/servers.sh where they
# are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cases='^Test(Origin|Long|LimitsOfTheRate|DeadLink|KilledReaders|AwayCosts)'

case "${1:-}" in
-h | --help)
	sed -n '2,10s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "default-clocks.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
[ $# -gt 0 ] || set -- embedded 2.10.22

# shellcheck source=scripts/versions.bash
. scripts/versions.bash
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# on VERSION runs all cases on one server.
on() {
	use_server "$1"
	printf '== default clocks on nats-server %s\n' "$1"
	run_long "$log" "$cases" ./reader -timeout 30m -parallel 16
}

each_version on "$@"
