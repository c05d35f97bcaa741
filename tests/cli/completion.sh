#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The shell's completion: the program's candidates, and the script that asks for them.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

run --complete re
check "commands" test "$output" = $'record\nreport'
run --complete record --du
check "options" test "$output" = '--duration'
run --complete record -e ''
check "sources" test "$(head -n 2 <<<"$output") $(tail -n 1 <<<"$output")" = $'kmod\ndrm auto'
run --complete config sampl
check "keys and their other spellings" test "$(grep -xE 'sample|sampling|sampling_rate|sampling_mode' <<<"$output")" = $'sample\nsampling_mode\nsampling\nsampling_rate'
run --complete config level ver
check "words of a key" test "$output" = verbose
run --complete config filter_events submit,comp
check "words of a mask, behind a comma" test "$output" = submit,complete
run --complete record --filter-engine gra
check "and behind an option of record" test "$output" = graphics
run --complete config --profile ''
check "profiles" test "$output" = "$(sed -n 's/^GRT_PROFILE(\([a-z]*\),.*/\1/p' "$GRTRACE_SRC/cmds/config/profiles.def")"
run --complete export -f perf
check "formats" test "$output" = perfetto
run --complete flame --weight wa
check "weights" test "$output" = wall
run --complete report --by k
check "views of report, of their rows" test "$output" = kernel
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
plan
