#!/usr/bin/env bash
# Measures the reader under the faults that other readers go deaf under, on every
# version of nats-server, and prints a table in Markdown. Fails when a cell misses
# its bound, or did not run.
#
#   scripts/thirteen-faults.sh                 on every version of the matrix
#   scripts/thirteen-faults.sh VERSION...      on these; "embedded" is the one of go.mod
#
# Of each fault: the longest silence after its end, and, in brackets, from its
# start; requests to the API since Open; messages lost, twice, out of order. Where
# Open itself is refused: how soon it says so. About three minutes a version. Servers
# are built by scripts/servers.sh where they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
-h | --help)
	sed -n '2,13s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*)
	echo "thirteen-faults.sh: error: unknown flag '$1': see --help" >&2
	exit 2
	;;
esac
if [ $# -eq 0 ]; then
	mapfile -t matrix < <(scripts/servers.sh --list)
	set -- "${matrix[@]}" embedded
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

go test -c -tags long -o "$scratch/reader.test" ./reader
unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION

# on VERSION measures one version; its cells go to the file of all.
on() {
	local version=${1#v} server=()
	if [ "$version" != embedded ]; then
		scripts/servers.sh "$version" >/dev/null || return 1
		server=("NATS_READER_SERVER_VERSION=$version")
	fi
	local wrong=0
	(cd reader && env "${server[@]}" "$scratch/reader.test" -test.run '^TestThirteenFaults$' -test.v -test.count 1 \
		-test.timeout 20m -test.parallel 16) >"$scratch/log" 2>&1 || wrong=1
	sed -n "s/^.*: cell: /$version: /p" "$scratch/log" >>"$scratch/cells"
	[ "$wrong" = 0 ] || grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$scratch/log" >&2
	return "$wrong"
}

# table prints the cells of one configuration, a fault a line and a version a column.
table() {
	awk -F ': ' -v config="$1" -v columns="${*:2}" '
	function figure(name) { return match($4, name "=[^ ]*") ? substr($4, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : "?" }
	$2 == config {
		sub(/^[0-9]+ /, "", $3)
		if (!($3 in known)) { known[$3] = 1; order[++n] = $3 }
		text = figure("after") " (" figure("whole") ")"
		if (figure("refusal") != "0s") text = "refused in " figure("refusal") ", then " text
		cell[$3, $1] = text ", " figure("requests") " req, " figure("lost") "/" figure("twice") "/" figure("disordered")
	}
	END {
		versions = split(columns, version, " ")
		head = "| " config " |"; rule = "|---|"
		for (v = 1; v <= versions; v++) { sub(/^v/, "", version[v]); head = head " " version[v] " |"; rule = rule "---|" }
		print head; print rule
		for (i = 1; i <= n; i++) {
			line = "| " order[i] " |"
			for (v = 1; v <= versions; v++) {
				if (!((order[i], version[v]) in cell)) { cell[order[i], version[v]] = "**did not run**"; bad = 1 }
				line = line " " cell[order[i], version[v]] " |"
			}
			print line
		}
		print ""
		exit bad || n == 0
	}' <(sort -t : -k 3 "$scratch/cells")
}

failed=()
for version in "$@"; do
	on "$version" || failed+=("$version")
done
touch "$scratch/cells"
for config in defaults 'heartbeat 250ms' 'heartbeat 250ms, attempts 500ms, pauses 250ms' durable; do
	table "$config" "$@" || failed+=("the table of $config")
done
if [ ${#failed[@]} -gt 0 ]; then
	printf 'thirteen-faults.sh: FAILED: %s\n' "$(printf '%s, ' "${failed[@]}" | sed 's/, $//')" >&2
	exit 1
fi
