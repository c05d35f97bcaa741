# SPDX-License-Identifier: GPL-2.0
# Fish completion of grtrace. The words come from the program's own tables
# (`grtrace --complete`); where it has none, a file is completed.

function __grtrace_words
	set -l line (commandline -opc) (commandline -ct)
	set -l words
	for word in $line[2..-1]
		# the program wants an option before its value
		if string match -qr -- '^--[a-z-]+=' $word
			set words $words (string split -m 1 = -- $word)
		else
			set words $words $word
		end
	end
	set -l found (command $line[1] --complete $words 2>/dev/null)
	if test (count $found) -gt 0
		# what stands before the value is part of the word
		set -l option (string match -r -- '^--[a-z-]+=' (commandline -ct))
		printf '%s\n' "$option"$found
	else
		__fish_complete_path (commandline -ct)
	end
end

complete -c grtrace -f -a '(__grtrace_words)'
