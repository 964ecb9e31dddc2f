#!/usr/bin/env bash
# Tries the completion in every shell that has one: bash, zsh and fish are typed in on a
# pseudo-terminal, with the program and a real server (zsh and fish are installed by apt
# where they are missing). The script for PowerShell is read by pwsh where there is one,
# otherwise by a grammar of the language (node and npm), which knows a script from what is
# none, and no more.
#
#   scripts/completion.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

grammar=@vscode/tree-sitter-wasm@0.3.1

die() {
	printf 'completion.sh: error: %s\n' "$*" >&2
	exit 1
}

need() { # PROGRAM...: each is there, or is installed
	local missing=() program
	for program in "$@"; do
		command -v "$program" >/dev/null || missing+=("$program")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || die "there is no apt-get: install ${missing[*]}"
	timeout 300 apt-get -qq update
	DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq install --yes --no-install-recommends "${missing[@]}" >/dev/null
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

need zsh fish
NATS_READER_SHELLS="zsh fish" go test -count=1 -run '^TestCompletionInAShell$' ./commands
go build -o "$scratch/nats-reader" .
for shell in bash zsh fish; do # what each takes for a mistake of the language
	"$scratch/nats-reader" completion "$shell" >"$scratch/script"
	"$shell" -n "$scratch/script" || die "the script for $shell cannot be read"
done
need shellcheck
"$scratch/nats-reader" completion bash | shellcheck -s bash -

"$scratch/nats-reader" completion powershell >"$scratch/nats-reader.ps1"
if command -v pwsh >/dev/null; then
	pwsh -NoProfile -Command "& { \$bad = \$null; [void][System.Management.Automation.Language.Parser]::ParseFile('$scratch/nats-reader.ps1', [ref]\$null, [ref]\$bad); \$bad; exit \$bad.Count }" ||
		die "pwsh cannot read its script"
	echo "completion.sh: the script for PowerShell was read by pwsh"
else
	command -v node >/dev/null || need nodejs npm
	command -v npm >/dev/null || need npm
	npm install --prefix "$scratch" --silent --no-audit --no-fund "$grammar" >/dev/null
	check=$PWD/scripts/completion/powershell.mjs
	(cd "$scratch" && node "$check" <nats-reader.ps1) || die "the script for PowerShell is no PowerShell"
	if (cd "$scratch" && echo 'function (((' | node "$check" 2>/dev/null); then
		die "the grammar takes anything for PowerShell"
	fi
	echo "completion.sh: there is no pwsh: the script for PowerShell was read by its grammar alone"
fi
