#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvsched on a machine with an NVIDIA GPU: channel groups against counts from within the programs, ends, Xids, speed.
#
# By hand, as root: GRTRACE=build/grtrace tests/gpu/nvsched.sh [DIRECTORY FOR RECORDINGS]
# shows: nvidia BPF card

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

# sched live with -p: a process that begins CUDA while it is watched, beside another.
one_process() {
	local pid watcher
	mkfifo go
	bash -c 'read -r <go; exec ./program exit' &
	pid=$!
	"$GRTRACE" sched -p $pid -d 12 >live 2>err &
	watcher=$!
	sleep 2
	echo >go
	./program exit
	wait $pid $watcher
	output=$(cat live err)
	check "sched -p: groups of the process" test "$(grep -cE "TASK_INIT +PID=$pid " live)" -gt 0
	check "sched -p: as many end" test "$(grep -c 'TASK_DESTROY' live)" = "$(grep -c 'TASK_INIT' live)"
	check "sched -p: of no other process" test "$(grep -oE 'PID=[0-9]+' live | sort -u)" = "PID=$pid"
	check "sched -p: the statistics are those of the lines" says "^task_init +$(grep -c TASK_INIT live)\$"

	./program wait >waiting &
	pid=$!
	while ! grep -q ready waiting; do sleep 0.1; done
	"$GRTRACE" sched -v -p $pid -d 3 >live 2>err &
	watcher=$!
	sleep 1.5
	kill $pid
	wait $pid $watcher 2>/dev/null
	output=$(cat live err)
	check "sched -p of a program that ran before: nothing is made up" test "$(grep -c TASK_INIT live)" = 0
	while IFS= read -r line; do echo "# before: $line"; done <<<"$output"
}

addresses() {
	tr '[:upper:]' '[:lower:]' | grep -oE '[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]' | sort -u
}

several_gpus() {
	[ "$(nvidia-smi -L | wc -l)" -gt 1 ] || return 0
	traced python3 -c 'import torch
for gpu in range(torch.cuda.device_count()): torch.ones(9, device="cuda:%d" % gpu).sum().item()'
	compare "several GPUs"
	output=$("$GRTRACE" sched -i run.grt | grep TASK_INIT | addresses)
	check "several GPUs: groups on each, by its address" test "$output" = "$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader | addresses)"
	save gpus
}

# Clients of a server that has one group for several of them.
mps() {
	command -v nvidia-cuda-mps-control >/dev/null || return 0
	cat >mps.sh <<'END'
export CUDA_MPS_PIPE_DIRECTORY=$PWD/mps CUDA_MPS_LOG_DIRECTORY=$PWD/mps
mkdir mps
nvidia-cuda-mps-control -d
./program exit &
./program exit
wait $!
echo quit | nvidia-cuda-mps-control
sleep 1
END
	traced bash mps.sh
	compare MPS
	save mps
	"$GRTRACE" report --by tsg -i run.grt | sed -n '/^channels of/,/^$/s/^/# MPS: /p'
}

[ -n "${NV_ONLY_SPEED:-}" ] || { counts_and_ends; one_process; several_gpus; mps; }

# ------------------------------------------------------------- speed

# shellcheck source=tests/gpu/_in_turns.sh
. "$here/_in_turns.sh"
record=(-e "nvsched,nvidia")

if [ -z "${NV_NO_SPEED:-}" ]; then
	limit "ns for a launch" 1 60 0.6 ./program launches 600
	limit "us for an iteration of a PyTorch layer" 1 60 0.6 python3 "$here/torch_layer.py" eager 600 samples
	[ -n "${NV_NO_CONTEXTS:-}" ] || {
		limit "us from cuInit to the end of the first kernel" 5 5 6 bash -c 'while ./program first; do :; done'
		limit "us for a context made and destroyed" 5 10 8 ./program contexts 1200
	}
fi
plan
