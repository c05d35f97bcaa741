#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# uvm on a machine with an NVIDIA GPU: what a program's unified memory did, against what it knows itself and against
# CUPTI's counters in the same run.
#
# By hand, as root, with nvcc and python3: GRTRACE=build/grtrace tests/gpu/uvm.sh [MIB]
# shows: nvidia log card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
mib=${1:-64}

for tool in nvcc python3 nvidia-smi; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
nvcc -O2 -o load "$GRTRACE_SRC/tests/gpu/uvm_load.cu" || exit 1
cuda=$(dirname -- "$(dirname -- "$(realpath -- "$(command -v nvcc)")")")
cupti=$cuda/extras/CUPTI
nvcc -O2 -DPEER -I"$cupti/include" -o peer "$GRTRACE_SRC/tests/gpu/uvm_load.cu" -L"$cupti/lib64" -L"$cuda/lib64" -lcupti ||
	echo "# no CUPTI: its counters are not compared"
export LD_LIBRARY_PATH=$cupti/lib64:$cuda/lib64

shown() { # TEXT: as comments
	sed 's/^/# /' <<<"$1"
}

same_bytes() { # STEPS PID: the recording's events against what the program printed
	"$GRTRACE" dump --json run.grt >dump.json
	output=$(python3 "$GRTRACE_SRC/tests/gpu/uvm.py" dump.json "$1" "$2" 2>&1)
	status=$?
	shown "$output"
}

run doctor uvm
expect "doctor says that it works" 0 '^  uvm +works'

run record -e uvm -o run.grt -- sh -c 'echo $$ >pid; exec ./load '"$mib >steps"
expect "a program that record starts" 0 ' 0 lost'
same_bytes steps "$(<pid)"
expect "the bytes of each step" 0 '^up '
run report --by uvm -i run.grt
shown "$output"
expect "by what the program asked: both ways $mib MiB" 0 "user +[0-9]+ +$mib"
shown "$(grep -o 'uvm_[a-z0-9]* = .*' run.grt/metadata)"

if [ -x peer ]; then
	run record -e uvm -o run.grt -- sh -c 'echo $$ >pid; exec ./peer '"$mib >steps"
	expect "a program that asks CUPTI, too" 0 ' 0 lost'
	same_bytes steps "$(<pid)"
	expect "the bytes, faults, thrashing of CUPTI's counters" 0 '^cupti htod'
fi

# Two that run already, each with its own.
mkfifo go1 go2
./load "$mib" wait <go1 >steps1 & A=$!
./load "$mib" wait <go2 >steps2 & B=$!
exec 8>go1 9>go2
until grep -q ready steps1 && grep -q ready steps2; do sleep 0.1; done
"$GRTRACE" record -e uvm -d 8 -o run.grt >log 2>&1 & R=$!
until [ -d run.grt ]; do sleep 0.1; done
sleep 1
echo go >&8 && echo go >&9
wait $A $B
kill -INT $R
wait $R
output=$(<log) status=$?
expect "two that were there" 0 ' 0 lost'
for i in 1:$A 2:$B; do
	same_bytes steps"${i%:*}" "${i#*:}"
	check "its own bytes" test "$status" = 0
done
exec 8>&- 9>&-

# A program that dies: its memory is the GPU's again while the recording goes on.
used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -n 1; }
before=$(used)
mkfifo go3
./load "$mib" wait <go3 >steps3 & A=$!
exec 8>go3
until grep -q ready steps3; do sleep 0.1; done
"$GRTRACE" record -e uvm -d 6 -o run.grt >log 2>&1 & R=$!
sleep 1.5
kill -9 $A
wait $A 2>/dev/null
freed=no
for i in $(seq 30); do
	if [ "$(used)" -le "$before" ]; then freed=yes; break; fi
	sleep 0.1
done
check "a program's memory is free when it has died" test $freed = yes
check "and the recording goes on" kill -0 $R
kill -9 $R
wait $R 2>/dev/null
exec 8>&-
./load "$mib" >steps
check "a recorder that is killed leaves nothing" test $? = 0

# Beside CUDA's own records.
run record -e cuda,uvm -o run.grt -- ./load "$mib"
expect "beside cuda" 0 'events'
run export -f perfetto -o run.pftrace run.grt
expect "a timeline" 0 'events'

# What it costs, in turns.
for i in 1 2 3; do
	./load "$mib" >>off 2>/dev/null
	"$GRTRACE" record -e uvm -o "on$i.grt" -- ./load "$mib" >>on 2>/dev/null
	"$GRTRACE" record -e uvm -o "on_$i.grt" -- ./load "$mib" >>on 2>/dev/null
	./load "$mib" >>off 2>/dev/null
done
output=$(python3 -c '
from statistics import median
for step in ("gpu_fault", "cpu_fault", "prefetch_gpu", "prefetch_cpu"):
    off, on = ([int(w[2]) - int(w[1]) for w in map(str.split, open(f)) if w and w[0] == step] for f in ("off", "on"))
    print(f"{step}: {median(off) / 1e6:.3f} ms ({min(off) / 1e6:.3f} to {max(off) / 1e6:.3f}), with uvm {median(on) / 1e6:.3f} ms ({min(on) / 1e6:.3f} to {max(on) / 1e6:.3f})")')
status=$?
shown "$output"
expect "cost" 0 '^gpu_fault'
plan
