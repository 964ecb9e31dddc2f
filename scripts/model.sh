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

failed=()
for version in "$@"; do
	unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
	if [ "$version" != embedded ]; then
		scripts/servers.sh "$version" >/dev/null
		export NATS_READER_SERVER_VERSION=${version#v}
	fi
	printf '== the model and nats-server %s\n' "$version"
	go test -count=1 -run '^Test(Answers|Restarts)$' ./reader/session/simulate/model || failed+=("$version")
done
if [ ${#failed[@]} -gt 0 ]; then
	printf 'model.sh: FAILED on nats-server %s\n' "${failed[*]}"
	exit 1
fi
printf 'model.sh: ok on nats-server %s\n' "$*"
