#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rocm.sh BUILD [MIB]: how fast the log of AMD's runtime is read, the report of
# it with its memory, and side by side what people use: grep for the lines, awk
# for kernels by queue and calls by number.

set -eu
build=$(realpath -- "${1:?usage: bench/rocm.sh BUILD [MIB]}")
place=/dev/shm
[ -w "$place" ] || place=${TMPDIR:-/tmp}
dir=$(mktemp -d "$place/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT
export TMPDIR="$dir"

# Seconds of CPU time of a command, and its peak memory in MiB.
cost() {
	python3 - "$@" <<-'END'
		import resource, subprocess, sys
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
		after = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024)
	END
}

tell() { # NAME SECONDS MIB
	awk -v name="$1" -v bytes="$(stat -c %s "$dir/log")" -v s="$2" -v mib="$3" \
		'BEGIN { printf "%s: %.0f MB/s, %.1f s, %.0f MiB of memory\n", name, bytes / s / 1e6, s, mib }'
}

"$build/bench/bench_rocm" -s "${2:-1024}" -n 3 -k "$dir/log"

# Counts calls, kernels by queue, and enqueued against complete: less than the report does.
cat >"$dir/pipeline" <<'PIPELINE'
grep -E 'ShaderName|Dispatch Header|hip[A-Za-z]+ \(|Returned|Command ' "$1" | awk '
	/ShaderName/ { sub(/.*ShaderName : /, ""); name = $0; next }
	/Dispatch Header/ { match($0, /HWq=0x[0-9a-f]+/); n[substr($0, RSTART, RLENGTH) " " name]++; next }
	match($0, /[_a-z]*hip[A-Za-z]+ \(/) { call[substr($0, RSTART, RLENGTH - 2)]++; next }
	match($0, /enqueued: 0x[0-9a-f]+/) { split($0, p, ":"); since[substr($0, RSTART + 10, RLENGTH - 10)] = p[5] + 0; next }
	match($0, /Command 0x[0-9a-f]+ complete/) { k = substr($0, RSTART + 8, RLENGTH - 17); split($0, p, ":"); took += p[5] - since[k]; done++ }
	END { for (k in n) print n[k], k; for (k in call) print call[k], k; print took / done }'
PIPELINE
ours=$(cost "$build/grtrace" rocm report --amd-log "$dir/log")
peer=$(cost sh "$dir/pipeline" "$dir/log")
# shellcheck disable=SC2086 # two words
tell "grtrace rocm report" $ours
# shellcheck disable=SC2086
tell "grep and awk" $peer
echo "$ours $peer" | awk '{ printf "ratio: %.1f\n", $3 / $1 }'
