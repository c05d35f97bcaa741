#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# threads.sh BUILD [LAUNCHES [SECONDS]]: what a second core gains where a large recording is read: `report`, `report --json`,
# `export -f perfetto` and `export -f parquet` of LAUNCHES launches and their kernels (8,000,000: 1.9 GB), pinned to one core
# and to two, in turns; whether both write the same bytes, and the most memory that each took. Turns begin while they fit into
# SECONDS (300), generating included; there is at least one. The times that passed are of worth on a machine on which nothing
# else runs; beside them stands how much of the CPU time the busiest thread has, or a half of all where that is more: it bounds
# the ratio on any machine. BUILD needs grtrace and bench/bench_launches alone. PARTS="report parquet" runs only these of
# report, json, perfetto and parquet. The recording is in /dev/shm where it fits twice into that and four times into the
# memory that is free, else in TMPDIR.

set -eu
build=$(realpath -- "${1:?usage: bench/threads.sh BUILD [LAUNCHES [SECONDS]]}")
launches=${2:-8000000}
limit=${3:-300}
place=/dev/shm
# 240 bytes a launch
[ -w "$place" ] && [ "$(df --output=avail -B1 "$place" | tail -n 1)" -gt $((480 * launches)) ] &&
	[ "$(awk '/^MemAvailable/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)" -gt $((960 * launches)) ] || place=${TMPDIR:-/tmp}
parts=${PARTS:-report json perfetto parquet}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"

# Two that share no core, and not the first ones, to which interrupts go; of a machine with two, these.
mapfile -t cores < <(python3 - <<-'END_PY'
	import os
	seen, cores = set(), []
	for cpu in sorted(os.sched_getaffinity(0), reverse=True):
	    try:
	        core = open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read()
	    except OSError:
	        core = str(cpu)
	    if core not in seen:
	        seen.add(core)
	        cores.append(cpu)
	print(*cores[:2], sep="\n")
END_PY
)
if [ ${#cores[@]} -lt 2 ]; then
	echo "threads.sh: two cores are needed, and this machine, or the mask of CPUs of this shell, has one" >&2
	exit 1
fi

"$build/bench/bench_launches" run.grt "$launches" >made
printf 'recording: %s launches, %d MB in %s; %d cores, of them %s; load before: %s\n' "$launches" \
	$(($(du -s --apparent-size -B1 run.grt | cut -f1) / 1000000)) "$place" "$(nproc)" "${cores[*]}" \
	"$(cut -d ' ' -f 1 /proc/loadavg)"

# timed CORES COMMAND...: seconds that passed, of CPU in all threads, and in the busiest one; KiB resident. A thread's own
# seconds are what /proc had last, and those of the first thread what the others leave of all.
timed() {
	python3 - "$@" <<-'END_PY'
		import glob, os, sys, time
		begun = time.monotonic()
		pid = os.fork()
		if not pid:
		    os.sched_setaffinity(0, map(int, sys.argv[1].split(",")))
		    for fd, path in ((0, "/dev/null"), (1, "out"), (2, "err")):
		        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), fd)
		    os.execv(sys.argv[2], sys.argv[2:])
		others, ended = {}, False
		while not ended:
		    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
		        try:
		            others[path] = int(open(path).read().split()[0]) / 1e9
		        except OSError:
		            pass
		    ended, status, used = os.wait4(pid, os.WNOHANG)
		    time.sleep(0.01)
		wall, cpu = time.monotonic() - begun, used.ru_utime + used.ru_stime
		if status:
		    sys.exit(f"{sys.argv[2:]} failed: {open('err').read()}")
		others.pop(f"/proc/{pid}/task/{pid}/schedstat", None)
		busiest = max([cpu - sum(others.values()), *others.values()])
		print(wall, cpu, busiest, used.ru_maxrss)
	END_PY
}

# What a command wrote: its output, or its files.
bytes_of() {
	if [ -d tables ]; then find tables -type f -print0 | sort -z | xargs -0 sha256sum; else sha256sum <out; fi
}

turn() { # NAME CORES COMMAND...
	local name=$1 on=$2 n=${2//[^,]/}
	shift 2
	rm -rf tables
	timed "$on" "$@" >>"times.$((${#n} + 1)).$name"
	bytes_of >"bytes.$name.now"
	[ -f "bytes.$name" ] || cp "bytes.$name.now" "bytes.$name"
	cmp -s "bytes.$name" "bytes.$name.now" || { echo "$*: one core and two write different bytes" >&2 && exit 1; }
}

both() { # NAME COMMAND...
	turn "$1" "${first[0]}" "${@:2}"
	turn "$1" "${first[1]}" "${@:2}"
}

middle() { # FILE COLUMN
	cut -d ' ' -f "$2" "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

show() { # NAME COMMAND
	awk -v name="$2" -v n="$(wc -l <"times.1.$1")" -v a="$(middle "times.1.$1" 1)" -v b="$(middle "times.2.$1" 1)" \
		-v x="$(middle "times.1.$1" 2)" -v y="$(middle "times.2.$1" 2)" -v z="$(middle "times.2.$1" 3)" \
		-v k="$(cut -d ' ' -f 4 "times.1.$1" | sort -n | tail -n 1)" -v l="$(cut -d ' ' -f 4 "times.2.$1" | sort -n | tail -n 1)" '
		BEGIN {
			least = z > y / 2 ? z : y / 2
			printf "%s: %.2f s on one core, %.2f s on two: ratio %.2f, median of %d; CPU %.2f s, then %.2f s, of it %.2f s in the busiest thread: at most %.2f; %d MiB, then %d MiB resident; same bytes\n",
				name, a, b, a / b, n, x, y, z, x / least, k / 1024, l / 1024
		}'
}

first=("${cores[0]}" "${cores[0]},${cores[1]}")
while :; do
	before=$SECONDS
	for part in $parts; do
		case $part in
		report) both report "$build/grtrace" report run.grt ;;
		json) both json "$build/grtrace" report --json run.grt ;;
		perfetto) both perfetto "$build/grtrace" export -f perfetto run.grt ;;
		parquet) both parquet "$build/grtrace" export -f parquet -o tables run.grt ;;
		*) echo "threads.sh: PARTS: '$part' is none of report, json, perfetto, parquet" >&2 && exit 2 ;;
		esac
	done
	[ $((SECONDS + SECONDS - before)) -lt "$limit" ] || break
	first=("${first[1]}" "${first[0]}")
done
for part in $parts; do
	case $part in
	report) what=report ;;
	json) what="report --json" ;;
	*) what="export -f $part" ;;
	esac
	paste -d ' ' "times.1.$part" "times.2.$part" | awk -v what="$what" '{ printf "turn %d of %s: %.2f s, %.2f s\n", NR, what, $1, $5 }'
	show "$part" "$what"
done
