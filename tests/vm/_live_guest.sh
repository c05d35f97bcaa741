#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: what is read live is what was emitted, once.

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
mark_log
plan 9
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

unload grtrace_virtio_gpu
check "the module unloads after it" unload grtrace
check "the kernel log is free of complaints after it" log_clean
