#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a stack costs that BPF walks by unwind tables: the time of the program at a
# uprobe, by the kernel's own count, for stacks of so many frames.
#
#	bench/stacks.sh [BUILD DIRECTORY]
#
# HITS=60000 calls a row. Needs root, bpftool, jq and a compiler.

set -eu
build=$(realpath -- "${1:-build}")
hits=${HITS:-60000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
before=$(sysctl -n kernel.bpf_stats_enabled)
trap 'sysctl -qw kernel.bpf_stats_enabled="$before"; rm -rf -- "$dir"' EXIT

cat >"$dir/deep.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int met(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) static int deep(int n, int hits)
{
	volatile char room[40];
	int sum = 0;

	room[n % 40] = 1;
	if (n)
		return deep(n - 1, hits) + room[n % 40];
	for (int i = 0; i < hits; i++)
		sum += met(i);
	return sum + room[0];
}
int main(int argc, char **argv)
{
	deep(3, 100);
	usleep(700000);
	deep(atoi(argv[argc - 2]), atoi(argv[argc - 1]));
	sleep(2);
	return 0;
}
END
gcc -O2 -fomit-frame-pointer -o "$dir/deep" "$dir/deep.c"
sysctl -qw kernel.bpf_stats_enabled=1

# Runs and nanoseconds of the program at the function, so far.
count() {
	bpftool prog show -j |
		jq -r '[.[] | select(.name | startswith("function_ent"))] | last | "\(.run_cnt // 0) \(.run_time_ns // 0)"'
}

# met, deep, main and the three of the C library and the program's entry are frames, too.
row() { # FRAMES
	local pid runs=0 ns=0
	"$build/grtrace" record -e uprobe:"$dir/deep":met -o "$dir/$1.grt" -- "$dir/deep" $(($1 - 6)) "$hits" \
		>/dev/null 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null && [ "$runs" -le "$hits" ]; do
		read -r runs ns < <(count)
		sleep 0.2
	done
	wait $pid
	printf '%6u %10u   %s\n' "$1" $((ns / (runs ? runs : 1))) \
		"$(grep -oE 'entry=[0-9]+|pending=[0-9]+' "$dir/$1.grt/metadata" | tr '\n' ' ')"
}

echo 'frames  ns per hit  how the stacks ended'
for frames in 10 50 100; do
	row $frames
done
