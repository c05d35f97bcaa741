#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of overload.sh: EVENTS events, from all CPUs at once, into a
# buffer that is much too small, while they are recorded to /out/run.grt.
#
#	sh _overload_guest.sh EVENTS [all|CPU]

# shellcheck disable=SC2317
events=$1
cpus=$(nproc)

# A line stands for a million at most. Not from the script's shared part: this is run again, as the emitter.
emit_share() { # CPU
	rest=$events
	while [ $rest -gt 0 ]; do
		part=$((rest > 1000000 ? 1000000 : rest))
		rest=$((rest - part))
		echo "submit ring=$1 ctx=$(($1 + 1)) seqno=$rest count=$part" >/sys/kernel/debug/grtrace/emit || exit 1
	done
}

case ${2:-} in
'') ;;
all)
	pids=
	for cpu in $(seq 0 $((cpus - 1))); do
		taskset -c "$cpu" sh "$0" "$((events / cpus))" "$cpu" & # nproc there is 1
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || exit 1
	done
	exit 0
	;;
*)
	emit_share "$2"
	exit 0
	;;
esac

# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
need_root_and_modules
plan 6
mark_log
check "grtrace loads" load grtrace buffer_size=65536
check "record ends well" /mnt/build/grtrace record -o /out/run.grt -- sh "$0" "$events" all
cp "$D/stats" /out/stats
names=$(sed -n 's/^name //p' "$D/events_by_type")
note "$(grep '^total' /out/stats)"
check "as many were emitted as asked for" test "$(($(stat emitted) - names))" = $((events / cpus * cpus))
check "and some were lost" test "$(stat lost)" -gt 0
closes() { # every line: emitted is the sum of the rest
	awk '/^(total|cpu)/ {
		sum = 0
		for (i = 2; i <= NF; i++) {
			split($i, word, "=")
			if (word[1] == "emitted") emitted = word[2]
			else if (word[1] != "used" && word[1] != "size") sum += word[2]
		}
		lines++
		if (sum != emitted) { print $1 ": " emitted " emitted, " sum " accounted for"; bad = 1 }
		if ($1 == "total") total = emitted; else all += emitted
	} END { exit bad || lines < 2 || total != all }' /out/stats
}
check "the balance closes on each CPU and in total" closes
unload grtrace
check "the kernel log is free of complaints" log_clean
finish
