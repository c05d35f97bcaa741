#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Analyses that another thread feeds find what one thread finds: the same bytes, and the same exit status.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/report_traces" .
"$GRTRACE_BUILD/tests/golden/monitor_traces" .
for kind in all cuda; do
	"$GRTRACE_BUILD/tests/cli/export_traces" $kind $kind.grt
done
cp -r all.grt cut.grt
truncate -s -20 cut.grt/kmod_1

# How it ends, and what it writes.
with() { # THREADS COMMAND...
	local threads=$1
	shift
	GRTRACE_THREADS=$threads "$GRTRACE" "$@" 2>&1
	echo "status $?"
}

same() { # COMMAND...
	with 1 "$@" >one
	with 2 "$@" >two
	cmp -s one two || not_ok "grtrace $*: $(diff one two | head -n 3)"
}

names=(all cuda cut drm frames ranks slices)
for name in "${names[@]}"; do
	same report "$name.grt"
	same report --json "$name.grt"
	for form in parquet:work rollup:meta; do
		IFS=: read -r form table <<<"$form"
		for threads in 1 2; do
			with "$threads" export -f "$form" -o "tables.$threads" "$name.grt" >"told.$threads"
		done
		cmp -s told.1 told.2 || not_ok "$name: what export -f $form says: $(diff told.1 told.2 | head -n 3)"
		diff -r tables.1 tables.2 >different || not_ok "$name: tables of -f $form: $(head -n 3 different)"
		check "$name: tables of -f $form were written, and are the same" test -s "$(echo tables.2/"$table"/*/*/*.parquet)"
		rm -rf tables.1 tables.2
	done
done
for view in kernel stack step idle; do
	same report --by $view ranks.grt
	same report --by $view --json cuda.grt
done
same report --by ring all.grt
same report --by kernel --csv --from +100us ranks.grt
same report --from +100us ranks.grt
same report --to +300us ranks.grt
check "reports of the same are the same, too" grep -q '^status 0' two

# The threads of reports share batches: without data races, says the compiler's tool, whose memory must be where it wants it.
cc=$(command -v "${CC:-gcc}" || command -v clang)
if [ -n "$cc" ] && echo 'int main(void) { return 0; }' | "$cc" -fsanitize=thread -x c -o races - 2>/dev/null && setarch -R ./races; then
	"$cc" -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=thread -I "$GRTRACE_SRC/lib" -o races "$GRTRACE_SRC/tests/unit/test_feed.c" \
		"$GRTRACE_SRC/lib/base/feed.c" -lcmocka
	output=$(CMOCKA_MESSAGE_OUTPUT=TAP setarch -R ./races 2>&1)
	status=$?
	check "batches from thread to thread" says '^ok 1 - test_order'
	check "without a race" exits 0
else
	ok "data races # SKIP no compiler with ThreadSanitizer that works here: apt-get install gcc"
fi

# How many threads it made.
threads_of() { # THREADS COMMAND...
	ASAN_OPTIONS=detect_leaks=0 GRTRACE_THREADS=$1 strace -f -e trace=clone,clone3 -o trace.txt "$GRTRACE" "${@:2}" >/dev/null 2>&1
	grep -c 'clone3\?(' trace.txt
}
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	check "with two there are two" test "$(threads_of 2 report ranks.grt)" = 1
	check "with one there is one" test "$(threads_of 1 report ranks.grt)" = 0
	check "a small recording needs no other" test "$(env -u GRTRACE_THREADS ASAN_OPTIONS=detect_leaks=0 strace -f -e trace=clone,clone3 -o trace.txt "$GRTRACE" report ranks.grt >/dev/null 2>&1; grep -c 'clone3\?(' trace.txt)" = 0
	check "filters are of one thread" test "$(threads_of 2 report --pid 70 ranks.grt)" = 0
	check "tables have two, too" test "$(threads_of 2 export -f parquet -o out ranks.grt)" = 1
else
	ok "how many threads there are # SKIP strace is missing, or not allowed: apt-get install strace"
fi
plan
