#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest: grtrace rocm record on a program that calls the real KFD,
# whose functions are traced. 17 queues are asked for.

n=0
result() { # NAME: of the status before
	status=$?
	n=$((n + 1))
	if [ "$status" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
echo "TAP version 13"
grtrace=/mnt/build/grtrace
calls=/mnt/build/tests/vm/kfd_calls
tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
export TMPDIR=/tmp

$grtrace rocm record --functions kfd_open -o /tmp/none -- true 2>/tmp/none.err
[ $? = 3 ] && grep -q 'modprobe amdgpu' /tmp/none.err
result "without the driver the kernel's side is missing, and it is said what to type"

# 128 returns of a function can be awaited at a time; here are 160.
$grtrace rocm record --functions hrtimer_nanosleep -o /tmp/missed -- \
	sh -c 'i=0; while [ $((i += 1)) -le 160 ]; do sleep 10 & done; wait' >/dev/null 2>&1
calls_seen=$(grep -c 'hrtimer_nanosleep: ' /tmp/missed/ftrace.txt)
returns_seen=$(grep -c 'hrtimer_nanosleep_ret: ' /tmp/missed/ftrace.txt)
missed=$($grtrace rocm report -i /tmp/missed | sed -n 's/^ *\([0-9]*\) events were lost.*/\1/p')
echo "# $calls_seen calls, $returns_seen returns, $missed missed"
[ "$calls_seen" = 160 ] && [ "$returns_seen" = 128 ] && [ "$missed" = 32 ]
result "returns that the kernel could not probe are counted"
[ "$(ls $tracing/instances)" = "" ] && [ "$(cat $tracing/kprobe_events)" = "" ]
result "nothing is left of a function of the kernel's own"

# vfs_statfs has a part that the compiler made a function of its own: that is traced, too.
$grtrace rocm record --functions vfs_statfs -o /tmp/part -- \
	sh -c "stat -f / >/dev/null; cat $tracing/kprobe_events" >/tmp/part.out 2>&1
sed 's/^/# /' /tmp/part.out
grep -q '^p:.*/vfs_statfs vfs_statfs$' /tmp/part.out && grep -q '^r128:.*/vfs_statfs_ret vfs_statfs ' /tmp/part.out &&
	grep -q 'vfs_statfs' /tmp/part/ftrace.txt
result "a function with a part of its own has its probes, and the part is traced"

modprobe amdgpu
[ -c /dev/kfd ]
result "amdgpu without hardware makes /dev/kfd"

# By sudo: the recorder becomes another user while it captures, and still puts all back.
SUDO_UID=65534 SUDO_GID=65534 $grtrace rocm record -o /tmp/r -- $calls 17 >/tmp/out 2>/tmp/err
result "rocm record"
cat /tmp/err /tmp/out | sed 's/^/# /'
[ "$(grep -c '^create_queue: Invalid argument' /tmp/out)" = 17 ] && grep -q '^get_version: done' /tmp/out
result "the program's output is its own, and its queues were refused"
grep -q 'not in this kernel' /tmp/err
result "functions that this kernel lacks are told"
[ "$(ls $tracing/instances)" = "" ] && [ "$(cat $tracing/kprobe_events)" = "" ]
result "nothing is left in tracefs"
[ -z "$(find /tmp/r ! -user 65534)" ]
result "the recording belongs to who asked for it"

cp -r /tmp/r /out/
sed 's/^/# /' /tmp/r/report.txt

$grtrace rocm report -i /tmp/r --json >/tmp/r.json
python3 --version >/dev/null 2>&1 || echo "# no python3 here: the numbers are looked at outside"
cp /tmp/r.json /out/

# The same two texts as files of other tools, the log's clock seven seconds wrong.
awk '{ if (match($0, /: [0-9]+ us:/)) { t = substr($0, RSTART + 2, RLENGTH - 6);
	printf "%s: %010d us:%s\n", substr($0, 1, RSTART - 1), t + 7000000, substr($0, RSTART + RLENGTH) } else print }' \
	/tmp/r/kfd_calls_amd_log.txt >/tmp/shifted.txt
$grtrace rocm report --amd-log /tmp/shifted.txt --ftrace /tmp/r/ftrace.txt --json >/out/shifted.json
result "a log with another clock"
$grtrace rocm report --amd-log /tmp/shifted.txt --ftrace /tmp/r/ftrace.txt | sed -n '/^input/,/^$/p' | sed 's/^/# /'

# A recorder that is killed leaves its instance; the next one removes it.
$grtrace rocm record --functions kfd_open -o /tmp/k -- sleep 60 >/dev/null 2>&1 &
i=0
until [ -n "$(cat $tracing/kprobe_events)" ] || [ $i = 80 ]; do
	sleep 1
	i=$((i + 1))
done
kill -9 $!
wait 2>/dev/null
[ -n "$(ls $tracing/instances)" ] && [ -n "$(cat $tracing/kprobe_events)" ]
result "a killed recorder leaves its instance and probes"
$grtrace rocm record --functions kfd_open -o /tmp/k2 -- true >/dev/null 2>/tmp/err2
result "the next one works"
grep -q 'removed leftovers of [0-9]* killed recorders*' /tmp/err2
result "and says that it removed them"
[ "$(ls $tracing/instances)" = "" ] && [ "$(cat $tracing/kprobe_events)" = "" ]
result "nothing is left in tracefs"

# A trace of function_graph made by hand is read, too.
echo 0 >$tracing/tracing_on
grep -nE '^(kfd_ioctl|kfd_ioctl_create_queue|kfd_ioctl_get_version) ' $tracing/available_filter_functions | cut -d: -f1 |
	while read -r number; do echo "$number" >>$tracing/set_ftrace_filter; done
echo function_graph >$tracing/current_tracer
echo 1 >$tracing/options/funcgraph-abstime
echo 1 >$tracing/options/funcgraph-proc
echo mono >$tracing/trace_clock
echo 1 >$tracing/tracing_on
AMD_LOG_LEVEL_FILE=/tmp/graph_log.txt $calls 3 >/dev/null
echo 0 >$tracing/tracing_on
cat $tracing/trace >/tmp/graph.txt
cp /tmp/graph.txt /tmp/graph_log.txt /out/
$grtrace rocm report --amd-log /tmp/graph_log.txt --ftrace /tmp/graph.txt --json >/out/graph.json
result "function_graph"
echo "1..$n"
