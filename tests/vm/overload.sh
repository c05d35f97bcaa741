#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A hundred thousand events (in the long form ten million) at full rate into a
# small buffer: stats, packets and report say the same of them.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
[ -x "$GRTRACE_BUILD/grtrace" ] || skip_all "no grtrace in $GRTRACE_BUILD: make"
events=${EVENTS:-100000}
[ -z "${GRTRACE_SOAK:-}" ] || events=10000000
guest --no-gpu --timeout $((300 + events / 5000)) --out "$work/out" -- \
	sh tests/vm/_overload_guest.sh "$events" >"$work/tap"

# A word of the total in stats, and in the report.
of_stats() { # FATE
	sed -n "s/^total .*\b$1=\([0-9]*\).*/\1/p" "$work/out/stats"
}
of_report() { # FATE
	awk -v name="$1" '$1 == name { print $2; exit }' "$work/report"
}

{
	cat "$work/tap"
	echo "TAP version 13"
	"$GRTRACE_BUILD/grtrace" report -v -i "$work/out/run.grt" >"$work/report" 2>&1
	n=0
	for fate in emitted delivered lost; do
		[ -n "$(of_stats $fate)" ] && [ "$(of_stats $fate)" = "$(of_report $fate)" ] || echo -n "not "
		echo "ok $((++n)) - the report says of $fate what stats said: $(of_report $fate)"
	done
	grep -q 'every event is accounted for' "$work/report" || echo -n "not "
	echo "ok $((++n)) - and its balance closes"
	records=$("$GRTRACE_BUILD/grtrace" dump "$work/out/run.grt" | wc -l)
	[ "$records" = "$(of_stats delivered)" ] || echo -n "not "
	echo "ok $((++n)) - as many records as were delivered: $records"
	echo "1..$n"
} | join_tap
