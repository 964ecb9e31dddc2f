#!/usr/bin/env bash
# Plays chaos plans against a reader and judges it, for a CI: builds nats-reader, runs
# the plans, and leaves the reports in a folder. The exit code is the finding: 0 every
# contract held, 2 one is broken, 3 one could not be judged, 130 interrupted.
#
#   scripts/ci-chaos.sh [smoke|full|PLAN...] [-out DIR] [-target READER]...
#                       [-version V]... [-parallel N] [-seed N] [-bin FILE]
#
#   smoke         about 3 minutes; the default: a little of everything, what the reader
#                 comes from, the faults that readers go deaf under, faults by lot
#   full          about 20 minutes: every plan, and what the reader comes from and those
#                 faults on nats-server 2.10.22 as well; of another reader than that of
#                 nats-reader, in both, only what is for any (tag any-reader)
#   PLAN...       names, tags or files, as nats-reader chaos run takes them
#
#   -out DIR      the folder, default chaos-reports: junit.xml, report.html, .json, .md
#                 and .txt, the beginning of it in summary.md, and what happened
#                 meanwhile in log.txt; with several versions a folder for each
#   -target R     who reads, may be repeated; default the reader of nats-reader. Any
#                 program that prints the id of each message: 'exec:node reader.mjs'
#   -version V    of the server, may be repeated; "embedded" is the one of go.mod
#   -parallel N   so many plans at a time; default 2
#   -seed N       the seed of an earlier run, which repeats its faults
#   -bin FILE     a nats-reader that is there already: nothing is built
set -euo pipefail
here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Not 1 or 2, which are findings.
fail() {
	printf 'ci-chaos.sh: error: %s\n' "$*" >&2
	exit 3
}

plans=() versions=() flags=() out=chaos-reports parallel=2 bin="" others=no
while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		sed -n '2,27s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
		exit 0
		;;
	-out | -target | -version | -parallel | -seed | -bin)
		case "${2:-}" in "" | -*) fail "$1 needs a value: see --help" ;; esac
		;;
	-*) fail "unknown flag '$1': see --help" ;;
	*)
		plans+=("$1")
		shift
		continue
		;;
	esac
	case "$1" in
	-out) out=$2 ;;
	-target)
		flags+=(--target "$2")
		[ "$2" = reader ] || others=yes
		;;
	-version) versions+=("${2#v}") ;;
	-parallel) parallel=$2 ;;
	-seed) flags+=(--rand-seed "$2") ;;
	-bin) bin=$2 ;;
	esac
	shift 2
done
[ ${#plans[@]} -gt 0 ] || plans=(smoke)

smoke="smoke origin thirteen random" full="all" older="origin thirteen"
if [ "$others" = yes ]; then # the other plans have settings that are the reader's alone
	smoke="smoke deaf-after-power-outage thirteen random" full="any-reader" older=$smoke
fi

# jobs: a version and the plans that are played on it, one a line.
jobs=()
for version in "${versions[@]:-embedded}"; do
	case "${plans[*]}" in
	smoke) jobs+=("$version $smoke") ;;
	full) jobs+=("$version $full") ;;
	*) jobs+=("$version ${plans[*]}") ;;
	esac
done
if [ "${plans[*]}" = full ] && [ ${#versions[@]} -eq 0 ]; then
	jobs+=("2.10.22 $older")
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -z "$bin" ]; then
	bin=$scratch/nats-reader
	(cd "$root" && go build -o "$bin" .) || fail "nats-reader cannot be built"
fi
for job in "${jobs[@]}"; do
	[ "${job%% *}" = embedded ] || "$root/scripts/servers.sh" "${job%% *}" >/dev/null || fail "nats-server ${job%% *} cannot be built"
done

# rank CODE prints how bad a finding is.
rank() {
	case "$1" in
	0) echo 0 ;;
	2) echo 2 ;;
	130) echo 3 ;;
	*) echo 1 ;; # not judged
	esac
}

worst=0
for job in "${jobs[@]}"; do
	version=${job%% *}
	into=$out
	[ ${#jobs[@]} -eq 1 ] || into=$out/$version
	mkdir -p "$into" || fail "folder $into cannot be made"
	server=()
	[ "$version" = embedded ] || server=(--server-version "$version")
	read -r -a names <<<"${job#* }"
	printf 'ci-chaos.sh: %s on nats-server %s, reports in %s\n' "${names[*]}" "$version" "$into" >&2
	code=0
	(cd "$here" && "$bin" chaos run "${names[@]}" "${server[@]}" "${flags[@]}" --parallel "$parallel" \
		--report junit,html,json,markdown,text --out "$into") >"$scratch/report" 2>"$into/log.txt" || code=$?
	if [ -s "$scratch/report" ]; then
		grep -q '^ Runs$' "$scratch/report" && sed -i '1,/^ Runs$/d' "$scratch/report"
		cat "$scratch/report"
	fi
	[ ! -s "$into/report.md" ] || awk 'NR > 1 && /^##+ / { exit } { print }' "$into/report.md" >"$into/summary.md"
	grep -aE '^nats-reader: (error|hint): ' "$into/log.txt" >&2 || true
	case "$code" in
	0 | 2 | 3 | 130) ;;
	*) printf 'ci-chaos.sh: nats-reader ended with exit code %s: not judged\n' "$code" >&2 && code=3 ;;
	esac
	[ "$(rank "$code")" -le "$(rank "$worst")" ] || worst=$code
	[ "$code" != 130 ] || break
done
exit "$worst"
