#!/usr/bin/env bash
# Opens many idle readers on one connection to a real server, on 20 streams, and prints
# what they cost: nats-reader bench --readers N --streams 20 --idle. Fails when a bound of
# requests or memory is broken, or when one does not read again after the server was
# killed or stopped.
#
#   scripts/many-readers.sh                        10,000 readers, embedded server
#   scripts/many-readers.sh READERS [VERSION]      such as 2000 2.10.22
#   scripts/many-readers.sh --in-flight [READERS [VERSION]]
#                                                  the most requests in flight, too, by
#                                                  the proxy; a test of the package reader
#
# The store of the server lies under TMPDIR. A file store makes a consumer at the speed
# of its disk, which is what limits the times: on a file system in memory they are the
# reader's own. MANY_STRICT=1 also fails when reading again takes longer than 20s.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

in_flight=
case "${1:-}" in
-h | --help)
	sed -n '2,16s/^# \{0,1\}//p' "$0"
	exit 0
	;;
--in-flight)
	in_flight=1
	shift
	;;
-*)
	echo "many-readers.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
if [ $# -gt 2 ]; then
	echo "many-readers.sh: error: a number of readers and a version at most: see --help" >&2
	exit 2
fi
readers=${1:-10000}
unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
if [ "${2:-embedded}" != embedded ]; then
	scripts/servers.sh "$2"
	export NATS_READER_SERVER_VERSION=${2#v}
fi

scratch=$(mktemp -d)
child=
# finish CODE: a signal ends what runs, too; bash alone would wait for it.
# shellcheck disable=SC2317 # the traps call it
finish() {
	if [ -n "$child" ]; then
		kill "$child" 2>/dev/null || true
		wait "$child" || true
	fi
	exit "$1"
}
trap 'rm -rf "$scratch"' EXIT
trap 'finish 130' INT
trap 'finish 143' TERM

if [ -z "$in_flight" ]; then
	within=()
	[ "${MANY_STRICT:-}" != 1 ] || within=(--within 20s)
	go build -o "$scratch/nats-reader" .
	"$scratch/nats-reader" bench --readers "$readers" --streams "$((readers < 20 ? readers : 20))" --idle "${within[@]}" &
	child=$!
	code=0
	wait "$child" || code=$?
	exit "$code"
fi

export MANY_READERS=$readers
log=$scratch/log
printf '== %s readers on nats-server %s\n' "$MANY_READERS" "${2:-embedded}"
wrong=0
# Without -race, which costs memory; -v: the figures are the test's own lines.
go test -tags long -count=1 -timeout 40m -v -run '^TestTenThousandReaders$' ./reader >"$log" 2>&1 || wrong=1
grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$log" || true
if ! grep -q '^--- PASS: TestTenThousandReaders ' "$log"; then
	wrong=1
fi
exit "$wrong"
