#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of storm.sh.
#
#	sh _storm_guest.sh SECONDS

# Functions are called by name, through check.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/../kernel/common"
end=$(($(date +%s) + $1))
# The -rt kernel itself warns at times, in affine_move_task(), when a CPU goes from under an interrupt's thread.
cpus=
[ -e /sys/kernel/realtime ] || cpus=$(ls -d /sys/devices/system/cpu/cpu[1-9]/online)
stages='aggregator sampling filter perf_mon'
need_root_and_modules
plan 8
mark_log

more() {
	[ "$(date +%s)" -lt "$end" ]
}

# A number below this one.
below() { # N
	echo $(($(od -An -N2 -tu2 /dev/urandom) % $1))
}

jobs_run() {
	while more; do
		/mnt/build/tools/softgpu-run -p burst --rings gfx,comp_0,comp_1,sdma0 -j 200 -r 2000 -q -o /dev/null || return
		echo run >>/tmp/runs
	done
}

cpus_come_and_go() {
	while [ -n "$cpus" ] && more; do
		for cpu in $cpus; do
			echo 0 >"$cpu"
			sleep "0.$(below 9)"
			echo 1 >"$cpu"
		done
	done
}

# Refused while a stream is open: then the next time.
control_is_written() {
	while more; do
		order start
		sleep "0.$(below 9)"
		order clear
		order flush
		order stop
		echo $((65536 * (1 + $(below 64)))) >"$D/buffer_size"
	done
}

streams_are_read() {
	while more; do
		timeout 1 cat "$D/trace_pipe" >/dev/null
		timeout 1 cat "$D/events" >/dev/null
	done
}

files_are_read() {
	while more; do
		cat "$D"/stats "$D"/rings "$D"/adapters "$D"/config "$D"/*_stats /proc/grtrace_stats >/dev/null
	done
}

# A file may be gone with its stage.
stages_come_and_go() {
	while more; do
		for stage in $stages; do
			rmmod "grtrace_$stage"
			load "grtrace_$stage"
			echo 1 >"$D/aggregator_enable"
			echo 1 >"$D/filter_latency"
			echo adaptive >"$D/sampling_mode"
			echo threshold >"$D/sampling_mode"
			echo aggregator_replace=1 >"$D/config"
		done
	done
}

adapter_comes_and_goes() {
	while more; do
		rmmod grtrace_drm_bridge
		load grtrace_drm_bridge
		sleep 0.3
	done
}

storm() {
	pids=
	for part in cpus_come_and_go control_is_written streams_are_read files_are_read stages_come_and_go \
		adapter_comes_and_goes; do
		$part >/dev/null 2>&1 &
		pids="$pids $!"
	done
	jobs_run || return
	for pid in $pids; do
		wait "$pid"
	done
	for cpu in $cpus; do
		echo 1 >"$cpu" || return
	done
}

all_load() {
	modprobe gpu_sched && load grtrace_softgpu && load grtrace || return
	for module in $stages drm_bridge; do
		load "grtrace_$module" || return
	done
}

all_unload() {
	for module in $stages drm_bridge; do
		unload "grtrace_$module" || return
	done
	unload grtrace && unload grtrace_softgpu
}

# The same jobs that the storm had, told whole when it is over.
jobs_are_told() {
	order stop
	order clear
	echo sampling_mode=static >"$D/config"
	echo aggregator_replace=0 >"$D/config"
	echo filter_latency=0 >"$D/config"
	order start
	/mnt/build/tools/softgpu-run -p burst --rings gfx -j 50 -q -o /dev/null || return
	sleep 0.2
	order stop
	cat "$D/events_by_type"
	[ "$(sed -n 's/^submit //p' "$D/events_by_type")" = "$(sed -n 's/^complete //p' "$D/events_by_type")" ]
}

closes() {
	cat "$D/stats"
	awk '/^total/ {
		for (i = 2; i <= NF; i++) {
			split($i, word, "=")
			if (word[1] == "emitted") emitted = word[2]
			else if (word[1] != "used" && word[1] != "size") sum += word[2]
		}
	} END { exit sum != emitted || !emitted }' "$D/stats"
}

check "the modules load" all_load
check "$1 seconds of everything at once come to their end" storm
check "jobs ran meanwhile: $(wc -l </tmp/runs) times 800" test -s /tmp/runs
check "a job is told as before when it is over" jobs_are_told
check "the balance closes" closes
check "no handler found its pool empty" sh -c "! grep no_room= $D/adapters"
check "the modules unload" all_unload
check "the kernel log is free of complaints" log_clean
finish
