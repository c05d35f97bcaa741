#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Devices by identity: processes number those that they see for themselves (MOCK_DEVICES), and all views have
# one row for what is one GPU.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

# DEVICES NUMBER LAUNCHES: the devices that the process sees, the one that it uses, how often
use() {
	MOCK_DEVICES=$1 MOCK_DEVICE=$2 CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/d.grt \
		timeout 60 "$MOCK/app" plain "$3" || echo failed
}

# Rows of a table of `report --json`, as Python sees them.
rows() { # BY TABLE EXPRESSION
	"$GRTRACE" report --by "$1" --json d.grt | python3 -c "
import json, sys
for r in json.load(sys.stdin)['$2']: print($3)"
}

one=GPU-11111111-1111-1111-1111-111111111111 two=GPU-22222222-2222-2222-2222-222222222222

use 11,22 0 100 >out
use 22,11 1 60 >>out
use 22 0 40 >>out
check "programs run" test ! -s out
"$GRTRACE" dump d.grt >dump
check "a record for each device that a process sees" test "$(grep -c ' DEVICE ' dump)" = 5
check "with its place" grep -q 'bus="0000:22:00.0" uuid="'$two'"' dump
check "and its numbers" grep -q 'memory=85899345920 .* sms=132 sm_clock=1980000 memory_clock=2619000 major=9' dump
check "two numbers of one GPU are one row, one number of two GPUs two" test \
	"$(rows device devices "r['uuid'], r['kernels'], r['pid'] is None, r['gpu'], r['process']" | tr '\n' ' ')" = \
	"$one 160 True None 2 processes $two 40 False 0 app "
check "its name" test "$(rows device devices "r['device'], r['bus'], r['sms'], r['capability']" | head -n 1)" = \
	"Mock 100 0000:11:00.0 132 9"
# Of one of them: its work, with the calls and stacks that led to it.
for word in GPU-1 0000:11:00.0 11:00.0; do
	run report --by device --json --device $word d.grt
	check "--device $word" test "$(jq -c '[(.devices[] | .uuid, .kernels), .balance.of_others, (.idle_devices[] | .work)]' <<<"$output")" = \
		"[\"$one\",160,40,160]"
done
run flame --device $two d.grt -o two.folded
check "flame --device: the stacks of its work" test "$(awk '{ n += $NF } END { print n }' two.folded) $(grep -c ';main;' two.folded)" = "40000 1"
"$GRTRACE" export -f chrome --device $two d.grt -o two.json 2>/dev/null
check "export --device: its kernels, each with an arrow from its launch" test \
	"$(jq -c '.traceEvents | [(map(select(.cat == "kernel")) | length), ((map(select(.ph == "f") | .id) - map(select(.ph == "s") | .id)) | length)]' two.json)" = "[40,0]"
run report --device 33:00.0 d.grt
expect "--device: none of them" 1 'no events of the GPU 0000:33:00.0 \(there are 0000:11:00.0, 0000:22:00.0\)'
check "idle time has two devices" test "$(rows idle idle_devices "r['device'], r['work']" | tr '\n' ' ')" = \
	"GPU-11111111 160 GPU-22222222 40 "
check "streams are those of processes" test "$(rows stream streams "r['uuid'], r['kernels']" | sort | tr '\n' ' ')" = \
	"$one 100 $one 60 $two 40 "
run report --by stream d.grt
check "in text they have their identity, since numbers are those of processes" test \
	"$(grep -oE "^ *[0-9]+ +app +[01] +GPU-[0-9-]+ " <<<"$output" | awk '{ print $3, $4 }' | sort | tr '\n' ' ')" = "0 $one 0 $two 1 $one "
run report --by device d.grt
check "and so have devices" says "^ *- +2 processes +- +$one "
"$GRTRACE" flame --by device -o f.folded d.grt >/dev/null 2>&1
check "flame --by device" test "$(sed 's/;.*;/ /' f.folded | awk '{ n = $NF; $NF = ""; sum[$0] += n } END { for (i in sum) print i sum[i] }' | sort | tr '\n' ' ')" = \
	"[GPU device GPU-11111111] [GPU-11111111_Kernel]kernel 160000 [GPU device GPU-22222222] [GPU-22222222_Kernel]kernel 40000 "
"$GRTRACE" timeline --json d.grt >t.json
check "the timeline" test "$(python3 -c "
import json
for r in json.load(open('t.json'))['streams']:
    if r['stream'] is None: print(r['uuid'], r['kernels'], r['pid'] is None)" | tr '\n' ' ')" = "$one 160 True $two 40 False "
"$GRTRACE" export -o e.json d.grt >/dev/null 2>&1
check "an export's tracks" test "$(grep -o 'CUDA device [0-9] (GPU-[0-9]*), stream 7"' e.json | sort | tr '\n' ' ')" = \
	'CUDA device 0 (GPU-11111111), stream 7" CUDA device 0 (GPU-22222222), stream 7" CUDA device 1 (GPU-11111111), stream 7" '

# Where there is one, its identity tells nothing.
rm -rf d.grt
use 11,22 0 10 >out
run report --by stream d.grt
check "one device needs no identity" test "$(grep -c GPU-11111111-1111 <<<"$output")" = 0

# A MIG instance has an identity of its own, and its GPU's.
rm -rf d.grt
use 31.11,32.11 0 10 >out
use 32.11 0 20 >>out
"$GRTRACE" dump d.grt >dump
check "instances of one GPU" test "$(rows device devices "r['uuid'], r['kernels']" | sort | tr '\n' ' ')" = \
	"MIG-31313131-3131-3131-3131-313131313131 10 MIG-32323232-3232-3232-3232-323232323232 20 "
check "are parts of it" test "$(grep -c "mig=1 .* board=\"$one\"" dump)" = 3

# 64 threads of 32 registers and no shared memory: 32 blocks of 2 warps are all that an H100's multiprocessor takes.
check "occupancy" test "$(rows kernel kernels "r['occupancy'], r['limited_by']" | sort -u)" = \
	"100.0 warps, blocks, registers"

# Without records of devices a number is one of its process alone.
rm -rf d.grt
for i in 1 2; do
	CUDA_INJECTION64_PATH=$LIBRARY GRTRACE_OUTPUT=$PWD/d.grt "$MOCK/app" plain $((i * 10))
done
run report --device 11:00.0 d.grt
expect "--device cannot select them" 1 'no events of the GPU 0000:11:00.0: it does not have the addresses of the GPUs that CUDA programs used$'
check "none is made up" test "$(rows device devices "r['uuid'], r['kernels'], r['gpu']" | sort | tr '\n' ' ')" = \
	"None 10 0 None 20 0 "
check "nor their occupancy" test "$(rows kernel kernels "r['occupancy'], r['waves']" | sort -u)" = "None None"
plan
