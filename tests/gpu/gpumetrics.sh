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
expect "a second one is refused" 3 'another profiler has them'
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
python3 "$GRTRACE_SRC/tests/gpu/torch_layer.py" eager $((TURNS * 5 + 4)) samples >layer &
layer=$!
while [ ! -s layer ]; do sleep 0.1; done
for ((i = 0; i < TURNS; i++)); do
	sleep 2.2
	"$GRTRACE" record -e gpumetrics -d 2.2 -o turn.grt >turn.said 2>&1
	grep -o 'gpumetrics_window = "from=[0-9]* to=[0-9]*' turn.grt/metadata | tr -dc '0-9 \n' >>windows
	rm -rf turn.grt
done
kill $layer 2>/dev/null
wait $layer 2>/dev/null
output=$(python3 - <<'END' 2>&1
rows = [tuple(map(float, l.split())) for l in open("layer") if len(l.split()) == 3]
windows = [tuple(int(x) / 1e9 for x in l.split()) for l in open("windows")]
middle = lambda v: sorted(v)[len(v) // 2]
inside = [us for b, e, us in rows if any(f <= b and e <= t for f, t in windows)]
# the recorder's start and end take a part of a second
outside = [us for b, e, us in rows if all(e < f - 1.2 or b > t + 0.3 for f, t in windows) and b > windows[0][0] - 2]
for f, t in windows:
    i = [us for b, e, us in rows if f <= b and e <= t]
    o = [us for b, e, us in rows if f - 2 < b and e < f - 1.2]
    print("turn: %.1f us with (%d), %.1f without (%d)" % (middle(i) if i else 0, len(i), middle(o) if o else 0, len(o)))
print("a layer: %.2f us with, %.2f without, ratio %.4f" % (middle(inside), middle(outside), middle(inside) / middle(outside)))
END
)
status=$?
sed 's/^/# /' <<<"$output"
check "cost measured" exits 0
plan
