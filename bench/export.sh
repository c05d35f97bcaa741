#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# export.sh BUILD [EVENTS]: how fast `grtrace export` is, in CPU time, and how
# large what it writes is: of a recording of jobs, of one of ioctls and of one of
# CUDA's launches, EVENTS each, in every format. An event is a record of the
# recording; a job is five, a launch and its kernel are two.
# The peer is babeltrace2, which reads the same recordings and writes text: a
# recording of a twentieth, since it needs minutes.

set -eu
build=$(realpath -- "${1:?usage: bench/export.sh BUILD [EVENTS]}")
events=${2:-4000000}
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
cd "$dir"
mkdir big small
"$build/bench/bench_merge" make big "$events"
"$build/bench/bench_merge" make small $((events / 20))
"$build/bench/bench_launches" big/launches.grt $((events / 2)) >made
"$build/bench/bench_launches" small/launches.grt $((events / 40)) >made

# The best of three runs: seconds and KiB.
best() { # COMMAND...
	for _ in 1 2 3; do
		"$build/bench/bench_merge" run "$@" 2>/dev/null
	done | sort -n | head -n 1
}

show() { # NAME EVENTS SECONDS KIB BYTES
	awk -v name="$1" -v n="$2" -v s="$3" -v kib="$4" -v bytes="$5" 'BEGIN {
		printf "%-22s %7.2f M events/s  %6.1f bytes per event  %6d KiB resident\n", name, n / s / 1e6, bytes / n, kib
	}'
}

for part in gpu:jobs cpu:ioctls launches:launches; do
	for format in perfetto chrome jsonl csv; do
		read -r s kib < <(best "$build/grtrace" export -f $format "big/${part%:*}.grt")
		bytes=$("$build/grtrace" export -f $format "big/${part%:*}.grt" 2>told | wc -c)
		read -r n < <(sed -n 's/^grtrace export: .*: \([0-9]*\) events.*/\1/p' told)
		show "${part#*:}, $format" "$n" "$s" "$kib" "$bytes"
	done
	grep -E 'jobs,' told || true
	read -r s kib < <(best babeltrace2 "small/${part%:*}.grt")
	n=$(babeltrace2 "small/${part%:*}.grt" | tee bt.txt | wc -l)
	show "${part#*:}, babeltrace2" "$n" "$s" "$kib" "$(stat -c %s bt.txt)"
done
