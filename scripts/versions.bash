# shellcheck shell=bash
# For the scripts that run tests on servers of several versions: source it from the
# project's root.

# use_server VERSION has the tests of this shell run on it; "embedded" is the one of
# go.mod.
use_server() {
	unset NATS_READER_SERVER_BIN NATS_READER_SERVER_VERSION
	if [ "$1" != embedded ]; then
		scripts/servers.sh "$1" >/dev/null
		export NATS_READER_SERVER_VERSION=${1#v}
	fi
}

# run_long LOG CASES PACKAGE ARGUMENT... runs the long tests whose names match, and
# prints their figures; fails where one did not pass, or was skipped.
run_long() {
	local log=$1 cases=$2 package=$3 names name wrong=0
	names=$(go test -race -tags long -list "$cases" "$package" | grep '^Test')
	# -v: the figures are the tests' own lines.
	go test -race -tags long -count=1 -v -run "$cases" "${@:4}" "$package" >"$log" 2>&1 || wrong=1
	grep -vE '^=== (RUN|PAUSE|CONT|NAME)' "$log" || true
	for name in $names; do
		grep -q "^--- PASS: $name " "$log" && continue
		printf '%s: %s did not pass\n' "$(basename "$0")" "$name"
		wrong=1
	done
	if grep -qE '^ *--- SKIP' "$log"; then
		printf '%s: a test was skipped\n' "$(basename "$0")"
		wrong=1
	fi
	return "$wrong"
}

# each_version FUNCTION VERSION... calls it with every version, also after one that
# failed, and says at the end which did.
each_version() {
	local failed=() version code
	for version in "${@:2}"; do
		set +e
		(
			set -e
			"$1" "$version"
		)
		code=$?
		set -e
		[ "$code" = 0 ] || failed+=("$version")
	done
	if [ ${#failed[@]} -gt 0 ]; then
		printf '%s: FAILED on nats-server %s\n' "$(basename "$0")" "${failed[*]}"
		exit 1
	fi
	printf '%s: ok on nats-server %s\n' "$(basename "$0")" "${*:2}"
}
