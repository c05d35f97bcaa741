# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# _lib.sh: what scripts of this directory share: a program that plays launches
# with a mock CUDA (mock/mock.h), and the comparison of its recording, record by
# record, with what really happened.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# Programs that others are loaded into are not under the sanitizers.
readonly MOCK=$GRTRACE_PLAIN/tests/inject/mock
readonly LIBRARY=$GRTRACE_PLAIN/libgrtrace-cuda.so

# Runs the mock program, as in a container: the library alone, into out.grt; `log` is what happened.
play() { # SCENE [NUMBER]
	rm -rf out.grt log
	output=$(MOCK_LOG=$PWD/log CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/out.grt \
		timeout 120 "$MOCK/app" "$@" 2>&1)
	status=$?
	records out.grt
}

# Reads a recording: `got` are its launches and GPU records, `facts` all else.
records() { # DIR
	"$GRTRACE_BUILD/tests/inject/records" "$1" >all 2>&1
	grep -a -v '^#' all | sort >got
	grep -a '^#' all >facts
	[ ! -f log ] || sort log >want
}

fact() { # REGEX
	grep -qaE -- "$1" facts
}

same() {
	diff -a want got >difference
}

# The recording has all that happened, and nothing else, and nothing is wrong with it.
exact() { # NAME [STATUS]
	if [ "$status" = "${2:-0}" ] && [ -s want ] && same && fact '^# faults=0 missing=0 .* balance=ok' &&
		fact '^# undefined=0 '; then
		ok "$1"
	else
		output+=$'\n'$(head -c 2000 facts; head -n 20 difference 2>/dev/null)
		not_ok "$1" "$(wc -l <want) records happened, $(wc -l <got) are there"
	fi
}

# A program of the mock that goes on until finish: $pid, with its output in `said`.
begin_waiting() { # COMMAND...
	rm -f go said
	MOCK_GO=$PWD/go "$@" >said 2>&1 &
	pid=$!
	await 'grep -q ready said 2>/dev/null'
}
finish() {
	touch go
	wait $pid
	status=$?
	output=$(<said)
}
# Kernels of a recording: how many, and whether one between the first and the last is missing or doubled.
whole() {
	"$GRTRACE_BUILD/tests/inject/records" "$1" | awk '$1 == "G" && $3 == "kernel" { n++; k[$4]++; if (!lo || $4 < lo) lo = $4; if ($4 > hi) hi = $4 }
		END { for (i = lo; n && i <= hi; i += 2) if (k[i] != 1) bad++; print n + 0, bad + 0 }'
}
