#!/usr/bin/env bash
# Lets each example of scripts/targets read a thousand messages from a real server
# through the fault proxy, freezes it meanwhile, and sees that it ends when it is told
# to, with nothing left behind. Fails where one does not.
#
#   scripts/targets.sh              all of them
#   scripts/targets.sh NAME...      these: node, shell, go
#
# node needs Node 22, and npm, which fetches nats.js as package-lock.json pins it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

targets=(node shell go)
for name in "$@"; do
	case "$name" in
	-h | --help)
		sed -n '2,9s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	esac
	[[ " ${targets[*]} " == *" $name "* ]] || {
		echo "targets.sh: error: unknown target '$name': one of ${targets[*]}" >&2
		exit 2
	}
done
[ $# -gt 0 ] || set -- "${targets[@]}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# prepare NAME prints the command of a target.
prepare() {
	case "$1" in
	node)
		if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
			echo "targets.sh: error: node and npm are not in PATH: install Node 22, or name the other targets" >&2
			return 1
		fi
		npm ci --prefix scripts/targets/node --no-audit --no-fund >&2
		echo "exec node '$PWD/scripts/targets/node/reader.mjs'"
		;;
	shell)
		go build -o "$scratch/nats-reader" .
		echo "NATS_READER='$scratch/nats-reader' exec '$PWD/scripts/targets/shell/reader.sh'"
		;;
	go)
		go build -C scripts/targets/go -o "$scratch/reader" .
		echo "exec '$scratch/reader'"
		;;
	esac
}

for name in "$@"; do
	command=$(prepare "$name")
	NATS_READER_TARGETS+="$name=$command"$'\n'
done
export NATS_READER_TARGETS

go test -tags long -count=1 -timeout 10m -v -run '^TestExamples$' ./chaos/target | tee "$scratch/log"
for name in "$@"; do
	grep -q "^    --- PASS: TestExamples/$name " "$scratch/log" || {
		echo "targets.sh: FAILED: $name" >&2
		exit 1
	}
done
