#compdef grtrace
# SPDX-License-Identifier: GPL-2.0
# Zsh completion of grtrace. The words come from the program's own tables
# (`grtrace --complete`); where it has none, a file is completed.

_grtrace()
{
	local -a asked found
	local word

	for word in "${(@)words[2,CURRENT]}"; do
		# the program wants an option before its value
		if [[ $word == --*=* ]]; then
			asked+=("${word%%=*}" "${word#*=}")
		else
			asked+=("$word")
		fi
	done
	found=("${(@f)$(${words[1]} --complete "${asked[@]}" 2>/dev/null)}")
	if [[ -n "${found[1]}" ]]; then
		[[ ${words[CURRENT]} == --*=* ]] && compset -P 1 '*='
		compadd -- "${found[@]}"
	else
		_files
	fi
}

if [[ ${funcstack[1]} == _grtrace ]]; then
	_grtrace "$@"
else
	compdef _grtrace grtrace
fi
