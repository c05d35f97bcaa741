# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# _nv_manual.sh: the sequences of lines that docs/grtrace-sched.1 shows, for
# tests that play them. Sourced after _lib.sh.

# Lines without what is another every time: time, CPU, process, on demand the
# numbers that the driver chooses; where nobody has answered (/dev/null), as if.
masked() {
	sed -E 's/^[0-9:]{8}\.[0-9]{6} \[CPU[0-9]+\] ([A-Z_]+) +PID=[0-9]+ +[^ ]+ +/\1 /
		s/ allowed=no status=-ENOTTY$/ allowed=yes/; s/ status=-ENOTTY$//' |
		sed -E "$masks"
}

manual_sequence() { # NAME: the lines below the comment `sequence NAME`
	awk -v begin="sequence $1" 'index($0, begin) { on = 1; next } /^\.Ed/ { on = 0 } on && !/^\./' \
		"$GRTRACE_SRC/docs/grtrace-sched.1" | masked
}

# Whether run.grt, played by `nv_calls -c 0xc1d00019 cuda`, has the manual's lines and no others.
# shellcheck disable=SC2034 # check() shows output
is_as_in_the_manual() { # [numbers: but for those that the driver chooses]
	local lines masks=
	[ "${1:-}" != numbers ] || masks='s/ (channel|token|runlist|veid)=[0-9]+/ \1=N/g'
	lines=$("$GRTRACE" sched --include-failed -i run.grt | sed '/^=== /,$d' | masked)
	output=$(diff <(manual_sequence plain) <(cat <<<"$lines")) || return
	[ "$(wc -l <<<"$lines")" = 13 ] || return
	lines=$("$GRTRACE" sched -v --include-failed -i run.grt | grep c1d00019:5c000014 |
		sed '/CHANNEL_FREE/,$d' | masked)
	output=$(diff <(manual_sequence verbose) <(cat <<<"$lines")) && [ "$(wc -l <<<"$lines")" = 10 ]
}
