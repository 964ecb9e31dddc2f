#!/usr/bin/env bash
# Fills the disk of a server under a reader: a store on a tmpfs of 12 MiB, which is made
# larger afterwards. Fails when anything that was stored is lost, or the reader does not
# read on. Needs Linux, and root or user namespaces for the mount.
#
#   scripts/disk-full.sh             the embedded server
#   scripts/disk-full.sh VERSION...  these; "embedded" is the one of go.mod
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,7s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "disk-full.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
if [ $# -eq 0 ]; then
	set -- embedded
fi
namespace=()
if [ "$(id -u)" -ne 0 ]; then
	namespace=(unshare --user --map-root-user --mount)
fi
for version in "$@"; do
	if [ "$version" = embedded ]; then
		version=
	else
		scripts/servers.sh "$version"
	fi
	NATS_READER_SERVER_VERSION=$version ${namespace[@]+"${namespace[@]}"} \
		go test -tags long -count=1 -timeout 10m -v -run '^TestLongDiskFull$' ./reader
done
