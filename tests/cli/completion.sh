#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The shell's completion: the program's candidates, and the script that asks for them.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

run --complete re
check "commands" test "$output" = $'record\nreport'
run --complete record --dur
check "options" test "$output" = '--duration'
run --complete record -e ''
check "sources" test "$(head -n 2 <<<"$output") $(tail -n 1 <<<"$output")" = $'kmod\ndrm auto'
run --complete config sampl
check "keys and their other spellings" test "$(grep -xE 'sample|sampling|sampling_rate|sampling_mode' <<<"$output")" = $'sample\nsampling_mode\nsampling\nsampling_rate'
run --complete config level ver
check "words of a key" test "$output" = verbose
run --complete config filter_events submit,comp
check "words of a mask, after a comma" test "$output" = submit,complete
run --complete record --filter-engine gra
check "and after an option of record" test "$output" = graphics
run --complete config --profile ''
check "profiles" test "$output" = "$(sed -n 's/^GRT_PROFILE(\([a-z]*\),.*/\1/p' "$GRTRACE_SRC/cmds/config/profiles.def")"
run --complete export -f perf
check "formats" test "$output" = perfetto
run --complete flame --weight wa
check "weights" test "$output" = wall
run --complete report --by k
check "views of report, of their rows" test "$output" = kernel
run --complete record -e kmod,dr
check "sources, after a comma" test "$output" = kmod,drm
run --complete dump --type submit,comp
check "types, after a comma" test "$output" = submit,complete
run --complete report --sort t_e
check "columns of jobs" test "$output" = t_exec
run --complete report --by process --sort ''
# estimates have longer names in JSON
check "columns of the table of --by" test "$(grep -v '^est_' <<<"$output")" = "$("$GRTRACE" --schema report | python3 -c '
import json, sys
s = json.load(sys.stdin)["properties"]["processes"]["items"]["anyOf"][0]["properties"]
print("\n".join(k for k in s if k not in ("inferred", "estimated") and not k.startswith("estimated_")))')"
run --complete flame --by th
check "words of flame --by" test "$output" = thread
run --complete report --by process --sort exec_p5
check "one of them" test "$output" = exec_p50
run --complete monitor ''
check "monitors" test "$output" = "$(sed -n 's/^GRT_MONITOR(\([a-z0-9]*\),.*/\1/p' "$GRTRACE_SRC/cmds/monitor/monitors.def")"
run --complete monitor power ''
check "and no second one" silent
run --complete record -o ''
check "for a path the shell is left alone" silent
run --complete frob ''
check "nothing for an unknown command" silent

PATH=$(dirname "$GRTRACE"):$PATH
# shellcheck source=completion/grtrace
. "$GRTRACE_SRC/completion/grtrace"
complete_line() { # WORDS...
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_grtrace
}
complete_line grtrace stat
check "bash completes a command" test "${COMPREPLY[*]}" = status
complete_line grtrace record --raw = "fi"
touch file
complete_line grtrace record -o "fi"
check "bash completes a file" test "${COMPREPLY[*]}" = file

# zsh and fish: the files are what the program's tables make, and the shells read them.
for shell in zsh fish; do
	file=$GRTRACE_SRC/completion/grtrace.$shell
	if command -v $shell >/dev/null; then
		check "$shell reads its file" $shell -n "$file"
	else
		checks=$((checks + 1))
		echo "ok $checks - $shell reads its file # SKIP no $shell: apt-get install $shell"
	fi
done
if command -v fish >/dev/null; then
	check "fish completes a command" test "$(HOME=$PWD fish --no-config -c "set PATH $(dirname "$GRTRACE") \$PATH; source $GRTRACE_SRC/completion/grtrace.fish; complete -C 'grtrace stat'" |
		cut -f1)" = status
	check "fish completes a value" test "$(HOME=$PWD fish --no-config -c "set PATH $(dirname "$GRTRACE") \$PATH; source $GRTRACE_SRC/completion/grtrace.fish; complete -C 'grtrace report --by pro'" |
		cut -f1)" = process
fi
if command -v zsh >/dev/null; then
	check "zsh asks the program" test "$(zsh -f -c "compdef() { :; }; compadd() { shift; print -l -- \"\$@\"; }
		words=(grtrace report --by pro) CURRENT=4; source $GRTRACE_SRC/completion/grtrace.zsh; _grtrace")" = process
fi

# In the shells themselves, as they are typed at: Tab completes the word, and what is not ours is left to the shell.
typed() { # SHELL TITLE SCREEN-REGEX KEYS -- COMMAND...
	local shell=$1 title=$2 regex=$3 keys=$4
	shift 5
	output=$("$GRTRACE_SRC/tests/cli/_screen.py" 80x24 'wait=^\$$' "key=$keys" "wait=$regex" $'key=\025exit 7\n' -- "$@" 2>&1)
	status=$?
	if [ $status = 4 ]; then
		ok "$shell: $title # SKIP ${output##*$'\n'}"
	else
		check "$shell: $title" test $status = 7
	fi
}
types() { # SHELL COMMAND...
	local shell=$1
	shift
	typed "$shell" "a command" '^\$ grtrace status' 'grtrace stat\t' -- "$@"
	typed "$shell" "a value" '^\$ grtrace report --by process ?$' 'grtrace report --by pro\t' -- "$@"
	typed "$shell" "a value behind =" '^\$ grtrace report --by=process ?$' 'grtrace report --by=pro\t' -- "$@"
	typed "$shell" "a value behind a comma" '^\$ grtrace record -e drm,virtio' 'grtrace record -e drm,virt\t' -- "$@"
	typed "$shell" "a file" '^\$ grtrace dump a-recording\.grt' 'grtrace dump a-rec\t' -- "$@"
}
mkdir -p a-recording.grt functions
cat >bashrc <<END
PS1='\$ '
. '$GRTRACE_SRC/completion/grtrace'
END
types bash bash --noprofile --rcfile bashrc -i
if command -v zsh >/dev/null; then
	ln -s "$GRTRACE_SRC/completion/grtrace.zsh" functions/_grtrace
	cat >.zshrc <<-END
		PROMPT='$ ' PROMPT_EOL_MARK= fpath=('$PWD/functions' \$fpath)
		autoload -U compinit && compinit -u -D
	END
	types zsh env ZDOTDIR="$PWD" zsh -o no_global_rcs -i
fi
if command -v fish >/dev/null; then
	mkdir -p fish/fish
	cat >fish/fish/config.fish <<-END
		function fish_prompt; echo '$ '; end
		set -g fish_greeting
		set -g fish_autosuggestion_enabled 0
		source $GRTRACE_SRC/completion/grtrace.fish
	END
	types fish env HOME="$PWD" XDG_CONFIG_HOME="$PWD/fish" XDG_DATA_HOME="$PWD/fish" fish -i
fi
plan
