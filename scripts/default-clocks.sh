#!/usr/bin/env bash
# Proves the reader with its default clocks on real servers: the cases that tests
# otherwise run with scaled clocks, and those that take minutes. Prints the
# figures of each; fails when a test fails, or did not run.
#
#   scripts/default-clocks.sh                 on the embedded server and 2.10.22
#   scripts/default-clocks.sh VERSION...      on these; "embedded" is the one of go.mod
#
# About six minutes a version. Servers are built by scripts/servers.sh where they
# are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cases='^Test(Origin|Long)'

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

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# on VERSION runs all cases on one server.
on() {
	local names name wrong=0
	unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
	if [ "$1" != embedded ]; then
		scripts/servers.sh "$1"
		export NATS_READER_SERVER_VERSION=${1#v}
	fi
	printf '== default clocks on nats-server %s\n' "$1"
	names=$(go test -race -tags long -list "$cases" ./reader | grep '^Test')
	# -v: the figures are the tests' own lines.
	go test -race -tags long -count=1 -timeout 30m -parallel 16 -v -run "$cases" ./reader >"$log" 2>&1 || wrong=1
	grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$log" || true
	for name in $names; do
		grep -q "^--- PASS: $name " "$log" && continue
		printf 'default-clocks.sh: %s did not pass\n' "$name"
		wrong=1
	done
	if grep -E '^ *--- SKIP' "$log"; then
		echo "default-clocks.sh: a test was skipped"
		wrong=1
	fi
	return "$wrong"
}

failed=()
for version in "$@"; do
	set +e
	(
		set -e
		on "$version"
	)
	code=$?
	set -e
	[ "$code" = 0 ] || failed+=("$version")
done
if [ ${#failed[@]} -gt 0 ]; then
	printf 'default-clocks.sh: FAILED on nats-server %s\n' "${failed[*]}"
	exit 1
fi
printf 'default-clocks.sh: ok on nats-server %s\n' "$*"
