#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a stack costs that BPF walks by unwind tables: the time of the program at an
# ioctl, by the kernel's own count, with and without stacks, for stacks of so many
# frames: the same one again and again, one that lies elsewhere each time, and 40
# frames of Python, of one function and of as many.
#
#	bench/stacks.sh [BUILD DIRECTORY]
#
# CALLS=300000 a row, the least of short intervals. Needs root, bpftool, jq and a compiler.

set -eu
build=$(realpath -- "${1:-build}")
calls=${CALLS:-300000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
before=$(sysctl -n kernel.bpf_stats_enabled)
trap 'sysctl -qw kernel.bpf_stats_enabled="$before"; rm -rf -- "$dir"' EXIT

cat >"$dir/deep.c" <<'END'
#include <alloca.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
static int null, calls;
__attribute__((noinline)) static int deep(int n, int hits)
{
	volatile char room[40];
	int sum = 0;

	room[n % 40] = 1;
	if (n)
		return deep(n - 1, hits) + room[n % 40];
	for (int i = 0; i < hits; i++)
		sum += ioctl(null, 0x6400, 0);
	return sum + room[0];
}
__attribute__((noinline)) static int elsewhere(int n, int i)
{
	volatile char *room = alloca(16 + 16 * (i % 256));

	room[0] = 1;
	return deep(n, 1) + room[0];
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);

	null = open("/dev/null", O_RDONLY);
	calls = atoi(argv[2]);
	deep(3, 100);
	usleep(700000);
	if (argc < 4)
		deep(n, calls);
	for (int i = 0; argc > 3 && i < calls; i++)
		elsewhere(n - 1, i);
	return 0;
}
END
gcc -O2 -fomit-frame-pointer -o "$dir/deep" "$dir/deep.c"
cat >"$dir/deep.py" <<'END'
import fcntl, sys, time
null = open("/dev/null", "rb")
def call(n):
    for i in range(n):
        try:
            fcntl.ioctl(null, 0x6400)
        except OSError:
            pass
def deep(n, calls):
    if n:
        deep(n - 1, calls)
    else:
        call(calls)
one = [call]
for n in range(38 if len(sys.argv) > 2 else 0):
    names = {"inner": one[-1]}
    exec(f"def one{n}(calls): inner(calls)", names)
    one.append(names[f"one{n}"])
call(100)
time.sleep(0.7)
one[-1](int(sys.argv[1]) // 4) if len(sys.argv) > 2 else deep(37, int(sys.argv[1]) // 4)
END
sysctl -qw kernel.bpf_stats_enabled=1

# Runs and nanoseconds of the program, so far.
count() {
	bpftool prog show -j |
		jq -r '[.[] | select(.name == "ioctl_enter" or .name == "ioctl_call")] | last | "\(.run_cnt // 0) \(.run_time_ns // 0)"'
}

row() { # NAME STACK COMMAND...
	local name=$1 pid runs=0 ns=0 last=0 last_ns=0 least=0 each
	"$build/grtrace" record -e ioctl --stack="$2" -o "$dir/t.grt" -- "${@:3}" >/dev/null 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		read -r runs ns < <(count)
		if [ $((runs - last)) -ge 1000 ]; then
			each=$(((ns - last_ns) / (runs - last)))
			[ "$last" -lt 150 ] || { [ "$least" != 0 ] && [ "$each" -ge "$least" ]; } || least=$each
			last=$runs last_ns=$ns
		fi
	done
	wait $pid
	printf '%-34s %6u   %s\n' "$name" "$least" \
		"$(grep -oE '(entry|pending)=[0-9]+' "$dir/t.grt/metadata" | tr '\n' ' ')"
	rm -rf "$dir/t.grt"
}

echo 'stack                              ns per call   how the stacks ended'
row 'none' none "$dir/deep" 10 "$calls"
# deep, main and three of the C library and the program's entry are frames, too, and so is ioctl
for frames in 10 50 100; do
	row "$frames frames, the same" bpf "$dir/deep" $((frames - 6)) "$calls"
	row "$frames frames, elsewhere" bpf "$dir/deep" $((frames - 6)) "$calls" elsewhere
done
row '40 frames of Python, recursive' bpf /usr/bin/python3 "$dir/deep.py" "$calls"
row '40 frames of 40 functions' bpf /usr/bin/python3 "$dir/deep.py" "$calls" functions
