#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e gpumetrics on a machine with an NVIDIA GPU: the counters of kernels that are known to copy, to multiply
# and to keep all multiprocessors busy, the place of their edges on the time line, what is lost, a second client, and
# what it costs a program.
#
# By hand, as root: GRTRACE_PLAIN=build tests/gpu/gpumetrics.sh. Needs nvcc and PyTorch. GRTRACE_KEEP: a directory for
# recordings.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
HERE=$(dirname -- "$(realpath -- "$0")")
TURNS=${TURNS:-6}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc: install CUDA's toolkit" && exit 4; }
python3 -c 'import torch' 2>/dev/null || { echo "no PyTorch: pip install torch" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
nvcc -O2 -arch=native -o known "$HERE/gpumetrics.cu" || exit 1

both() { # NAME COMMAND...: counters and kernels; the program's output in NAME.said
	rm -rf "$1.grt"
	timeout 120 "$GRTRACE" record -e cuda,gpumetrics -o "$1.grt" "${@:2}" >"$1.said" 2>"$1.err"
	status=$?
	output=$(<"$1.err")
	sed "s/^/# /" "$1.err"
	"$GRTRACE" dump --json --type counter,gpu_kernel "$1.grt" >"$1.jsonl"
	[ ! -d "$GRTRACE_KEEP" ] || tar -czf "$GRTRACE_KEEP/$1.tar.gz" "$1.grt"
}
against() { # WHAT NAME
	output=$(python3 "$HERE/gpumetrics.py" "$1" "$2.jsonl" "$2.said" 2>&1)
	status=$?
	sed "s/^/# /" <<<"$output"
}
facts() { # NAME
	grep -o 'gpumetrics_gpu.*' "$1.grt/metadata"
}
missing_none() { # NAME
	facts "$1" | grep -q ' missing=0 '
}

run doctor gpumetrics
expect "gpumetrics works here" 0 '^  gpumetrics +works'
both steps ./known steps 60
facts steps | sed 's/^/# /'
check "a sample for each millisecond" missing_none steps
against edges steps
check "rises and falls of the multiprocessors' use are at the kernels' own stamps" exits 0
both far ./known far 40
against edges far
check "and 20 s later, too" exits 0
facts far | sed 's/^/# /'
both copy ./known copy 800
against copy copy
check "bytes of the GPU's memory are those of the program" exits 0
check "none is missing" missing_none copy
both gemm python3 "$HERE/gpumetrics_gemm.py"
against gemm gemm
check "the tensor cores' share is that of the operations" exits 0
for name in copy gemm; do "$GRTRACE" report --by roofline "$name.grt" 2>&1 | cut -c1-240 | sed 's/^/# /'; done

# two at a time
"$GRTRACE" record -e gpumetrics -d 4 -o first.grt >first.said 2>&1 &
first=$!
sleep 2
run record -e gpumetrics -d 1 -o second.grt
expect "a second one is refused" 3 'another profiler uses them'
wait $first
status=$? output=$(<first.said)
expect "the first one goes on" 0 ' 0 lost in first.grt'

# what is lost is counted: samples and missing ones make up the time
for hz in 5000 10000; do
	run record -e "gpumetrics:overview:$hz" -d 3 -o "fast.grt"
	output=$(facts fast | python3 -c 'import re, sys
text = sys.stdin.read()
n = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}
all = (n["samples"] + n["missing"]) * n["interval_ns"] / 1e9
print(text.strip(), "samples and missing ones: %.3f s" % all)
sys.exit(not 2.9 < all < 3.6)' 2>&1)
	status=$?
	echo "# $output"
	check "$hz samples a second: all are there, or counted" exits 0
	rm -rf fast.grt
done

# cost: a program, in turns with and without
cost() { # WHAT
	python3 "$GRTRACE_SRC/tests/gpu/torch_layer.py" "$1" $((TURNS * 8 + 10)) samples >layer &
	local layer=$! i
	while [ ! -s layer ] && kill -0 $layer 2>/dev/null; do sleep 0.1; done
	rm -f windows
	for ((i = 0; i < TURNS; i++)); do
		sleep 1.7
		"$GRTRACE" record -e gpumetrics -d 1.5 -o turn.grt >turn.said 2>&1
		grep -o 'gpumetrics_window = "from=[0-9]* to=[0-9]*' turn.grt/metadata | tr -dc '0-9 \n' >>windows
		rm -rf turn.grt
	done
	sleep 1
	kill $layer 2>/dev/null
	wait $layer 2>/dev/null
	output=$(python3 - "$1" <<'END' 2>&1
import sys
rows = [tuple(map(float, l.split())) for l in open("layer") if len(l.split()) == 3]
windows = [tuple(int(x) / 1e9 for x in l.split()) for l in open("windows")]
middle = lambda v: sorted(v)[len(v) // 2]
ratios = []
for f, t in windows:
    # the recorder's own start, up to a second, is in neither
    with_it = [us for b, e, us in rows if f <= b and e <= t]
    without = [us for b, e, us in rows if f - 2.5 < b and e < f - 1.1 or t + 0.2 < b and e < t + 1.6]
    ratios.append(middle(with_it) / middle(without))
    print("turn: %.1f us with (%d), %.1f without (%d)" % (middle(with_it), len(with_it), middle(without), len(without)))
print("%s: ratio of a layer with to one without, middle of %d turns: %.4f (%.3f to %.3f)" % (
    sys.argv[1], len(ratios), middle(ratios), min(ratios), max(ratios)))
END
	)
	status=$?
	sed 's/^/# /' <<<"$output"
	check "cost of a layer, $1, was measured" exits 0
}
cost eager
cost graph
plan
