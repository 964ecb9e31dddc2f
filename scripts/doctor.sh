#!/usr/bin/env bash
# Tries the doctor where it takes long: on servers of several versions, over healthy
# readers for a minute, on 10,000 consumers, and on a reader of nats.js; and with a
# clock of our own that is an hour ahead of the server's, and an hour behind. Fails
# where a finding is missing, or is there and should not be.
#
#   scripts/doctor.sh              2.10.7, 2.10.22 and the embedded server
#   scripts/doctor.sh VERSION...   these; "embedded" is the embedded one
#
# It needs Node 20 or newer, and npm, which fetches nats.js as package-lock.json pins it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

versions=(2.10.7 2.10.22 embedded)
case "${1:-}" in
-h | --help)
	sed -n '2,10s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "doctor.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
[ $# -eq 0 ] || versions=("$@")

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	echo "doctor.sh: error: node and npm are not in PATH: install Node 20 or newer" >&2
	exit 1
fi
npm ci --prefix scripts/targets/node --no-audit --no-fund >&2
export NATS_READER_DOCTOR_NODE="exec node '$PWD/scripts/targets/node/reader.mjs'"
export NATS_READER_DOCTOR_WATCH=60s
unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# overlay SECONDS writes a replacement of the standard library's clock that is that
# much ahead, for go test -overlay.
overlay() {
	local clock
	clock=$(go env GOROOT)/src/time/time.go
	sed "s/^\tsec, nsec, mono := runtimeNow()\$/&\n\tsec += $1/" "$clock" >"$scratch/time.go"
	if cmp -s "$clock" "$scratch/time.go"; then
		echo "doctor.sh: error: this Go keeps its clock elsewhere than in time.Now: amend overlay()" >&2
		exit 1
	fi
	printf '{"Replace":{"%s":"%s"}}\n' "$clock" "$scratch/time.go" >"$scratch/overlay.json"
}

# The embedded server would have our own clock: as a program of its own it has not.
go build -o "$scratch/nats-server" github.com/nats-io/nats-server/v2

for version in "${versions[@]}"; do
	printf '== nats-server %s\n' "$version"
	if [ "$version" != embedded ]; then
		scripts/servers.sh "$version"
		export NATS_READER_SERVER_VERSION=${version#v}
	fi
	go test -tags long -count=1 -timeout 30m ./reader/doctor
	[ "$version" != embedded ] || export NATS_READER_SERVER_BIN=$scratch/nats-server
	for hours in 1 -1; do
		printf '== nats-server %s, our clock off by %sh\n' "$version" "$hours"
		overlay "$((hours * 3600))"
		NATS_READER_DOCTOR_CLOCK=${hours}h NATS_READER_DOCTOR_WATCH=6s go test -overlay "$scratch/overlay.json" -count=1 -timeout 30m ./reader/doctor
	done
	unset NATS_READER_SERVER_VERSION NATS_READER_SERVER_BIN
done
