#!/usr/bin/env bash
# Builds the nats CLI through the Go module proxy into a cache, and proves against it
# what the README says of connecting: its global flags and variables are ours, what is
# sent to a server is the same, and nats-reader runs as its plugin, "nats reader ...".
#
#   scripts/nats-plugin.sh             with the version that is known to fit
#   scripts/nats-plugin.sh VERSION     with another: v0.5.1
#   scripts/nats-plugin.sh --path      builds what is missing, prints the path
#
# The cache is ${NATS_READER_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/nats-reader/servers},
# natscli-VERSION/nats. The first build takes a minute or more, the tests half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=v0.5.1
only_path=

while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		sed -n '2,12s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	--path) only_path=yes ;;
	v[0-9]*) version=$1 ;;
	*)
		echo "nats-plugin.sh: error: '$1' is no version such as $version: see --help" >&2
		exit 2
		;;
	esac
	shift
done

cache=${NATS_READER_SERVERS:-${XDG_CACHE_HOME:-${HOME:?no place for the cache: set NATS_READER_SERVERS or HOME}/.cache}/nats-reader/servers}
nats=$cache/natscli-$version/nats

if [ ! -x "$nats" ]; then
	echo "nats-plugin.sh: building natscli $version" >&2
	mkdir -p "$cache"
	scratch=$(mktemp -d "$cache/.building.XXXXXX")
	trap 'rm -rf "$scratch"' EXIT
	# Outside of this module: natscli has dependencies of its own.
	(cd "$scratch" && GOBIN=$scratch GOFLAGS=-buildvcs=false GOWORK=off CGO_ENABLED=0 go install "github.com/nats-io/natscli/nats@$version" >&2)
	mkdir -p "$(dirname "$nats")"
	mv "$scratch/nats" "$nats"
fi

if [ -n "$only_path" ]; then
	printf '%s\n' "$nats"
	exit 0
fi
echo "== nats-reader and natscli $version"
NATS_READER_NATSCLI=$nats go test -tags natscli -count=1 -run '^TestNatscli' ./commands
