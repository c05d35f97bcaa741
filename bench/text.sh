#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# text.sh BUILD [MIB]: how fast text of ftrace is read: sorted, in a window and
# sorted in files; and side by side what a plain reader in Python and `wc -l`
# need for the same file. Python reads a 64 MiB file, since it needs seconds.

set -eu
build=$(realpath -- "${1:?usage: bench/text.sh BUILD [MIB]}")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
export TMPDIR="$dir"

# Seconds of CPU time of a command, the best of three.
cpu() {
	python3 - "$@" <<-'END'
		import resource, subprocess, sys
		best = 1e9
		for _ in range(3):
		    before = resource.getrusage(resource.RUSAGE_CHILDREN)
		    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
		    after = resource.getrusage(resource.RUSAGE_CHILDREN)
		    best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
		print(best)
	END
}

rate() { # NAME FILE SECONDS
	awk -v name="$1" -v bytes="$(stat -c %s "$2")" -v s="$3" 'BEGIN { printf "%s: %.1f MB/s\n", name, bytes / s / 1e6 }'
}

for back in 0 5000 900000000 3000000000; do
	echo "every 7th line $back ns behind its place:"
	"$build/bench/bench_text" -s "${2:-512}" -b "$back" "$dir/text"
done
"$build/bench/bench_text" -s 64 -k "$dir/text" | tee "$dir/ours"

# What one writes first: a pattern for the line, one for the fields, jobs in a dictionary.
cat >"$dir/plain.py" <<'END'
import re, sys
line_of = re.compile(r'^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(?:\S{4,6}\s+)?(\d+)\.(\d+): (\w+): (.*)$')
fence_of = re.compile(r'fence=(\d+):(\d+)')
field_of = re.compile(r'(\w+)=([^, ]+)')
jobs = {}
for line in open(sys.argv[1]):
    m = line_of.match(line)
    if not m:
        continue
    comm, pid, cpu, sec, frac, event, rest = m.groups()
    t = int(sec) * 10**9 + int(frac.ljust(9, '0'))
    if event in ('drm_sched_job_queue', 'drm_sched_job_run', 'drm_sched_job_done'):
        key = tuple(map(int, fence_of.search(rest).groups()))
        jobs.setdefault(key, {})[event] = t
    elif event == 'dma_fence_signaled':
        f = dict(field_of.findall(rest))
        job = jobs.get((int(f['context']), int(f['seqno'])))
        if job:
            job[event] = t
print(len(jobs))
END
rate "plain Python" "$dir/text" "$(cpu python3 "$dir/plain.py" "$dir/text")"
rate "grtrace report" "$dir/text" "$(cpu "$build/grtrace" report -i "$dir/text" --by ring)"
rate "wc -l" "$dir/text" "$(cpu wc -l "$dir/text")"
