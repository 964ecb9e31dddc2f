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

# shellcheck source=scripts/versions.bash
. scripts/versions.bash
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scripts/servers.sh 2.10.7

# on VERSION runs all cases on one server.
on() {
	local package wrong=0
	use_server "$1"
	for package in "${packages[@]}"; do
		printf '== clusters of nats-server %s, %s\n' "$1" "$package"
		run_long "$log" "$cases" "$package" -timeout 60m || wrong=1
	done
	return "$wrong"
}

each_version on "$@"
