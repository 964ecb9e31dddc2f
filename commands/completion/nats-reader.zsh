#compdef nats-reader
# Completion of nats-reader for zsh: sourced behind compinit, or as _nats-reader in a
# folder of fpath.

_nats-reader() {
	local line word about
	local -a found before space
	before=("${(@Q)words[1,CURRENT-1]}")
	space=()
	while IFS= read -r line; do
		case $line in
		$'\tfiles') _files ;;
		$'\tfolders') _files -/ ;;
		$'\topen') space=(-S '') ;;
		*)
			word=${line%%$'\t'*}
			about=${line#*$'\t'}
			word=${word//\\/\\\\}
			if [[ $about == $line ]]; then
				found+=("${word//:/\\:}")
			else
				found+=("${word//:/\\:}:$about")
			fi
			;;
		esac
	done < <("${(e)before[1]/#\~/$HOME}" __complete words "${before[@]}" "=${(Q)PREFIX}" 2>/dev/null)
	(( $#found )) && _describe -t nats-reader nats-reader found "${space[@]}"
}

if [[ $funcstack[1] == _nats-reader ]]; then
	_nats-reader "$@"
elif (( $+functions[compdef] )); then
	compdef _nats-reader nats-reader
fi
