#!/usr/bin/env bash
# Runs one script of requests on the simulator's model and on real servers: the
# answers must be equal.
#
#   scripts/model.sh                on every version of the matrix and the embedded server
#   scripts/model.sh VERSION...     on these; "embedded" is the one of go.mod
#
# About ten seconds a version. Servers are built by scripts/servers.sh where they are
# missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,9s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "model.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
if [ $# = 0 ]; then
	mapfile -t versions < <(scripts/servers.sh --list)
	set -- "${versions[@]}" embedded
fi

# shellcheck source=scripts/versions.bash
. scripts/versions.bash

# on VERSION compares the model with one server.
on() {
	use_server "$1"
	printf '== the model and nats-server %s\n' "$1"
	go test -count=1 -run '^Test(Answers|Restarts)$' ./reader/session/simulate/model
}

each_version on "$@"
