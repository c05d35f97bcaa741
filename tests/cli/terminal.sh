#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a terminal gets: tables that fit it, and a pager.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/report_traces" && "$GRTRACE_BUILD/tests/cli/export_traces" cuda cuda.grt &&
	"$GRTRACE_BUILD/tests/cli/traces" every every.grt || exit 1
export TERM=xterm LC_ALL=C.UTF-8

on_terminal() { # COLUMNS COMMAND...
	output=$("$GRTRACE_SRC/tests/cli/_terminal.py" "$@" </dev/null 2>&1)
	status=$?
}

widest() {
	awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }'
}

# ------------------------------------------------------------------- width

export PAGER=
on_terminal 200 "$GRTRACE" report --by job drm.grt
whole=$output
check "a wide terminal gets the same output as a pipe" test "$whole" = "$("$GRTRACE" report --by job drm.grt)"
for width in 100 80 64 50; do
	on_terminal $width "$GRTRACE" report --by job drm.grt
	check "$width characters" test "$(sed -n '/^jobs by/,/^$/p' <<<"$output" | widest)" -le $width
	check "$width: as many rows" test "$(wc -l <<<"$output")" -ge "$(wc -l <<<"$whole")"
done
check "the least important columns go first, from the right" test "$(on_terminal 77 "$GRTRACE" report --by job drm.grt
	grep '^ *ctx\|^ *engine' <<<"$output" | xargs)" = "ctx engine ring seq pid comm t_sched t_queue t_exec t_gpu_wait"
check "more important columns are left out later" test "$(on_terminal 55 "$GRTRACE" report --by job drm.grt
	grep ' seq ' <<<"$output" | xargs)" = "ctx ring seq pid comm t_queue t_exec t_gpu_wait"
on_terminal 55 "$GRTRACE" report --by job drm.grt
check "a note has the number of columns that are left out" says '^[0-9]+ columns are left out to fit 55 characters: -w shows all$'
on_terminal 55 "$GRTRACE" report --by job -w drm.grt
check "-w shows all" test "$output" = "$whole"
output=$(COLUMNS=55 "$GRTRACE" report --by job drm.grt)
check "COLUMNS is the width of a pipe" says 'to fit 55 characters'
output=$(COLUMNS=0 "$GRTRACE" report --by job drm.grt)
check "an invalid COLUMNS is ignored" test "$output" = "$whole"
check "CSV and JSON are never cut" cmp -s <(COLUMNS=20 "$GRTRACE" report --by job --csv drm.grt) <("$GRTRACE" report --by job --csv drm.grt)

check "what a table is sorted by stays" test "$(on_terminal 36 "$GRTRACE" report --by job drm.grt
	grep ' seq ' <<<"$output" | xargs)" = "ctx ring seq comm t_exec"
sentences() {
	sed '/^recording/,$d' | sed '/^$/d'
}
run report drm.grt
whole=$(sentences <<<"$output")
on_terminal 50 "$GRTRACE" report drm.grt
narrow=$(sentences <<<"$output")
check "sentences are broken between words" test "$(tr -s '\n ' ' ' <<<"$narrow")" = "$(tr -s '\n ' ' ' <<<"$whole")"
check "into lines that fit" test "$(widest <<<"$narrow")" -le 50
check "which are several" test "$(wc -l <<<"$narrow")" -gt "$(wc -l <<<"$whole")"
check "of a pipe a line is a sentence" test "$(COLUMNS=50 "$GRTRACE" report drm.grt | sentences)" = "$whole"

# Tables of each view, at several widths: a section with a title, a line of columns and rows.
mapfile -t views < <("$GRTRACE" --tables | awk -F'\t' '$1 == "view" { print $2 }')
check "every table fits" python3 - "$GRTRACE" "${views[@]}" <<-'PY'
	import os, re, subprocess, sys
	grtrace, *views = sys.argv[1:]
	seen = 0
	for by in views:
	    for trace, widths in ("every.grt", (20, 72)), ("cuda.grt", (47,)):
	        for width in widths:
	            text = subprocess.run([grtrace, "report", "--by", by, trace], capture_output=True, text=True,
	                                  env={**os.environ, "COLUMNS": str(width)}).stdout
	            for section in text.split("\n\n"):
	                rows = section.split("\n")[1:]
	                if len(rows) > 1 and re.fullmatch(" *[a-z][a-z0-9_]*( +[a-z][a-z0-9_]*)*", rows[0]):
	                    seen += 1
	                    assert max(map(len, rows)) <= width, (by, trace, width, section)
	assert seen > 50, seen
PY
output=$(COLUMNS=20 "$GRTRACE" report --by type every.grt)
check "names are cut in the middle" says '^SYNC_W…ENTER +12$'
output=$(COLUMNS=20 LC_ALL=C "$GRTRACE" report --by type every.grt)
check "in the C locale names are cut with dots" says '^SYNC_\.\.ENTER +12$'

# ------------------------------------------------------------------- pager

export PAGER='sed s/^/PAGED:/'
on_terminal 80 "$GRTRACE" report drm.grt
check "a terminal gets a pager" says '^PAGED:recording$'
check "the pager gets the whole output" test "$(grep -vc '^PAGED:' <<<"$output")" = 0
check "the pager gets tables of the terminal's width" says '^PAGED:[0-9]+ columns are left out to fit 80 characters'
check "with a pager, the exit status is the command's" exits 0
for command in "timeline drm.grt" "dump drm.grt" "merge drm.grt" "monitor drm -i drm.grt" "annotate -i drm.grt" \
	"sched -i $GRTRACE_SRC/tests/golden/nvsched/ours.in" doctor "record -e list" "flame --weight launches cuda.grt"; do
	# shellcheck disable=SC2086
	on_terminal 80 "$GRTRACE" $command
	check "so does ${command%% *}" says '^PAGED:'
done
GRTRACE_PAGER='sed s/^/OURS:/' on_terminal 80 "$GRTRACE" report drm.grt
check "GRTRACE_PAGER has precedence over PAGER" says '^OURS:recording'
for none in '' cat; do
	PAGER=$none on_terminal 80 "$GRTRACE" report drm.grt
	check "'$none' is no pager" says '^recording'
done
on_terminal 80 "$GRTRACE" --no-pager report drm.grt
check "--no-pager before the command" says '^recording'
on_terminal 80 "$GRTRACE" report --no-pager drm.grt
check "--no-pager after the command" says '^recording'
output=$("$GRTRACE" report drm.grt)
check "a pipe gets no pager" says '^recording'
TERM=dumb on_terminal 80 "$GRTRACE" report drm.grt
check "a dumb terminal gets no pager" says '^recording'
PAGER="printenv LESS; cat >/dev/null" on_terminal 80 "$GRTRACE" report drm.grt
check "LESS is set as git sets it" test "$output" = FRX
LESS=S PAGER="printenv LESS; cat >/dev/null" on_terminal 80 "$GRTRACE" report drm.grt
check "LESS is not changed if it is set" test "$output" = S
PAGER="head -n 1" on_terminal 80 "$GRTRACE" dump every.grt
check "leaving the pager early prints no error about a broken pipe" test "$(wc -l <<<"$output")" = 1
PAGER=no-such-pager on_terminal 80 "$GRTRACE" report drm.grt
check "a message reports a pager that does not exist" says 'no-such-pager'
NO_COLOR='' PAGER='sed s/^/PAGED:/' on_terminal 80 "$GRTRACE" report drm.grt
check "colours are kept" says $'^PAGED:\033'
on_terminal 80 "$GRTRACE" report no.grt
expect "errors of opening are the command's" 1 'no.grt: cannot open'
echo cut >>drm.grt/kmod_0
on_terminal 80 "$GRTRACE" report drm.grt
expect "later messages follow the report" 1 '^PAGED:grtrace report: drm.grt/kmod_0'
check "with sudo, the user's PAGER is not run as root" test "$(SUDO_UID=1 PAGER='echo MINE' "$GRTRACE_SRC/tests/cli/_terminal.py" 80 \
	"$GRTRACE" report cuda.grt | grep -c MINE)" = "$([ "$(id -u)" = 0 ] && echo 0 || echo 1)"

fake_start 1 10 100
on_terminal 80 "$GRTRACE" report -d 0.3
check "live output has no pager" says '^recording'
fake_stop
plan
