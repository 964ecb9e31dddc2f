#!/usr/bin/env bash
# Measures how fast the reader reads beside nats.go's own readers, and prints the tables
# and what the reader is to reach beside what it reached: 1,000,000 messages of 128 B at
# equal pulls and at everyone's defaults, messages of 4 KB, and 600 of 256 KB with 20 ms
# of work on each. What counts are ratios within rounds; measure on a machine that does
# nothing else.
#
#   scripts/speed.sh                 7 rounds
#   scripts/speed.sh ROUNDS [FLAG...]   more flags for every nats-reader bench, such as --storage memory
#
# SPEED_COUNT=N takes fewer messages of 128 B, to try the script.
#
# Exit code 1: the reader lost or repeated a message, or did not come to the end; with
# SPEED_STRICT=1 also when a figure is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,15s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "speed.sh: error: the number of rounds comes first, not '$1': see --help" >&2
	exit 2
	;;
esac
rounds=${1:-7}
if ! [[ $rounds =~ ^[1-9][0-9]*$ ]]; then
	echo "speed.sh: error: '$rounds' is no number of rounds: see --help" >&2
	exit 2
fi
[ $# -eq 0 ] || shift

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
go build -o "$scratch/nats-reader" .

# bench NAME FLAG...: one bench, its tables on stdout and in a file. What others lose is
# a finding; whether ours lost is looked at in the table.
bench() {
	local code=0
	"$scratch/nats-reader" bench --format markdown --base consume,ordered-messages "${@:2}" >"$scratch/$1.md" &
	child=$!
	wait "$child" || code=$?
	child=
	cat "$scratch/$1.md"
	echo
	case "$code" in
	0 | 2 | 3) grep -q '^| next ' "$scratch/$1.md" || exit "$code" ;;
	*) exit "$code" ;;
	esac
}

bench small --rounds "$rounds" --size 128 --count "${SPEED_COUNT:-1000000}" "$@"
bench middle --rounds "$rounds" --size 4096 "$@"
bench large --rounds 1 --size 262144 --count 600 --work 20ms --pull defaults --limit 90s "$@"

# cell FILE SECTION TABLE COLUMN [ROW]: a figure of a row, next where none is named. SECTION and TABLE are parts of
# the lines above the table; the first table of a section is called -.
cell() {
	awk -F ' *[|] *' -v section="$2" -v table="$3" -v column="$4" -v row="${5:-next}" '
		/^## / { in_section = index($0, section); in_table = table == "-"; next }
		/^(Beside|The work) / { in_table = index($0, table) }
		in_section && in_table && $2 == row { sub(/x$/, "", $column); print $column; exit }
	' "$scratch/$1.md"
}

wrong=0
# judge WHAT RELATION TARGET FIGURE: a line of the last table.
judge() {
	local word
	word=$(awk -v figure="$4" -v target="$3" -v relation="$2" 'BEGIN {
		if (figure !~ /^[0-9.]+$/) print "not measured"
		else if (relation == ">=" ? figure + 0 >= target + 0 : figure + 0 <= target + 0) print "reached"
		else print "missed"
	}')
	printf '| %s | %s %s | %s | %s |\n' "$1" "$2" "$3" "${4:--}" "$word"
	[ "$word" = reached ] || [ -z "${SPEED_STRICT:-}" ] || wrong=1
}

printf '# What is to be reached, by next\n\n| what | target | measured | |\n| --- | --- | ---: | --- |\n'
judge '128 B, equal pulls: speed beside consume' '>=' 1.0 "$(cell small 'equal pulls' 'Beside consume' 3)"
judge '128 B, equal pulls: CPU beside consume' '<=' 1.05 "$(cell small 'equal pulls' 'Beside consume' 5)"
judge '128 B, defaults: speed beside consume' '>=' 1.3 "$(cell small defaults 'Beside consume' 3)"
judge '128 B, defaults: CPU beside consume' '<=' 1.05 "$(cell small defaults 'Beside consume' 5)"
judge '128 B, defaults: speed beside ordered-messages' '>=' 1.5 "$(cell small defaults 'Beside ordered-messages' 3)"
judge '128 B, defaults: CPU beside ordered-messages' '<=' 0.65 "$(cell small defaults 'Beside ordered-messages' 5)"
judge '128 B, equal pulls: CPU beside ordered-messages' '<=' 0.65 "$(cell small 'equal pulls' 'Beside ordered-messages' 5)"
judge '128 B: allocations a message' '<=' 4.1 "$(cell small defaults - 7)"
judge '4 KB, equal pulls: speed beside consume' '>=' 1.0 "$(cell middle 'equal pulls' 'Beside consume' 3)"
judge '600 x 256 KB, 20 ms each: seconds' '<=' 13 "$(cell large defaults 'The work' 3)"
judge '600 x 256 KB: bytes on the wire for each of payload' '<=' 1.005 "$(cell large defaults 'The work' 6)"
judge '600 x 256 KB: reconnects' '<=' 0 "$(cell large defaults 'The work' 7)"
judge '600 x 256 KB: lost' '<=' 0 "$(cell large defaults 'The work' 8)"
judge 'nats-reader version: ms, the middle of 7' '<=' 50 "$(for _ in 1 2 3 4 5 6 7; do
	began=$EPOCHREALTIME
	"$scratch/nats-reader" version >/dev/null
	ended=$EPOCHREALTIME
	echo $(((${ended//[.,]/} - ${began//[.,]/}) / 1000))
done | sort -n | sed -n 4p)"

if grep -E '^- (next|next-batch|iterator)( was not measured|, round [0-9]+:.*(lost|repeated|not as published))' "$scratch"/*.md; then
	wrong=1
fi
exit "$wrong"
