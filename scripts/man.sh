#!/usr/bin/env bash
# Writes the manual pages of the program and has the programs that show them look for
# mistakes: groff with every warning, and mandoc, each of which is installed by apt
# where it is missing.
#
#   scripts/man.sh [FOLDER]    keeps the pages in FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pages=${1:-$scratch/man}

for program in groff mandoc; do
	command -v "$program" >/dev/null && continue
	timeout 300 apt-get -qq update
	DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq install --yes --no-install-recommends "$program" >/dev/null
done

go build -o "$scratch/nats-reader" .
"$scratch/nats-reader" man --dir "$pages"

bad=0
said() { # WHO: what it says of a page is a mistake
	local line
	while IFS= read -r line; do
		printf '%s: %s\n' "$1" "$line"
		bad=1
	done
}
for page in "$pages"/nats-reader*.1; do
	said groff < <(groff -man -ww -z -Tutf8 "$page" 2>&1)
	# A page has no date, so that the same program always prints the same.
	said mandoc < <(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'missing date, using ""' || true)
done
[ "$bad" = 0 ] || exit 1
echo "man.sh: $(find "$pages" -name '*.1' | wc -l) pages are in order"
