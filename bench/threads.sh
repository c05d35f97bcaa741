#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# threads.sh BUILD [LAUNCHES]: what a second core gains where a large recording is read: `report` and `export -f parquet` of
# LAUNCHES launches and their kernels, in one thread and in two, in turn, and whether both write the same bytes. The
# times that passed are of worth on a machine with two cores that does nothing else; beside them stands how much of the
# CPU time the busier thread has, which bounds the ratio on any machine.

set -eu
build=$(realpath -- "${1:?usage: bench/threads.sh BUILD [LAUNCHES]}")
launches=${2:-8000000}
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
"$build/bench/bench_launches" run.grt "$launches" >made
printf 'recording: %s launches, %d MB; cores: %d, load before: %s\n' "$launches" \
	$(($(du -s --apparent-size -B1 run.grt | cut -f1) / 1000000)) "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)"

# timed THREADS COMMAND...: seconds that passed, of CPU in all threads, and in the busiest one, as /proc has them
timed() {
	local threads=$1 begun pid ns
	local -A busy=()
	shift
	begun=$(date +%s%N)
	GRTRACE_THREADS=$threads "$@" >out 2>err &
	pid=$!
	while [ -e "/proc/$pid/task" ] && ! grep -qs '^State:.Z' "/proc/$pid/status"; do
		for task in "/proc/$pid/task"/*; do
			read -r ns _ <"$task/schedstat" 2>/dev/null && busy[${task##*/}]=$ns
		done
		sleep 0.02
	done
	wait "$pid"
	printf '%s\n' "${busy[@]}" | awk -v wall=$(($(date +%s%N) - begun)) '
		{ all += $1; most = $1 > most ? $1 : most }
		END { print wall / 1e9, all / 1e9, most / 1e9 }'
}

# What a command wrote: its output, or its files.
bytes_of() {
	if [ -d tables ]; then find tables -type f -print0 | sort -z | xargs -0 sha256sum; else sha256sum <out; fi
}

compare() { # NAME COMMAND...
	local name=$1 round
	shift
	for round in 1 2 3; do
		for threads in 1 2; do
			rm -rf tables
			timed $threads "$@" >>"times.$threads"
			bytes_of >"bytes.$threads"
		done
		cmp bytes.1 bytes.2 || { echo "$name: one thread and two write different bytes" >&2 && exit 1; }
	done
	paste -d ' ' <(sort -n times.1 | head -n 1) <(sort -n times.2 | head -n 1) | awk -v name="$name" '{
		printf "%s: %.2f s in one thread, %.2f s in two: ratio %.2f; CPU %.2f s, then %.2f s, of it %.2f s in the busier: at most %.2f; same bytes\n",
			name, $1, $4, $1 / $4, $2, $5, $6, $2 / $6
	}'
	rm -rf times.* bytes.* tables
}

compare report "$build/grtrace" report run.grt
compare "export -f parquet" "$build/grtrace" export -f parquet -o tables run.grt
