#!/usr/bin/env bash
# Proves the lab's clusters, and the reader with its default clocks on them: every
# fault on every node that matters, under load. Prints the figures of each case; fails
# when a test fails, or did not run.
#
#   scripts/clusters.sh                 on the embedded server
#   scripts/clusters.sh VERSION...      on these; "embedded" is the one of go.mod
#
# About 25 minutes a version. Servers are built by scripts/servers.sh where they are
# missing; 2.10.7 always, for the cluster of several versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cases='^TestClusterLong'
packages=(./chaos/lab ./reader)

case "${1:-}" in
-h | --help)
	sed -n '2,11s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "clusters.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
[ $# -gt 0 ] || set -- embedded

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scripts/servers.sh 2.10.7

# on VERSION runs all cases on one server; it prints what did not pass.
on() {
	local package names name wrong=0
	unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
	if [ "$1" != embedded ]; then
		scripts/servers.sh "$1"
		export NATS_READER_SERVER_VERSION=${1#v}
	fi
	for package in "${packages[@]}"; do
		printf '== clusters of nats-server %s, %s\n' "$1" "$package"
		names=$(go test -race -tags long -list "$cases" "$package" | grep '^Test')
		# -v: the figures are the tests' own lines.
		go test -race -tags long -count=1 -timeout 60m -v -run "$cases" "$package" >"$log" 2>&1 || wrong=1
		grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$log" || true
		for name in $names; do
			grep -q "^--- PASS: $name " "$log" && continue
			printf 'clusters.sh: %s did not pass\n' "$name"
			wrong=1
		done
	done
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
	printf 'clusters.sh: FAILED on nats-server %s\n' "${failed[*]}"
	exit 1
fi
printf 'clusters.sh: ok on nats-server %s\n' "$*"
