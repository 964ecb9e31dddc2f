#!/usr/bin/env bash
# Stages every wire fault of the proxy's catalogue on a real server, once under a
# reader and once under nats.go's Consume, and prints what fired and what both did
# as a Markdown table. Fails when the reader loses, repeats or reorders a message or
# ends, when a fault does not fire, and when a connection does not work after it.
#
#   scripts/wire-faults.sh                 on the embedded server
#   scripts/wire-faults.sh VERSION         on this one, such as 2.10.22
#
# About three minutes. The server is built by scripts/servers.sh where it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,10s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "wire-faults.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
if [ $# -gt 1 ]; then
	echo "wire-faults.sh: error: one version at a time: see --help" >&2
	exit 2
fi
if [ $# = 1 ]; then
	scripts/servers.sh "$1"
	unset NATS_READER_SERVER_BIN
	export NATS_READER_SERVER_VERSION=${1#v}
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# -v: the table is the test's own output.
wrong=0
go test -tags long -count=1 -timeout 20m -parallel 6 -v -run '^TestWireFaults$' ./reader >"$log" 2>&1 || wrong=1
[ "$wrong" = 0 ] || grep -vE '^=== (RUN|PAUSE|CONT|NAME)|^ *\|' "$log" >&2 || true
sed -n 's/^ *|/|/p' "$log"
if [ "$wrong" != 0 ] || ! grep -q '^--- PASS: TestWireFaults ' "$log"; then
	echo "wire-faults.sh: FAILED" >&2
	exit 1
fi
