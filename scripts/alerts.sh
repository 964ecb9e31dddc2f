#!/usr/bin/env bash
# Checks scripts/alerts.yaml with Prometheus' own parser, and tries each rule on series on which it is to
# fire and on which it is not (scripts/alerts/tests.yaml). The first time Go compiles Prometheus' engine,
# which takes a minute on two cores.
#
#   scripts/alerts.sh
#
# Whoever has promtool can run the same: promtool test rules scripts/alerts/tests.yaml
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/alerts"

if [ $# -gt 0 ]; then
	echo "alerts.sh: unknown argument '$1': none" >&2
	exit 2
fi
export GOWORK=off
go mod tidy -diff
go vet ./...
go test -count=1 ./...
