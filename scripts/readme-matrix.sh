#!/usr/bin/env bash
# Writes the tables of README.md that tell who reads under which fault, from the
# results of chaos matrix in chaos/matrix/results.
#
#   scripts/readme-matrix.sh           write them
#   scripts/readme-matrix.sh --check   fail where they are not what the results say
#   scripts/readme-matrix.sh --play    measure again first: about an hour; the
#                                      servers are built where they are missing
#
# A table NAME stands between the lines <!-- matrix NAME --> and <!-- end -->.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

results=chaos/matrix/results

die() {
	printf 'readme-matrix.sh: error: %s\n' "$*" >&2
	exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ran ARGUMENT...: the matrix, whatever it found of the readers.
ran() {
	local code=0
	"$scratch/nats-reader" chaos matrix "$@" || code=$?
	[ "$code" = 0 ] || [ "$code" = 2 ] || die "chaos matrix $* ended with exit code $code"
}

# play NAME ARGUMENT... measures one result.
play() {
	ran --quiet --report json "${@:2}" >"$scratch/played.json"
	mv "$scratch/played.json" "$results/$1.json"
}

# table NAME prints the table of a result, and when and where it was measured.
table() {
	ran --report markdown --from-file "$results/$1.json" >"$scratch/report.md"
	sed -n '/^|/p' "$scratch/report.md"
	printf '\n%s\n' "$(tail -n 1 "$scratch/report.md")"
}

mode=${1:-write}
case "$mode" in
write | --check | --play) ;;
-h | --help)
	sed -n '2,11s/^# \{0,1\}//p' "$0"
	exit 0
	;;
*) die "unknown argument '$1': see --help" ;;
esac

go build -o "$scratch/nats-reader" .
if [ "$mode" = --play ]; then
	scripts/servers.sh all >/dev/null
	play embedded --targets 'all,consume(durable=false),messages(max-wait=1s),ordered-messages(max-wait=1s)'
	play tuned --heartbeat 250ms --targets 'reader,ordered-consume(heartbeat=500ms),consume(heartbeat=500ms)'
	play versions --servers all
fi

names=$(sed -n 's/^<!-- matrix \([a-z]*\) -->$/\1/p' README.md)
[ -n "$names" ] || die "README.md has no line <!-- matrix NAME -->"
for name in $names; do
	[ -f "$results/$name.json" ] || die "README.md has a table of $results/$name.json, which is not there"
	table "$name" >"$scratch/$name.table"
done
awk -v scratch="$scratch" '
	/^<!-- end -->$/ { inside = 0 }
	!inside { print }
	/^<!-- matrix [a-z]* -->$/ {
		inside = 1
		file = scratch "/" $3 ".table"
		while ((getline line < file) > 0) print line
	}
	END { if (inside) exit 1 }
' README.md >"$scratch/README.md" || die "README.md: a table does not end with <!-- end -->"
if [ "$mode" = --check ]; then
	diff -u README.md "$scratch/README.md" || die "README.md is not what $results says: run scripts/readme-matrix.sh"
else
	cat "$scratch/README.md" >README.md
fi
