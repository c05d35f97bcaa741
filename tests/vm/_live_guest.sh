#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: what is read live is what was emitted, once.

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
mark_log
plan 11
PATH=/mnt/build:$PATH
cd /tmp || exit 1

fate() { # NAME
	sed -n "s/^total .* $1=\([0-9]*\).*/\1/p" "$D/stats"
}

load grtrace || exit 1
load grtrace_virtio_gpu || exit 1

grtrace start >/dev/null
kmscube -c 30 >/dev/null 2>&1 &
timeout 60 grtrace dump --json >events 2>err &
dump=$!
wait %1
sleep 1
check "dump prints while tracing goes on" test -s events
check "status names the reader" sh -c "grtrace status | grep -q \"$(pidof grtrace)\""
timeout 10 grtrace dump >second 2>second.err
check "a second reader is refused, with the first one's pid" grep -q "$(pidof grtrace)" second.err
grtrace stop >/dev/null
wait $dump
check "dump ends when tracing stops" test $? -eq 0
check "dump has every event that was delivered" test "$(wc -l <events)" -eq "$(fate delivered)"

echo clear >"$D/control"
grtrace start >/dev/null
kmscube -c 30 >/dev/null 2>&1 &
grtrace report -d 8 --json >report.json 2>err
check "report -d ends in time and prints" grep -q '"rings"' report.json
check "report saw jobs of kmscube" grep -q '"process": *"kmscube"' report.json
grtrace stop >/dev/null

# 31 jobs are far fewer than those that may wait for later ones: each report has those of its time.
grtrace start >/dev/null
(
	sleep 1
	i=0
	while [ $((i += 1)) -le 31 ]; do echo "submit ring=0 ctx=77 seqno=$i engine=graphics" >"$D/emit"; done
) &
grtrace report -n 2 -d 8 --json >reports.json 2>err
check "report -n ends in time and prints" test "$(grep -c '"recording"' reports.json)" -ge 3
jobs=$(sed -n 's/.*"joins": {"joined": \([0-9]*\), "incomplete": \([0-9]*\),.*/\1 \2/p' reports.json)
echo "# joined, incomplete: $jobs" | tr '\n' ' '
echo
# the last of them is what came between the last interval and the end
check "jobs come in the report of their interval" test "$(echo "$jobs" | head -n -1 | awk '{ n += $2 } END { print n + 0 }')" = 31
grtrace stop >/dev/null

unload grtrace_virtio_gpu
check "the module unloads after it" unload grtrace
check "the kernel log is free of complaints after it" log_clean
