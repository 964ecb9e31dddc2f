#!/usr/bin/env bash
# Runs readers of many configurations under a load and a random schedule of real
# faults, and judges each by what the stream holds at the end: nothing lost, twice
# or out of order, never deaf for longer than the contract allows, at most three
# consumers, no orphan, requests within the policy. Prints a table in Markdown;
# fails when a run breaks the contract, or did not come to its end.
#
#   scripts/random-faults.sh [-seed N] [-version V] [-nodes 1|3] [-duration D]
#                            [-schedule FILE] [-keep DIR] [-at-once N]
#
#   -seed N         may be repeated; default 1 2 3 4 5
#   -version V      may be repeated; "embedded" is the one of go.mod, the default
#   -nodes 1|3      may be repeated; one server or a cluster; default 1
#   -duration D     of faults in each run, such as 2m; default 1m
#   -schedule FILE  the faults to stage, one a line as a run prints them, in place
#                   of those of the seed
#   -keep DIR       keep what each run has said there; of a run that failed it is
#                   printed in any case
#   -at-once N      so many runs at a time; default 1
#
# A seed fixes the schedule of faults, their parameters and the load; it does not
# fix what the threads of a server do when.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
	printf 'random-faults.sh: error: %s\n' "$*" >&2
	exit 2
}

seeds=() versions=() nodes=() duration=1m schedule="" keep="" at_once=1
while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		sed -n '2,24s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	-seed | -version | -nodes | -duration | -schedule | -keep | -at-once)
		[ $# -gt 1 ] || fail "$1 needs a value: see --help"
		;;
	*) fail "unknown argument '$1': see --help" ;;
	esac
	case "$1" in
	-seed) seeds+=("$2") ;;
	-version) versions+=("${2#v}") ;;
	-nodes) nodes+=("$2") ;;
	-duration) duration=$2 ;;
	-schedule) schedule=$(realpath -- "$2") ;;
	-keep) keep=$2 ;;
	-at-once) at_once=$2 ;;
	esac
	shift 2
done
[ ${#seeds[@]} -gt 0 ] || seeds=(1 2 3 4 5)
[ ${#versions[@]} -gt 0 ] || versions=(embedded)
[ ${#nodes[@]} -gt 0 ] || nodes=(1)
for n in "${seeds[@]}"; do
	[[ $n =~ ^[0-9]+$ ]] || fail "-seed $n: want a number"
done
for n in "${nodes[@]}"; do
	[[ $n =~ ^[13]$ ]] || fail "-nodes $n: want 1 or 3"
done
[[ $at_once =~ ^[1-9]$ ]] || fail "-at-once $at_once: want 1 to 9"

scratch=$(mktemp -d)
cleanup() {
	local pids
	pids=$(jobs -p)
	# shellcheck disable=SC2086 # one word each
	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	wait
	rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [ -n "$keep" ]; then
	mkdir -p "$keep"
	keep=$(realpath -- "$keep")
else
	keep=$scratch
fi

go test -c -tags long -o "$scratch/reader.test" ./reader
unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
for version in "${versions[@]}"; do
	[ "$version" = embedded ] || scripts/servers.sh "$version" >/dev/null
done

# run VERSION NODES SEED leaves what it says in its file.
run() {
	local log="$keep/$1-$2-$3.log" server=()
	[ "$1" = embedded ] || server=("NATS_READER_SERVER_VERSION=$1")
	cd reader
	exec env "${server[@]}" "$scratch/reader.test" -test.run '^TestRandomFaults$' -test.v -test.count 1 -test.timeout 60m \
		-random.seed "$3" -random.nodes "$2" -random.for "$duration" -random.schedule "$schedule" >"$log" 2>&1
}

all=()
for seed in "${seeds[@]}"; do
	for version in "${versions[@]}"; do
		for n in "${nodes[@]}"; do
			all+=("$version-$n-$seed")
			while [ "$(jobs -pr | wc -l)" -ge "$at_once" ]; do wait -n || true; done
			run "$version" "$n" "$seed" &
		done
	done
done
wait

columns='version nodes seed for faults failed wire_firings published messages sessions lost/twice/disordered moved deaf consumers looks orphans requests in_10s drained tidied settled contract'
# shellcheck disable=SC2086 # one word each
printf '| %s ' $columns
printf '|\n|'
# shellcheck disable=SC2086 # one word each
printf -- '---|%.0s' $columns
printf '\n'
failed=()
for name in "${all[@]}"; do
	log="$keep/$name.log"
	sed -n 's/^.*: figures: //p' "$log" | awk -v columns="$columns" '
		{
			for (i = 1; i <= NF; i++) { at = index($i, "="); figure[substr($i, 1, at - 1)] = substr($i, at + 1) }
			figure["lost/twice/disordered"] = figure["lost"] "/" figure["twice"] "/" figure["disordered"]
			n = split(columns, column, " ")
			for (c = 1; c <= n; c++) printf "| %s ", figure[column[c]]
			print "|"
		}
		END { if (NR == 0) exit 1 }' || printf '| %s: did not come to its end |\n' "$name"
	grep -q '^--- PASS: TestRandomFaults ' "$log" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
	for name in "${failed[@]}"; do
		printf '\nrandom-faults.sh: FAILED: %s\n' "$name" >&2
		grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$keep/$name.log" >&2 || true
	done
	exit 1
fi
