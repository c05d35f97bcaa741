#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loads and unloads every module that was built, in random order, while the
# software GPU runs jobs, events are injected and settings change. TAP version 13;
# needs root.
#
#	sudo CYCLES=20 SEED=1 RUN=./softgpu-run ./grtrace_modules.sh

# Functions are called by name.
# shellcheck disable=SC2317
# shellcheck source=tests/kernel/common
. "$(dirname "$0")/common"
# shellcheck source=tests/kernel/pause
. "$(dirname "$0")/pause"
cycles=${CYCLES:-20}
seed=${SEED:-$$}
run=${RUN:-softgpu-run}
need_root_and_modules
[ -n "$modules" ] || skip_all "the modules must be in one directory: GRTRACE_MODULES=DIR $0"
[ -e "$modules/grtrace_softgpu.ko" ] || skip_all "no grtrace_softgpu.ko: the kernel has no DRM scheduler"
command -v "$run" >/dev/null || skip_all "no $run: make test-tools, then RUN=build/tools/softgpu-run $0"
modprobe -a gpu_sched drm_kms_helper || skip_all "no gpu_sched: apt-get install linux-image-amd64"
plan 5
mark_log

failures='' loads=0 refused=0 writers='' running=''

fail() { # WHAT
	failures="$failures
cycle $cycle: $1"
}

# All but grtrace itself, which the others need.
others=()
for module in "$modules"/grtrace_*.ko; do
	module=${module##*/}
	others+=("${module%.ko}")
done

# Puts them into `order`, one that SEED, cycle and TIME make again.
shuffle() { # TIME
	local i j
	RANDOM=$((seed * 1000 + cycle * 10 + $1))
	order=("${others[@]}")
	for ((i = ${#order[@]} - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		module=${order[i]} order[i]=${order[j]} order[j]=$module
	done
}

# Writers pause: three that never do, and settings that patch the kernel's code all the
# time, leave an emulated processor to little else. grtrace_races has those.
write_events() {
	while :; do
		echo "submit ring=3 ctx=77 seqno=1 count=50
commit ctx=77 seqno=1 count=50
complete ctx=77 seqno=1 count=50" >"$D/emit"
		for file in "$D/stats" /proc/grtrace_stats "$D/aggregator_stats" "$D/sampling_stats" "$D/filter_stats"; do
			mapfile <"$file"
		done
		pause 0.3
	done >/dev/null 2>&1
}

write_settings() {
	while :; do
		for setting in aggregator_enable=1 sample=50 aggregator_replace=1 filter_pid=1 perf_mon=0 \
			sampling_mode=threshold watchlist=0,1 filter_pid=0 perf_mon=1 aggregator_enable=0 sample=100 \
			sampling_mode=static aggregator_replace=0 watchlist=; do
			echo "$setting" >"$D/config"
			pause 0.1
		done
	done 2>/dev/null
}

start_writers() {
	for writer in write_events write_settings write_settings; do
		$writer &
		writers="$writers $!"
	done
}

stop_writers() {
	# shellcheck disable=SC2086 # a list
	kill $writers
	# shellcheck disable=SC2086
	wait $writers
	writers=''
} 2>/dev/null

start_jobs() {
	"$run" -q -j 300 -r 300 -p steady -o /dev/null &
	running=$!
	for try in {1..100}; do
		read -r users </sys/module/grtrace_softgpu/refcnt
		[ "$users" = 0 ] || return 0
		pause 0.02
	done
}

# Whose file is open stays, jobs or none.
refuse() {
	for node in /dev/dri/renderD*; do
		[ "$(basename "$(realpath "/sys/class/drm/${node##*/}/device/driver/module")")" = grtrace_softgpu ] || continue
		exec 9<"$node"
	done
	! rmmod grtrace_softgpu 2>/dev/null || fail "the software GPU is gone with an open file"
	exec 9<&-
	refused=$((refused + 1))
	wait "$running" || fail "the jobs fail"
}

bring() { # MODULE
	load "$1" || fail "$1 does not load"
	loads=$((loads + 1))
	[ "$1" != grtrace_softgpu ] || start_jobs
}

# Settings that are just being written, or jobs, keep a module for a moment.
take() { # MODULE
	[ "$1" != grtrace_softgpu ] || refuse
	for try in 1 2 3 4 5 6 7 8 9 10; do
		! rmmod "$1" 2>/dev/null || return
		pause 0.1
	done
	fail "$1 does not unload in $try tries"
}

cycle=0
while [ "$cycle" -lt "$cycles" ]; do
	cycle=$((cycle + 1))
	load grtrace enable=1 buffer_size=65536 || fail "grtrace does not load"
	start_writers
	shuffle 1
	for module in "${order[@]}"; do bring "$module"; done
	# once more while everything runs, but for the GPU
	shuffle 2
	again=0
	for module in "${order[@]}"; do
		[ "$module" != grtrace_softgpu ] || continue
		[ $((again++)) -lt 3 ] || break
		take "$module"
		bring "$module"
	done
	shuffle 3
	for module in "${order[@]}"; do take "$module"; done
	stop_writers
	take grtrace
	[ ! -e "$D" ] || fail "the control files are still there"
	[ ! -e /proc/grtrace_stats ] || fail "/proc/grtrace_stats is still there"
	[ -z "$failures" ] || break
done 2>/run/grtrace_modules.err

[ -z "$failures" ] || note "$failures" "$(tail -n 20 /run/grtrace_modules.err)" "SEED=$seed"
result "$([ -z "$failures" ]; echo $?)" "$cycles cycles of all modules in random order under load"
result "$([ "$loads" -ge $((cycles * 8)) ]; echo $?)" "each of them with every module"
result "$([ "$refused" -ge "$cycles" ]; echo $?)" "the software GPU stays while a file of it is open"
note "$cycle cycles, $loads loads, $refused refusals"
check "nothing is left" sh -c '! grep "^grtrace" /proc/modules'
check "the kernel log is free of complaints" log_clean
finish
