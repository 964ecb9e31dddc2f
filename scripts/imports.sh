#!/usr/bin/env bash
# Enforces which package may import what, from `go list` for every system that
# has files of its own. Test files are excepted. A package or a module without
# a line in the two tables below is a violation too: what may use it is decided
# here, on purpose.
#
#   scripts/imports.sh              check this module; exit 1 on a violation
#   scripts/imports.sh --self-test  check that each kind of violation is seen
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=github.com/an-open-reader/nats-reader

# package > packages of this module it may import. "." is the main package.
# main > commands > tui > chaos > reader > reader/session, never back.
packages='
.                   > commands chaos/lab
commands            > tui chaos chaos/bench chaos/bench/fleet chaos/matrix chaos/oracle chaos/plan chaos/report chaos/result chaos/run chaos/target chaos/proxy chaos/proxy/control chaos/lab chaos/owner reader reader/session reader/doctor reader/readerprom
tui                 > tui/background chaos chaos/proxy reader reader/session
tui/background      >
chaos               > chaos/oracle chaos/proxy chaos/lab chaos/owner reader reader/session
chaos/bench         > chaos chaos/lab reader
chaos/bench/fleet   > chaos chaos/lab reader reader/session
chaos/oracle        > reader reader/session
chaos/result        > chaos/oracle
chaos/report        > chaos/oracle chaos/result
chaos/proxy         >
chaos/proxy/control > chaos/proxy
chaos/lab           > chaos/owner
chaos/owner         >
chaos/target        > chaos chaos/oracle chaos/proxy reader reader/session
chaos/target/bad    > reader
chaos/plan          > chaos chaos/target chaos/oracle chaos/proxy
chaos/run           > chaos chaos/plan chaos/target chaos/oracle chaos/result chaos/proxy chaos/lab reader reader/session
chaos/matrix        > chaos/plan chaos/run chaos/target chaos/oracle chaos/result chaos/report chaos/lab chaos/owner
chaos/readertest    > chaos chaos/oracle chaos/proxy chaos/lab
reader              > reader/session
reader/session      >
reader/session/simulate       > reader/session reader/session/simulate/model
reader/session/simulate/model >
reader/session/simulate/mutants >
reader/doctor       > reader reader/session
reader/readerprom   > reader reader/session
scripts/pack        >
'

# module of others > packages that may import it. The standard library is open to
# all; a package without a word here, such as reader/session, has nothing else.
modules='
github.com/nats-io/nats.go              > reader reader/doctor chaos chaos/bench chaos/bench/fleet chaos/lab chaos/readertest chaos/run chaos/target chaos/target/bad commands
github.com/nats-io/nuid                 > reader chaos chaos/bench chaos/bench/fleet chaos/run chaos/target commands
github.com/nats-io/jsm.go               > reader/doctor chaos commands
github.com/nats-io/nats-server/v2       > chaos/lab
github.com/goccy/go-yaml                > chaos/plan
github.com/urfave/cli/v2                > commands
github.com/jedib0t/go-pretty/v6         > chaos/report chaos/matrix chaos/bench/fleet commands
github.com/jstemmer/go-junit-report/v2  > chaos/report commands
github.com/agnivade/levenshtein         > commands
github.com/cpuguy83/go-md2man           > commands
github.com/charmbracelet/bubbletea      > tui
github.com/charmbracelet/bubbles        > tui
github.com/charmbracelet/lipgloss       > tui tui/background
github.com/charmbracelet/x              > tui
github.com/muesli/termenv               > tui
github.com/prometheus/client_golang     > reader/readerprom commands
golang.org/x/net                        > commands
golang.org/x/sys                        > chaos/lab commands
'

systems=(linux darwin windows freebsd)

# listing prints "package import" for each non-test import, of all systems, and
# "package ! text" where go list cannot read a package. Modules need not be there.
listing() {
	local system
	for system in "${systems[@]}"; do
		# shellcheck disable=SC2016 # the $ is go list's
		GOOS=$system CGO_ENABLED=1 go list -e -f '{{$p := .ImportPath}}{{$p}}{{range .Imports}}{{"\n"}}{{$p}} {{.}}{{end}}{{with .Error}}{{"\n"}}{{$p}} ! {{with .Pos}}{{.}}: {{end}}{{printf "%q" .Err}}{{end}}' ./... || return 1
	done | sort -u
}

# judge reads a listing and prints a line for each violation; it fails if there is one.
judge() {
	awk -v module="$module" -v packages="$packages" -v modules="$modules" '
	function table(text, into, keys,    rows, n, i, row, words, m, j, allowed) {
		n = split(text, rows, "\n")
		for (i = 1; i <= n; i++) {
			if (rows[i] !~ />/) continue
			split(rows[i], row, ">")
			gsub(/[ \t]/, "", row[1])
			keys[row[1]] = 1
			m = split(row[2], words, " ")
			for (j = 1; j <= m; j++) into[row[1], words[j]] = 1
		}
	}
	function short(path) { return path == module ? "." : substr(path, length(module) + 2) }
	function told(pkg) { return pkg == "." ? "main" : pkg }
	function wrong(text) { print "imports.sh: " text; bad = 1 }
	function owner(path,    key, best) {
		for (key in thirdKeys)
			if ((path == key || index(path, key "/") == 1) && length(key) > length(best)) best = key
		return best
	}
	BEGIN { table(packages, own, ownKeys); table(modules, third, thirdKeys) }
	{
		pkg = short($1)
		if (NF == 1) {
			seen++
			if (!(pkg in ownKeys)) wrong("package " told(pkg) " has no line in the table of packages: say there what it may import")
			next
		}
		path = $2
		if (path == "!") { $1 = $2 = ""; wrong(told(pkg) " cannot be read:" substr($0, 2)); next }
		if (path == "C") { wrong(told(pkg) " uses cgo: this module builds without a C compiler"); next }
		if (path == module || index(path, module "/") == 1) {
			to = short(path)
			if ((pkg in ownKeys) && !((pkg, to) in own)) wrong(told(pkg) " imports " told(to) ": imports run main > commands > tui > chaos > reader > reader/session")
			next
		}
		split(path, head, "/")
		if (head[1] !~ /\./) next # the standard library
		key = owner(path)
		if (key == "") wrong(told(pkg) " imports " path ": its module has no line in the table of modules: say there who may import it")
		else if (!((key, pkg) in third)) {
			allowed = ""
			for (k in third) { split(k, pair, SUBSEP); if (pair[1] == key) allowed = allowed " " pair[2] }
			n = split(allowed, names, " "); asort_names(names, n); allowed = names[1]
			for (i = 2; i <= n; i++) allowed = allowed ", " names[i]
			wrong(told(pkg) " imports " path ": only " allowed " may")
		}
	}
	function asort_names(a, n,    i, j, t) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
	}
	END {
		if (!seen) wrong("no package found: is this the root of the module?")
		exit bad
	}'
}

# self_test makes a module in which each rule is broken once, beside a package that
# keeps them all, and compares what is said with what must be said.
self_test() {
	local got want
	root=$(mktemp -d) # not local: removed at the exit
	trap 'rm -rf "$root"' EXIT
	put() { # FOLDER PACKAGE IMPORT...: one file
		mkdir -p "$root/$1"
		{
			printf 'package %s\n' "$2"
			printf 'import _ "%s"\n' "${@:3}"
		} >"$root/$1/${file:-a.go}"
	}
	printf 'module %s\n\ngo 1.26\n' "$module" >"$root/go.mod"
	put commands commands fmt "$module/chaos" "$module/reader" github.com/urfave/cli/v2 github.com/nats-io/nats.go/jetstream
	put chaos chaos "$module/reader" "$module/tui" github.com/charmbracelet/bubbletea
	put tui tui fmt github.com/charmbracelet/lipgloss
	put reader reader context "$module/reader/session" github.com/nats-io/nats.go github.com/nats-io/jsm.go/natscontext
	file=a_windows.go put reader reader "$module/chaos/lab"
	file=a_test.go put reader reader "$module/chaos/proxy" go.uber.org/goleak
	put reader/session session time github.com/nats-io/nats.go
	put chaos/proxy proxy net "$module/reader/session"
	put chaos/lab lab github.com/nats-io/nats-server/v2/server C
	mkdir "$root/broken"
	printf 'package broken\n\nimport "fmt\n' >"$root/broken/a.go"
	put extras extras github.com/nats-io/nats-server/v3/server
	got=$( (cd "$root" && GOWORK=off listing) | judge) && {
		echo "imports.sh: self-test: a module full of violations passed"
		return 1
	}
	want='imports.sh: broken cannot be read: broken/a.go:3:8: "string literal not terminated"
imports.sh: package broken has no line in the table of packages: say there what it may import
imports.sh: chaos imports tui: imports run main > commands > tui > chaos > reader > reader/session
imports.sh: chaos imports github.com/charmbracelet/bubbletea: only tui may
imports.sh: chaos/lab uses cgo: this module builds without a C compiler
imports.sh: chaos/proxy imports reader/session: imports run main > commands > tui > chaos > reader > reader/session
imports.sh: package extras has no line in the table of packages: say there what it may import
imports.sh: extras imports github.com/nats-io/nats-server/v3/server: its module has no line in the table of modules: say there who may import it
imports.sh: reader imports chaos/lab: imports run main > commands > tui > chaos > reader > reader/session
imports.sh: reader imports github.com/nats-io/jsm.go/natscontext: only chaos, commands, reader/doctor may
imports.sh: reader/session imports github.com/nats-io/nats.go: only chaos, chaos/bench, chaos/bench/fleet, chaos/lab, chaos/readertest, chaos/run, chaos/target, chaos/target/bad, commands, reader, reader/doctor may'
	diff <(printf '%s\n' "$want" | sort) <(printf '%s\n' "$got" | sort) || {
		echo "imports.sh: self-test: not what must be said (< wanted, > said)"
		return 1
	}
	echo "imports.sh: self-test: every violation is seen"
}

case "${1:-}" in
"") listing | judge ;;
--self-test) self_test ;;
*)
	echo "imports.sh: unknown argument '$1': none, or --self-test" >&2
	exit 2
	;;
esac
