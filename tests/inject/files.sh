#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The files that record and gpuperf make of a run with a mock CUDA, and that flame joins again.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
export MOCK_LOG=$PWD/log
GRTRACE=$GRTRACE_PLAIN/grtrace

weights() { # FILE
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# Stacks without weights, kernels by the names that their program has for them.
stacks() { # FILE
	sed -E 's/ [0-9]+$//; s/_Z6kernelPfS_i/kernel/' "$1" | sort
}

rm -f log
run record -e cuda -o c.grt --chrome c.json --cpu-folded cpu.txt --cupti-text gpu.txt --folded m.folded -- \
	sh -c "'$MOCK/app' calls; '$MOCK/app' plain 300; '$MOCK/app' plain 41"
expect "record makes all files" 0 'launches, [0-9]+ kernels, [0-9]+ copies; [0-9]+ stacks, [0-9.]+ ms on the GPU'
records c.grt
launches=$(grep -c '^L' got)
kernels=$(grep -c '^G.* kernel ' got)
check "the summary has all launches" says "^grtrace record: $launches launches, $kernels kernels, "
# nodes that launches have, each process for itself; those that name no frame are not among them
"$GRTRACE" dump c.grt >c.dump
check "as many stacks as launches have" says "copies; $(awk '
	/ NODE / { for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		   if (v["caller"] != "0") frame[v["image"] v["node"]] = 1 }
	/ LAUNCH / { for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
		   if (frame[v["image"] v["node"]] && !seen[v["image"] v["node"]]++) n++ }
	END { print n }' c.dump) stacks, "
check "by which rule" says 'got their launch: [0-9]+ by correlation id, 0 were launched by the GPU, 0 have no launch in the trace'
check "a timeline" python3 -c 'import json,sys; json.load(open("c.json"))'
check "a line for each launch that is no wait" test "$(grep -c . cpu.txt)" = \
	"$(("$launches" - $(grep -cE '"(cuda|cu)(Stream|Event|Device|Ctx|Thread)[A-Za-z]*Synchronize|WaitEvent' gpu.txt)))"
check "of the format" test -z "$(grep -vE '^[0-9]+ app [0-9]+ [0-9]+ 4294967295 [^ ].*;main;.*;\[correlation [0-9]+\]$' cpu.txt)"
check "a record for each launch" test "$(grep -cE '^(RUNTIME|DRIVER) \[ [0-9]+, [0-9]+ \] duration [0-9]+, "[A-Za-z0-9_]+", cbid [0-9]+, processId [0-9]+, threadId [0-9]+, correlationId [0-9]+$' gpu.txt)" = "$launches"
check "and for each kernel" test "$(grep -cE '^CONCURRENT_KERNEL \[ [0-9]+, [0-9]+ \] duration [0-9]+, ".*", correlationId [0-9]+$' gpu.txt)" = "$kernels"
check "with grid and block" test "$(grep -cE $'^\tgrid \[ [0-9]+, [0-9]+, [0-9]+ \], block \[ ' gpu.txt)" = "$kernels"
check "ids of three processes are apart" test "$(grep -oE 'correlation [0-9]+' cpu.txt | sort -u | wc -l)" = "$(grep -c . cpu.txt)"

run flame --cpu cpu.txt --gpu gpu.txt -o j.folded
expect "flame joins them again" 0 ' [0-9]+ by correlation id, 0 by thread and order, 0 by time \(within 1000 us\), 0 have none'
check "nothing is without its launch" test -z "$(grep unmatched j.folded)"
check "stacks are those of the recording" test "$(stacks j.folded | grep -v Pending | sort -u)" = \
	"$(stacks m.folded | sed -E 's/^app( \([0-9]+\))?;//' | grep -v Pending | sort -u)"
"$GRTRACE" flame -o ns.folded c.grt 2>/dev/null
check "time is exact to a microsecond" test "$(weights m.folded)" = $(($(weights ns.folded) / 1000))
check "and the same" test "$(weights j.folded)" = "$(weights m.folded)"
check "no stack vanishes" test "$(grep -c . m.folded)" = "$(grep -c . ns.folded)"
run flame --cpu cpu.txt -o only.folded
check "the CPU's file alone" test "$(weights only.folded)" = "$(grep -c . cpu.txt)"
run flame --gpu gpu.txt -o only.folded
check "the GPU's file alone" test "$(weights only.folded)" = "$(weights m.folded)"

mkdir tmp
TMPDIR=$PWD/tmp run gpuperf -o g.txt -c g.json -p g.cpu -m g.folded "$MOCK/app" plain 100
expect "gpuperf" 0 '^grtrace record: 100 launches, 100 kernels, 0 copies; 1 stack, 0.100 ms on the GPU$'
check "has made its files" test -s g.txt -a -s g.json -a -s g.cpu -a -s g.folded
check "with all launches" test "$(grep -c . g.cpu)" = 100
check "and all time" test "$(weights g.folded)" = 100
check "private" test "$(stat -c %a g.txt g.json g.cpu g.folded | sort -u)" = 600
check "the recording is gone" test -z "$(ls tmp)"

# timeout(1) signals its child, then the child's process group: one wish to end. A signal to it does the same as its time.
timed_out() { # SIGNAL CONDITION COMMAND...
	timeout -s "$1" 300 "${@:3}" >>said 2>&1 &
	pid=$!
	await "$2"
	sleep 0.2
	kill -"$1" $pid
	wait $pid
}
whole=0
for ((i = 0; i < 8; i++)); do
	rm -f t.folded
	TMPDIR=$PWD/tmp timed_out INT 'compgen -G "tmp/*/*/cuda_*_1" >/dev/null' "$GRTRACE" gpuperf -m t.folded "$MOCK/app" slow 3000
	whole=$((whole + $(test -s t.folded && echo 1 || echo 0)))
done
output=$(cat said)
check "gpuperf by timeout keeps its files" test $whole = 8
check "and no directory" test -z "$(ls tmp)"
whole=0
for ((i = 0; i < 8; i++)); do
	rm -rf t.grt said
	timed_out TERM 'compgen -G "t.grt/cuda_*_1" >/dev/null' "$GRTRACE" record -e cuda -o t.grt "$MOCK/app" slow 3000
	whole=$((whole + $(grep -c ' events, 0 lost in t.grt' said)))
done
check "record by timeout says what it has" test $whole = 8
TMPDIR=$PWD/tmp "$GRTRACE" gpuperf -m t.folded sh -c 'trap "" TERM; sleep 2' 2>said &
pid=$!
await '[ -n "$(find tmp -name "cuda_*" -o -name metadata)" ]'
kill -TERM $pid
sleep 0.2
kill -TERM $pid
wait $pid
status=$?
check "a second signal after a moment leaves at once" exits 143
check "and leaves no directory" test -z "$(ls tmp)"

run gpuperf "$MOCK/app" plain 50
check "without an option, the merged file" test "$(weights merged.folded)" = 50
run gpuperf --cpu-only "$MOCK/app" plain 50
check "--cpu-only" test "$(grep -c . cpu.txt)" = 50
mkdir unmerged
(cd unmerged && run gpuperf --no-merge --cpu-profile stacks.txt "$MOCK/app" plain 50)
check "--no-merge --cpu-profile: the stacks alone" test "$(ls unmerged) $(grep -c . unmerged/stacks.txt)" = 'stacks.txt 50'
mkdir cpu gpu
(cd cpu && run gpuperf --no-gpu "$MOCK/app" plain 50)
check "--no-gpu: the stacks alone" test "$(ls cpu) $(grep -c . cpu/cpu.txt)" = 'cpu.txt 50'
(cd gpu && run gpuperf --no-cpu -o raw.txt -c trace.json "$MOCK/app" plain 50)
check "--no-cpu: kernels, and no stack" test "$(ls gpu | paste -sd' ') $(grep -c '^CONCURRENT_KERNEL' gpu/raw.txt)" = 'raw.txt trace.json 50'
run gpuperf convert -i gpu/raw.txt -o gpu/again.json
for kind in kernel cuda_runtime; do
	check "convert of what -o wrote: each $kind of the run" test "$(jq "[(.traceEvents? // .)[] | select(.cat == \"$kind\") | .dur] | length, add" gpu/again.json)" = \
		"$(jq "[(.traceEvents? // .)[] | select(.cat == \"$kind\") | .dur] | length, add" gpu/trace.json)"
done
run gpuperf --gpu-only -m only.folded "$MOCK/app" plain 50
check "--gpu-only, by function" grep -qxE 'app;cu[A-Za-z]+;\[GPU_Kernel\]kernel 50' only.folded
run gpuperf -m none.folded sh -c 'exit 7'
expect "the program's status" 7 '^grtrace record: 0 launches, 0 kernels'
run gpuperf -m /no/such/place/f "$MOCK/app" plain 5
expect "a place that is none" 1 'cannot .*no/such/place'
plan
