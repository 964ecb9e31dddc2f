# Completion of nats-reader for bash, from version 3.2 on.
#
#   source <(nats-reader completion bash)

_nats_reader() {
	local line quoted=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	while IFS= read -r line; do
		case "$line" in
		$'\tfiles') _nats_reader_paths -f "$2" ;;
		$'\tfolders') _nats_reader_paths -d "$2" ;;
		$'\topen') compopt -o nospace 2>/dev/null ;;
		*)
			line=${line%%$'\t'*}
			# Within quotes a word stays as it is; elsewhere what a shell would read
			# as something else is escaped.
			[[ $quoted == [\'\"]* || $line != *[^A-Za-z0-9_.,:=@/+-]* ]] || printf -v line %q "$line"
			COMPREPLY+=("$line")
			;;
		esac
	done < <("${1/#\~/$HOME}" __complete line "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}

_nats_reader_paths() {
	local path
	compopt -o filenames 2>/dev/null
	while IFS= read -r path; do
		COMPREPLY+=("$path")
	done < <(compgen "$1" -- "$2")
}

complete -F _nats_reader nats-reader
