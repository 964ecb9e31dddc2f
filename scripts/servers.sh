#!/usr/bin/env bash
# Builds real nats-servers of given versions through the Go module proxy into
# a cache, and prints the path of each on stdout; a version that is there
# already is reused. All else goes to stderr.
#
#   scripts/servers.sh VERSION...        build what is missing, print the paths
#   scripts/servers.sh all               the versions of the server matrix
#   scripts/servers.sh --path VERSION... print the paths without building
#   scripts/servers.sh --list            print the versions of the matrix
#
# The cache is ${NATS_READER_SERVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/nats-reader/servers},
# one VERSION/nats-server each. Tests run on one of them with
# NATS_READER_SERVER_VERSION=VERSION.
set -euo pipefail

# The embedded server (go.mod) is one more version of the matrix.
matrix=(2.10.7 2.10.22 2.11.17 2.12.15 2.14.0 2.14.10)

say() { printf 'servers.sh: %s\n' "$*" >&2; }

die() {
	say "error: $*"
	exit 1
}

usage() { sed -n '2,13s/^# \{0,1\}//p' "$0"; }

# cache_dir prints the folder of the cache, as lab.CachedServer finds it too.
cache_dir() {
	if [ -n "${NATS_READER_SERVERS:-}" ]; then
		printf '%s\n' "$NATS_READER_SERVERS"
	elif [ -n "${XDG_CACHE_HOME:-}" ]; then
		printf '%s\n' "$XDG_CACHE_HOME/nats-reader/servers"
	elif [ -n "${HOME:-}" ]; then
		printf '%s\n' "$HOME/.cache/nats-reader/servers"
	else
		die "no place for the cache: set NATS_READER_SERVERS or HOME"
	fi
}

# server_path VERSION prints where the server of that version belongs.
server_path() { printf '%s/%s/nats-server\n' "$cache" "$1"; }

# scratch is the folder of the build under way; an exit at any moment removes it.
scratch=""
cleanup() {
	if [ -n "$scratch" ]; then
		rm -rf "$scratch"
	fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# build VERSION builds into a scratch folder of the cache and moves the
# finished, tried binary in place, so that no reader of the cache ever sees
# half of one and two builds at the same time do no harm.
build() {
	local version=$1 target
	target=$(server_path "$version")
	mkdir -p "$cache"
	scratch=$(mktemp -d "$cache/.build-XXXXXX")
	say "building nats-server $version"
	# Not inside a module: its flags, workspace and vendoring do not matter here.
	(cd "$scratch" && GOBIN="$scratch" GOFLAGS='' GOWORK=off GOOS='' GOARCH='' CGO_ENABLED=0 \
		go install "github.com/nats-io/nats-server/v2@v$version" >&2) ||
		die "nats-server $version does not build: is $version a released version, and does the module proxy answer (go env GOPROXY)?"
	local told
	told=$("$scratch/nats-server" --version) || die "the nats-server $version just built does not run"
	[ "$told" = "nats-server: v$version" ] || die "the nats-server just built says '$told', not v$version"
	mkdir -p "$(dirname "$target")"
	mv -f "$scratch/nats-server" "$target"
	rm -rf "$scratch"
	scratch=""
}

check_version() {
	[[ $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] ||
		die "'$1' is no version: give one such as 2.10.22, or 'all'"
}

mode=build
case "${1:-}" in
"")
	usage >&2
	exit 2
	;;
-h | --help)
	usage
	exit 0
	;;
--list)
	printf '%s\n' "${matrix[@]}"
	exit 0
	;;
--path)
	mode=path
	shift
	;;
-*) die "unknown flag '$1': see --help" ;;
esac
[ $# -gt 0 ] || die "which version? give one such as 2.10.22, or 'all'"

versions=()
for word in "$@"; do
	if [ "$word" = all ]; then
		versions+=("${matrix[@]}")
	else
		word=${word#v}
		check_version "$word"
		versions+=("$word")
	fi
done

cache=$(cache_dir)
if [ "$mode" = build ]; then
	command -v go >/dev/null || die "go is not in PATH: it builds the servers"
fi
for version in "${versions[@]}"; do
	path=$(server_path "$version")
	if [ ! -x "$path" ]; then
		[ "$mode" = build ] ||
			die "nats-server $version is not in the cache ($path): build it with scripts/servers.sh $version"
		build "$version"
	fi
	printf '%s\n' "$path"
done
