#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvsched on a machine with an NVIDIA GPU: channel groups against counts from within the programs, ends, Xids, speed.
#
# By hand, as root: GRTRACE=build/grtrace tests/gpu/nvsched.sh [DIRECTORY FOR RECORDINGS]

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
keep=${1:+$(realpath -- "$1")}

for tool in nvidia-smi nvcc cc python3; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || { echo "no tracefs" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
here=$GRTRACE_SRC/tests/gpu
cc -O2 -shared -fPIC -I"$GRTRACE_SRC/lib" -o count.so "$here/nv_ioctl_count.c" -ldl || exit 1
nvcc -O2 -arch=native -o program "$here/nv_program.cu" -lcuda || exit 1
export NV_COUNT_DIR=$dir/counts
mkdir counts

traced() { # COMMAND: with counts from within
	rm -f counts/*
	run record -e nvsched,nvidia -o run.grt -- env LD_PRELOAD="$dir/count.so" "$@"
	expect "$*: a recording" "${expected:-0}" 'events, 0 lost'
}

events() { # TYPE PID [REGEX]
	"$GRTRACE" dump --type "$1" run.grt | grep -E "pid=$2/" | grep -cE -- "${3:-}"
}

# Of every process, what it counted and what grtrace saw: groups channels schedules tokens timeslices.
compare() {
	local file pid inner outer any=
	for file in counts/*; do
		pid=$(basename "$file")
		inner=$(od -An -v -tu8 -w8 "$file" | head -n 5 | xargs)
		[ "$inner" != "0 0 0 0 0" ] || continue
		any=1
		outer="$(events tsg_init "$pid" 'status=0x0') $(events tsg_channel "$pid" 'bound=1') \
$(events tsg_schedule "$pid" 'status=0x0') $(events tsg_token "$pid" 'status=0x0') $(events tsg_set "$pid" 'status=0x0')"
		check "$1, process $pid: $inner as it counted (groups channels schedules tokens timeslices), seen $outer" test "$inner" = "$outer"
		check "$1, process $pid: every group is destroyed" test "$(events tsg_destroy "$pid")" = "$(events tsg_init "$pid" 'status=0x0')"
		check "$1, process $pid: and every channel" test "$(events tsg_channel "$pid" bound=0)" = "$(events tsg_channel "$pid" bound=1)"
	done
	check "$1: there were such processes" test -n "$any"
}

save() { # NAME
	[ -z "$keep" ] || { tar czf "$keep/$1.tgz" run.grt && "$GRTRACE" sched -v --include-failed -i run.grt >"$keep/$1.txt"; }
}

echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), Linux $(uname -r)"
echo "# kchangrpInit_IMPL in kallsyms: $(grep -c kchangrpInit_IMPL /proc/kallsyms); nvidia_dev_xid: $(ls -d /sys/kernel/tracing/events/nvidia/nvidia_dev_xid 2>/dev/null); module BTF: $(ls /sys/kernel/btf/nvidia 2>/dev/null)"

counts_and_ends() {
	for end in exit reset; do
		traced ./program $end
		compare $end
		save $end
	done
	check "its groups are on GRAPHICS and on copy engines" test "$("$GRTRACE" dump --type tsg_init run.grt |
		grep -oE "nv_engine=0x[0-9a-f]+" | sort -u | grep -cE "=0x(1|9|[a-f]|1[0-2])$")" -ge 2
	"$GRTRACE" report --by tsg -i run.grt | sed -n '/^channels of/,/^$/s/^/# /p'
	check "every channel says whether it named a subcontext" test \
		"$("$GRTRACE" dump --type tsg_channel run.grt | grep -c subctx=0xffffffff)" = 0
	check "every subcontext that is named has a number" test \
		"$("$GRTRACE" dump --type tsg_channel run.grt | grep -v subctx=0x0 | grep -c veid=4294967295)" = 0
	check "each has a GPU's address" test "$("$GRTRACE" dump --type tsg_init run.grt | grep -c bus=0x0)" = 0

	cat >kill.sh <<'END'
./program wait >out &
while ! grep -q ready out; do sleep 0.05; done
kill -9 $!
wait $!
sleep 1
END
	traced bash kill.sh
	compare SIGKILL
	check "SIGKILL: and why" test "$("$GRTRACE" dump --type tsg_destroy run.grt | grep -c 'cause=4')" -gt 0
	save kill

	cat >three.sh <<'END'
./program exit &
./program reset &
python3 -c 'import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(100): a = (a @ a).clamp(-1, 1)
torch.cuda.synchronize()' &
wait
sleep 1
END
	traced bash three.sh
	compare "two programs and PyTorch at once"
	save three

	run record -e nvsched,nvidia -o run.grt -- bash -c './program bad; sleep 1'
	save bad
	xids=$("$GRTRACE" dump --type xid run.grt)
	pid=$("$GRTRACE" dump --type tsg_init run.grt | grep -oE 'pid=[0-9]+' | sort -u)
	output="$xids of $pid"
	check "an illegal access is one Xid 31 of its process" test "$(grep -c . <<<"$xids") $(grep -cE "$pid/.* code=31 " <<<"$xids")" = "1 1"
}

[ -n "${NV_ONLY_SPEED:-}" ] || counts_and_ends

# ------------------------------------------------------------- speed

medians() { # COUNT ARGS OF program: so often in each of 3 blocks without and with tracing, in turn
	local i pid n=$((3 * $1 / 2 + 1))
	: >off
	: >on
	for _ in 1 2 3; do
		for ((i = 0; i < $1; i++)); do ./program "${@:2}" >>off; done
		"$GRTRACE" record -e nvsched,nvidia -o speed.grt 2>/dev/null &
		pid=$!
		sleep 1.5
		for ((i = 0; i < $1; i++)); do ./program "${@:2}" >>on; done
		kill -INT $pid
		wait $pid
	done
	echo "$(sort -n off | sed -n ${n}p) $(sort -n on | sed -n ${n}p)"
}

limit() { # NAME PERCENT COUNT ARGS
	local name=$1 percent=$2 off on
	read -r off on <<<"$(medians "${@:3}")"
	output="$off without, $on with"
	check "$name: $output (at most $percent % more)" awk "BEGIN { exit !($on <= $off * (1 + $percent / 100)) }"
}

if [ -z "${NV_NO_SPEED:-}" ]; then
	limit "ns for a launch" 1 5 launches 200000
	limit "us from cuInit to the end of the first kernel" 5 9 first
	limit "us for a context" 5 3 contexts 10
fi
plan
