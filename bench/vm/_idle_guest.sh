#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of idle.sh: prints LABEL NS lines, the time in which the
# processor was not idle in each of some minutes in which nobody asks for anything.

set -e
D=/sys/kernel/debug/grtrace
M=/mnt/build/kernel
minutes=${MINUTES:-5}
modprobe -a gpu_sched drm_kms_helper

# Now, and how long the processor has been idle: a kernel with NO_HZ counts that in ns.
stamps() {
	awk '/^now at/ { now = $3 } /idle_sleeptime|iowait_sleeptime/ { idle += $(NF - 1) } END { printf "%.0f %.0f\n", now, idle }' /proc/timer_list
}

measure() { # LABEL
	sleep 5 # what has just been set up comes to rest
	for _ in $(seq "$minutes"); do
		begun=$(stamps)
		sleep 60
		echo "$1 $begun $(stamps)" | awk '{ printf "%s %.0f\n", $1, $4 - $2 - ($5 - $3) }'
	done
}

measure none
insmod $M/grtrace.ko
for module in "$M"/grtrace_*.ko; do
	insmod "$module"
done
measure loaded
echo start >$D/control
measure enabled
for setting in filter_pid=1 sampling_mode=adaptive rate_limit=1000 aggregator_enable=1 watchlist=0; do
	echo $setting >$D/config
done
measure stages
/mnt/build/grtrace record -e kmod -o /tmp/idle.grt 2>/tmp/err &
recorder=$!
sleep 2
measure recorded
kill -INT $recorder
wait $recorder || { cat /tmp/err >&2; exit 1; }
