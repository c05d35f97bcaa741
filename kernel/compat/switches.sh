#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes compat/switches.h of compat/switches.c: one run of the compiler, whose
# errors say which switches do not hold.
#
#	switches.sh OUT SOURCE COMPILER FLAGS...
#
# An error elsewhere than in a switch, or a wrong answer of the two controls, is
# an error of this build: a switch must not be off because the compiler failed.

out=$1
source=$2
shift 2

LC_ALL=C
CCACHE_DISABLE=1 # it may print other paths than it was given
export LC_ALL CCACHE_DISABLE
said=$("$@" -Wno-error -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \
	-Werror=int-conversion -fsyntax-only "$source" 2>&1)

printf '%s\n' "$said" | awk -v source="$source" -v out="$out" '
	FNR == NR && /^SWITCH\(/ {
		name[++n] = substr($0, 8, index($0, ")") - 8)
		line[n] = FNR
	}
	FNR == NR { next }
	# PATH:LINE:COLUMN: error: TEXT
	/: (fatal )?error: / {
		at = substr($0, 1, index($0, "error: ") - 1)
		split(substr(at, length(source) + 2), part, ":")
		hit = 0
		if (index(at, source ":") == 1 && at !~ /fatal/)
			for (i = 1; i <= n && line[i] <= part[1] + 0; i++)
				hit = i
		if (hit)
			off[hit] = 1
		else
			bad = bad "\n" $0
	}
	END {
		for (i = 1; i <= n; i++)
			held[name[i]] = !off[i]
		if (bad == "" && (!held["CONTROL_YES"] || held["CONTROL_NO"]))
			bad = "\nthe answers of the compiler were not understood"
		if (bad != "") {
			print source ": the tests of the kernel headers cannot be compiled:" bad > "/dev/stderr"
			exit 1
		}
		print "/* Made of compat/switches.c by compat/switches.sh. */" > out
		for (i = 1; i <= n; i++)
			if (name[i] !~ /^CONTROL_/)
				print "#define GRTRACE_HAS_" name[i] " " held[name[i]] > out
	}' "$source" - || {
	printf '%s\n' "$said" | head -n 20 >&2
	rm -f "$out"
	exit 1
}
