#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace gpuperf: its command line, and what it leaves behind; tests/inject/files.sh has programs that use CUDA.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

run gpuperf
expect "without a program" 2 'no program to run is given'
run gpuperf --cpu-only --gpu-only true
expect "two modes" 2 'one of them'
run gpuperf --cpu-only -m m.folded true
expect "--cpu-only has no time of the GPU" 2 'records no GPU work'
run gpuperf --gpu-only -p cpu.txt true
expect "--gpu-only has no stacks" 2 'records no CPU stacks'
for pair in '--no-gpu -m m.folded:records no GPU work' '--no-cpu --cpu-profile cpu.txt:records no CPU stacks' \
	'--no-gpu --no-cpu:one of them' '--no-merge:leaves nothing to write' '--no-merge -m m.folded:use only one'; do
	# shellcheck disable=SC2086 # words
	run gpuperf ${pair%%:*} true
	expect "${pair%%:*}" 2 "${pair#*:}"
done
run gpuperf no-such-program-here
check "a program that is not there" test "$status" != 0
check "leaves no file" test ! -e merged.folded
ln -s "$GRTRACE" gpuperf
ln -s "$GRTRACE" gpuperf.py
for name in ./gpuperf ./gpuperf.py; do
	output=$($name --help)
	status=$?
	expect "$name is this command" 0 'usage: grtrace gpuperf '
done

# ---- convert: the values are those of the text, counted by hand: us from the first call on, which began at its ns 1000
cat >gpu.txt <<'END'
RUNTIME [ 1700000000000001000, 1700000000000004500 ] duration 3500, "cudaLaunchKernel_v7000", cbid 211, processId 812, threadId 90210, correlationId 5
CONCURRENT_KERNEL [ 1700000000000003900, 1700000000000009900 ] duration 6000, "_Z4demoPf", correlationId 5, cacheConfigRequested 0, cacheConfigExecuted 0
	grid [ 4, 2, 1 ], block [ 64, 1, 3 ], cluster [ 0, 0, 0 ], sharedMemory (static 16, dynamic 32)
	deviceId 0, contextId 1, streamId 7, graphId 0, graphNodeId 0, channelId 0, channelType COMPUTE
RUNTIME [ 1700000000000010000, 1700000000000020000 ] duration 10000, "cudaMemcpyAsync_v3020", cbid 41, processId 812, threadId 90210, correlationId 6
MEMCPY "HtoD" [ 1700000000000012000, 1700000000000013500 ] duration 1500, size 4096, copyCount 1, srcKind PAGEABLE, dstKind DEVICE, correlationId 6
	deviceId 0, contextId 1, streamId 7, graphId 0, graphNodeId 0, channelId 0, channelType ASYNC_MEMCPY
END
converted() { # FILE: slices, from the first one's beginning, and the arrows between them
	jq -r '(.traceEvents? // .) | [.[] | select(.ph == "X") | .ts] | min' "$1" >first
	jq -r --argjson first "$(<first)" '(.traceEvents? // .)[] | select(.ph == "X") |
		"\(.cat) \(.name) \((.ts - $first) * 10 | round / 10) \(.dur) \(.args.correlation) \(.args.grid_x // "-") \(.args.bytes // "-")"' "$1"
	jq -r '(.traceEvents? // .) | map(select(.ph == "s" or .ph == "f")) | group_by(.id)[] | map(.ph) | sort | join("")' "$1"
}
converted_by_hand='cuda_runtime cudaLaunchKernel 0 3.5 5 - -
cuda_runtime cudaMemcpyAsync 9 10 6 - -
gpu_memcpy Memcpy HtoD 11 1.5 6 - 4096
kernel demo 2.9 6 5 4 -
fs
fs'
run gpuperf convert -i gpu.txt -o gpu.json
expect "convert" 0 'gpu.txt'
check "its slices and arrows are those of the text" test "$(converted gpu.json | LC_ALL=C sort)" = "$(LC_ALL=C sort <<<"$converted_by_hand")"
run gpuperf convert -i gpu.txt
check "convert without -o: trace.json" cmp gpu.json trace.json
run gpuperf convert
expect "convert: of what" 2 'convert: what\? -i RAW'
run gpuperf convert gpu.txt
expect "convert: a file without its option" 2 "unexpected 'gpu.txt'"
run gpuperf convert -i none.txt
expect "convert: a file that is not there" 1 'none.txt'
run gpuperf convert --help
expect "convert: help" 0 'usage: grtrace gpuperf convert -i RAW'
mkdir bin
printf '#!/bin/sh\nexit 9\n' >bin/convert
chmod +x bin/convert
run gpuperf --no-merge -o r.txt -- "$PWD/bin/convert"
check "a program of that name is run by its path" test "$status" != 2

TMPDIR=/no/such/dir run gpuperf true
expect "no room for the recording" 1 'cannot make /no/such/dir/gpuperf'
check "what to type" says 'try: TMPDIR=DIR'
run record --raw r.bin --folded f.folded true
expect "record: files are not made of packets in a file" 2 '--raw'
plan
