#!/usr/bin/env bash
# Draws the picture of the README anew: runs the demo on a pseudo-terminal, breaks
# it with keys, and writes what was to be seen as an SVG that moves.
#
#   scripts/picture.sh [FILE]    default: .github/watch.svg
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

file=${1:-.github/watch.svg}
case "$file" in /*) ;; *) file=$PWD/$file ;; esac
go test -tags picture ./commands -count=1 -run '^TestPicture$' -args -picture "$file"
ls -l "$file"
