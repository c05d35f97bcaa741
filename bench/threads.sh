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

# timed THREADS COMMAND...: seconds that passed, of CPU in all threads, and in the busier one. A thread's own are what /proc
# had last, and those of the first thread what the others leave of all.
timed() {
	GRTRACE_THREADS=$1 python3 - "${@:2}" <<-'END_PY'
		import glob, os, sys, time
		begun = time.monotonic()
		pid = os.fork()
		if not pid:
		    for fd, path in ((0, "/dev/null"), (1, "out"), (2, "err")):
		        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), fd)
		    os.execv(sys.argv[1], sys.argv[1:])
		others, ended = {}, False
		while not ended:
		    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
		        try:
		            others[path] = int(open(path).read().split()[0]) / 1e9
		        except OSError:
		            pass
		    ended, status, used = os.wait4(pid, os.WNOHANG)
		    time.sleep(0.005)
		wall, cpu = time.monotonic() - begun, used.ru_utime + used.ru_stime
		if status:
		    sys.exit(f"{sys.argv[1:]} failed: see {os.getcwd()}/err")
		others.pop(f"/proc/{pid}/task/{pid}/schedstat", None)
		beside = sum(others.values())
		print(wall, cpu, max(beside, cpu - beside))
	END_PY
}

# What a command wrote: its output, or its files.
bytes_of() {
	if [ -d tables ]; then find tables -type f -print0 | sort -z | xargs -0 sha256sum; else sha256sum <out; fi
}

compare() { # NAME COMMAND...
	local name=$1
	shift
	for _ in 1 2 3; do
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
