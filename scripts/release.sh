#!/usr/bin/env bash
# Builds a release from the commit that is checked out: static programs for Linux,
# macOS and Windows on amd64 and arm64, each in an archive with the licence, the
# README, man pages and completions, the licences of all that is linked in, an SBOM
# (CycloneDX) of each, and SHA256SUMS.
#
#   scripts/release.sh [--verify] [--only OS/ARCH]... [--out DIR] [VERSION]
#   scripts/release.sh --licences
#
#   VERSION         such as v1.2.3 or 1.3.0-rc.1; default: the tag of the commit, else
#                   v0.0.0-DATE-COMMIT, which is for trying
#   --verify        build all twice, in two folders and without a common build cache,
#                   and fail where one byte differs
#   --only OS/ARCH  not all six; may be repeated
#   --out DIR       the folder, default dist/VERSION, which is replaced as a whole
#   --licences      only check that the licences of what is linked in are allowed
#
# The same commit gives the same archives on every machine: the Go version is fixed,
# paths and times are left out. An SBOM also names the tool that made it, by its hash:
# it is the same on machines of one kind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go_release=go1.26.8
licences_tool=github.com/google/go-licenses@v1.6.0
sbom_tool=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
# What a program under Apache-2.0 may hold without more than a notice.
allowed=Apache-2.0,MIT,BSD-2-Clause,BSD-3-Clause,ISC
# Modules without a file of their licence, and the one that their README names: read
# again where the version changes.
read_by_hand=("github.com/mattn/go-localereader v0.0.1 MIT")
module=github.com/an-open-reader/nats-reader
targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

say() { printf 'release.sh: %s\n' "$*" >&2; }

die() {
	say "error: $*"
	exit 1
}

usage() { sed -n '2,22s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# needs FLAG VALUE: the flag has one.
needs() { case "$2" in "" | -*) die "$1 needs a value: see --help" ;; esac; }

verify=no licences_only=no out="" version="" only=()
while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		usage
		exit 0
		;;
	--verify) verify=yes ;;
	--licences) licences_only=yes ;;
	--only)
		needs "$1" "${2:-}"
		[[ " ${targets[*]} " == *" $2 "* ]] || die "--only '$2': one of ${targets[*]}"
		only+=("$2")
		shift
		;;
	--out)
		needs "$1" "${2:-}"
		out=$2
		shift
		;;
	-*) die "unknown flag '$1': see --help" ;;
	*)
		[ -z "$version" ] || die "one version at a time: '$version' or '$1'"
		version=$1
		;;
	esac
	shift
done
[ ${#only[@]} -eq 0 ] || targets=("${only[@]}")
command -v go >/dev/null || die "go is not in PATH: any version from 1.21 on fetches $go_release by itself"
command -v git >/dev/null || die "git is not in PATH: a release is built from a commit"

# Nothing of the caller's settings gets into the build; where modules come from and
# are kept makes no difference.
for name in GOPROXY GOSUMDB GONOSUMDB GOMODCACHE GOCACHE; do export "$name=$(go env "$name")"; done
for name in GOOS GOARCH GOFLAGS GOEXPERIMENT GOAMD64 GOARM64 GODEBUG GOFIPS140 GO111MODULE; do unset "$name"; done
export GOTOOLCHAIN=$go_release GOWORK=off GOENV=off CGO_ENABLED=0 LC_ALL=C TZ=UTC

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

git() { command git -c safe.directory='*' "$@"; }

# install_tools TOOL...: their programs are in $scratch/tools.
install_tools() {
	local tool
	for tool in "$@"; do
		GOBIN=$scratch/tools GOFLAGS=-trimpath go install "$tool" || die "$tool does not build: does the module proxy answer (go env GOPROXY)?"
	done
}

# licences SOURCE ARGUMENT...: go-licenses on the program in SOURCE; its words are shown
# only where it fails.
licences() {
	local ignored=(--ignore "$module") entry
	for entry in "${read_by_hand[@]}"; do ignored+=(--ignore "${entry%% *}"); done
	(cd "$1" && GOROOT=$(go env GOROOT) PATH=$(go env GOROOT)/bin:$PATH GOFLAGS=-buildvcs=false \
		"$scratch/tools/go-licenses" "$2" . "${ignored[@]}" "${@:3}" 2>"$scratch/words") || {
		grep -vE '^W|^/' "$scratch/words" >&2
		return 1
	}
}

# check_licences SOURCE: of all that is linked in on any system.
check_licences() {
	local system entry name version licence
	for entry in "${read_by_hand[@]}"; do
		read -r name version licence <<<"$entry"
		[ "$(cd "$1" && go list -m "$name")" = "$name $version" ] || die "$name is no longer $version: read its licence, and write it down in read_by_hand"
		[[ ,$allowed, == *",$licence,"* ]] || die "$name is under $licence, which is none of $allowed"
	done
	for system in linux darwin windows; do
		GOOS=$system licences "$1" check --allowed_licenses="$allowed" ||
			die "something linked in on $system has another licence than $allowed"
	done
	say "licences: all that is linked in is under one of $allowed"
}

if [ "$licences_only" = yes ]; then
	install_tools "$licences_tool"
	check_licences .
	exit 0
fi

commit=$(git rev-parse --verify -q HEAD) || die "there is no commit: a release is built from one"
dirty=$(git status --porcelain)
[ -z "$dirty" ] || die "the tree differs from the commit: commit, or put aside with git stash -u"$'\n'"$dirty"
seconds=$(git show -s --format=%ct HEAD)

# Semantic Versioning 2.0.0, without what a file name or a tag cannot hold ("+").
semver='^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?$'
if [ -z "$version" ]; then
	version=$(git tag --points-at HEAD --list 'v*' --sort=-version:refname | sed -n 1p)
	[ -n "$version" ] || version=v0.0.0-$(git show -s --date=format-local:%Y%m%d%H%M%S --format=%cd HEAD)-${commit:0:12}
fi
version=v${version#v}
[[ $version =~ $semver ]] || die "'${version#v}' is no version: give one such as v1.2.3 or v1.3.0-rc.1"
tagged=$(git rev-parse --verify -q "refs/tags/$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$commit" ] || die "tag $version is on commit ${tagged:0:12}, and ${commit:0:12} is checked out: git switch --detach $version"
out=${out:-dist/$version}
[ ! -e "$out" ] || [ -d "$out" ] || die "--out $out: that is a file"
[ ! -d "$out" ] || [ -z "$(ls -A "$out")" ] || [ -f "$out/SHA256SUMS" ] || die "--out $out: the folder holds something else than a release"

# build_target FOLDER OS/ARCH: the program, its archive and its SBOM.
build_target() {
	local folder=$1 os=${2%/*} arch=${2#*/}
	local name=nats-reader_${version#v}_${os}_${arch} program=nats-reader kind=tar.gz stage
	[ "$os" != windows ] || program=nats-reader.exe kind=zip
	stage=$folder/stage/$os-$arch/$name
	mkdir -p "$stage"
	cp -R "$folder/common/." "$folder/common-$os/." "$stage/"
	(cd "$folder/source" && GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=true -ldflags "-s -w -X main.version=$version" -o "$stage/$program" .) ||
		die "$2 does not build"
	"$scratch/tools/pack" -time "$seconds" -to "$folder/out/$name.$kind" "$stage" || die "$2 cannot be packed"
	# Without a proxy: whether this version is published yet makes no difference.
	GOPROXY=off "$scratch/tools/cyclonedx-gomod" bin -json -std -licenses -assert-licenses -noserial -notimestamp -version "$version" \
		-output "$folder/out/$name.cdx.json" "$stage/$program" 2>"$stage.words" || die "no SBOM of $2: $(cat "$stage.words")"
	say "$name.$kind"
}

# notices FOLDER OS: the licences of what is linked in, in one file.
notices() {
	local saved=$1/licences-$2 file entry
	mkdir -p "$1/common-$2"
	GOOS=$2 licences "$1/source" save --save_path "$saved" --force || die "the licences of $2 cannot be read"
	mkdir -p "$saved/the Go standard library" # part of every program
	cp "$(go env GOROOT)/LICENSE" "$saved/the Go standard library/"
	for entry in "${read_by_hand[@]}"; do
		mkdir -p "$saved/${entry%% *}"
		cp "$(cd "$1/source" && go list -m -f '{{.Dir}}' "${entry%% *}")/README.md" "$saved/${entry%% *}/NOTICE-README.md"
	done
	(cd "$saved" && find . -type f \( -iname '*licen*' -o -iname '*notice*' -o -iname '*copying*' \) | sort | while IFS= read -r file; do
		printf '==== %s\n\n' "${file#./}"
		cat "$file"
		printf '\n'
	done) >"$1/common-$2/THIRD-PARTY-LICENCES.txt"
}

# extras FOLDER: what the program itself prints: manual pages and completions.
extras() {
	local program=$1/host/nats-reader file
	(cd "$1/source" && go build -trimpath -buildvcs=true -ldflags "-s -w -X main.version=$version" -o "$program" .) || die "it does not build for this machine"
	[ "$("$program" version | awk '{print $2}')" = "$version" ] || die "the program says '$("$program" version)', not $version"
	mkdir -p "$1/common/completions" "$1/common/man"
	for file in bash:nats-reader.bash zsh:_nats-reader fish:nats-reader.fish powershell:nats-reader.ps1; do
		"$program" completion "${file%%:*}" >"$1/common/completions/${file#*:}" || die "nats-reader completion ${file%%:*}"
	done
	"$program" man --dir "$1/common/man/man1" || die "nats-reader man"
}

# build FOLDER: everything, into FOLDER/out.
build() {
	local folder=$1 system target running=()
	mkdir -p "$folder/out" "$folder/common"
	git clone -q --no-hardlinks . "$folder/source"
	command git -C "$folder/source" -c advice.detachedHead=false checkout -q "$commit"
	(cd "$folder/source" && cp LICENSE README.md CHANGELOG.md "$folder/common/")
	(cd "$folder/source" && go build -o "$scratch/tools/pack" ./scripts/pack)
	extras "$folder"
	for system in $(printf '%s\n' "${targets[@]%/*}" | sort -u); do notices "$folder" "$system"; done
	# Linking uses one processor: two at a time.
	for target in "${targets[@]}"; do
		while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || die "not built"; done
		build_target "$folder" "$target" &
		running+=("$target")
	done
	while [ -n "$(jobs -p)" ]; do wait -n || die "not built"; done
	(cd "$folder/out" && sums nats-reader_* >SHA256SUMS)
	[ "$(wc -l <"$folder/out/SHA256SUMS")" = $((2 * ${#running[@]})) ] || die "not all was built: $(ls "$folder/out")"
}

# sums FILE...: their SHA-256, as sha256sum prints them.
sums() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# is_static PROGRAM: nothing has to be there to run it. Only Linux knows such programs.
is_static() { ! LC_ALL=C grep -qa '/ld-linux\|/ld-musl' "$1"; }

say "$version of commit ${commit:0:12} with $(go env GOVERSION): ${targets[*]}"
install_tools "$licences_tool" "$sbom_tool"
check_licences .
build "$scratch/first"
for target in "${targets[@]}"; do
	[ "${target%/*}" != linux ] || is_static "$scratch/first/stage/${target/\//-}/nats-reader_${version#v}_${target/\//_}/nats-reader" ||
		die "the program for $target wants a dynamic linker"
done
if [ "$verify" = yes ]; then
	say "once more, elsewhere and with an empty build cache"
	mkdir -p "$scratch/another/place"
	GOCACHE=$scratch/cache build "$scratch/another/place/second"
	differ=$(diff "$scratch/first/out/SHA256SUMS" "$scratch/another/place/second/out/SHA256SUMS" || true)
	[ -z "$differ" ] || die "not reproducible:"$'\n'"$differ"
	say "reproducible: $(wc -l <"$scratch/first/out/SHA256SUMS" | tr -d ' ') files are the same twice"
fi
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$scratch/first/out" "$out"
cat "$out/SHA256SUMS"
