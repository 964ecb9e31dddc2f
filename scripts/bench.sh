#!/usr/bin/env bash
# Compares the benchmarks of two commits: each is checked out into a temporary folder,
# the test programs of both are built first, then run by turns, so that what else the
# machine does falls on both. benchstat prints the table.
#
#   scripts/bench.sh [--count N] [--bench REGEXP] [--time D] [OLD [NEW]]
#
#   OLD, NEW   commits (HEAD~1, HEAD); the same one twice shows the machine's noise
#   --count    rounds (6, the least that benchstat gives an interval for)
#   --bench    benchmarks, as go test -bench takes them (those of the parts: they need
#              no server and take about a minute a round for both)
#   --time     how long each runs a round, as -benchtime takes it (200ms)
#
# What is not committed is not measured. The exit code is 2 for a wrong call, 1 where a
# benchmark does not build or fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

benchstat_version=v0.0.0-20260908200009-22c9c6c9d4da
packages=(reader/session reader chaos/proxy)
bench='^Benchmark(Deliver|Heartbeat|PullRound|ParseAckSubject|ParseStatus|Receive|HandOut|Scan|Splice)$'
count=6
duration=200ms

die() {
	printf 'bench.sh: error: %s\n' "$*" >&2
	exit 2
}

say() { printf 'bench.sh: %s\n' "$*" >&2; }

commits=()
while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		sed -n '2,16s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	--count | --bench | --time)
		[ $# -ge 2 ] || die "$1 wants a value: see --help"
		case "$1" in
		--count) count=$2 ;;
		--bench) bench=$2 ;;
		--time) duration=$2 ;;
		esac
		shift 2
		;;
	-*) die "unknown flag '$1': see --help" ;;
	*)
		commits+=("$1")
		shift
		;;
	esac
done
[ ${#commits[@]} -le 2 ] || die "too many arguments: OLD and NEW at most: see --help"
[[ $count =~ ^[1-9][0-9]*$ ]] || die "--count is a number of rounds, not '$count'"
[[ $duration =~ ^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^[1-9][0-9]*x$ ]] || die "--time is a duration such as 200ms, or a number of runs such as 100x, not '$duration'"

# commit NAME: its hash.
commit() {
	git rev-parse --quiet --verify --end-of-options "$1^{commit}" || die "'$1' is no commit of this repository"
}
old=$(commit "${commits[0]:-HEAD~1}")
new=$(commit "${commits[1]:-HEAD}")
[ -z "$(git status --porcelain)" ] || say "the tree has changes that are not committed: they are not measured"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/nats-reader-bench.XXXXXX")
clean() {
	local side
	for side in old new; do
		[ ! -e "$scratch/$side" ] || git worktree remove --force "$scratch/$side" || true
	done
	rm -rf "$scratch"
	git worktree prune
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

GOBIN=$scratch go install "golang.org/x/perf/cmd/benchstat@$benchstat_version"

# build SIDE COMMIT: the test programs of the packages that the commit has.
build() {
	local package
	git worktree add --quiet --detach "$scratch/$1" "$2"
	for package in "${packages[@]}"; do
		[ -d "$scratch/$1/$package" ] || continue
		say "$1: building $package at $(git log -1 --format='%h (%s)' "$2")"
		go -C "$scratch/$1" test -c -trimpath -o "$scratch/$1-${package//\//-}.test" "./$package" || {
			say "error: $package does not build at $2"
			exit 1
		}
	done
}
build old "$old"
build new "$new"

# run SIDE PACKAGE: one round of its benchmarks.
run() {
	local program=$scratch/$1-${2//\//-}.test
	[ -x "$program" ] || return 0
	(cd "$scratch/$1/$2" && "$program" -test.run '^$' -test.bench "$bench" -test.benchtime "$duration" -test.timeout 30m) >"$scratch/round" 2>&1 || {
		cat "$scratch/round" >&2
		say "error: a benchmark of $2 failed at $1"
		exit 1
	}
	cat "$scratch/round" >>"$scratch/$1.txt"
}

for ((round = 1; round <= count; round++)); do
	say "round $round of $count"
	for package in "${packages[@]}"; do
		# Who goes first changes: what warms up, or throttles, falls on both.
		if ((round % 2)); then
			run old "$package"
			run new "$package"
		else
			run new "$package"
			run old "$package"
		fi
	done
	if [ "$round" = 1 ]; then
		for side in old new; do
			grep -q '^Benchmark' "$scratch/$side.txt" || say "no benchmark of the $side commit matches '$bench'"
		done
		grep -q '^Benchmark' "$scratch/old.txt" "$scratch/new.txt" || die "nothing to compare: no benchmark matches '$bench'"
	fi
done
(cd "$scratch" && ./benchstat old.txt new.txt)
