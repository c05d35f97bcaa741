#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The code is laid out by .clang-format, the kernel's by checkpatch.
cd "$GRTRACE_SRC" || exit 1
n=0
verdict() { # FILE MESSAGES
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		head -20 <<<"$2"
	fi
}
# All at once, since starting takes longer than a file; one by one where that says something.
verdicts() { # WHAT FILES... -- COMMAND...
	local what=$1 files=() file all
	shift
	while [ "$1" != -- ]; do
		files+=("$1")
		shift
	done
	shift
	all=$("$@" "${files[@]}" 2>&1)
	for file in "${files[@]}"; do
		[ -z "$all" ] || all=x$("$@" "$file" 2>&1)
		verdict "$file$what" "${all#x}"
	done
}

# Another version lays out otherwise: Debian 12's is the measure.
if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
	verdicts "" inject/*.[ch] {lib,host,kmod,sources,cmds}/*.[ch] {lib,sources,cmds}/*/*.[ch] -- clang-format --dry-run
else
	n=$((n + 1))
	echo "ok $n - layout # SKIP no clang-format 14: apt-get install clang-format"
fi
# clang-format 14 tears a comment that is longer than a line, and leaves out the space where it goes on.
verdict "comments are whole" "$(grep -rnP --include='*.[ch]' '^ \*\w' \
	bench cmds examples host include inject kernel kmod lib sources tests tools)"
# The first call may fetch it, and says so.
tools/checkpatch kernel/core/main.c >/dev/null 2>&1
verdicts " (checkpatch)" kernel/*/*.[ch] bench/kernel/*.c -- tools/checkpatch
echo "1..$n"
