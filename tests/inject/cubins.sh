#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Lines of all instructions of kernels that this machine's nvcc compiles, of several architectures, against CUPTI's own
# reader and nvdisasm -g, if it is here, and calls of functions that were inlined against .loc of the PTX that the compiler made
# of the same source.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
CUDA=${CUDA_HOME:-/usr/local/cuda}
nvcc=$(command -v nvcc || echo "$CUDA/bin/nvcc")
[ -x "$nvcc" ] && [ -f "$CUDA/include/cupti_pcsampling.h" ] ||
	skip_all "no nvcc with CUPTI: install the CUDA toolkit, or say CUDA_HOME="
"${CC:-cc}" -w -I"$CUDA/include" -o cupti_lines "$GRTRACE_SRC/tests/inject/cubin/cupti_lines.c" -L"$CUDA/lib64" -lcupti \
	-Wl,-rpath,"$CUDA/lib64" || skip_all "nothing can be linked with CUPTI in $CUDA/lib64"

# Templates within each other, functions that are called from several places and kernels, and an empty one.
cat >nested.cu <<'END'
template <int N> __device__ __forceinline__ float leaf(const float *p, int i)
{
	float v = p[i * N];
	return v * v + N;
}
template <int N> __device__ __forceinline__ float middle(const float *p, int i)
{
	float a = leaf<N>(p, i);
	return a - leaf<N + 1>(p, i + 1);
}
template <int N> __device__ __noinline__ float apart(const float *p, int i)
{
	return middle<N>(p, i) + 1;
}
template <int N> __global__ void kernel(const float *p, float *out, int n)
{
	float s = 0;
	for (int i = threadIdx.x; i < n; i += 64)
		s += middle<N>(p, i) + apart<N>(p, i);
	out[threadIdx.x] = s;
}
template __global__ void kernel<1>(const float *, float *, int);
template __global__ void kernel<2>(const float *, float *, int);
template __global__ void kernel<3>(const float *, float *, int);
extern "C" __global__ void last(const float *p, float *o) { *o = middle<7>(p, 3); }
extern "C" __global__ void first(const float *p, float *o) { *o = leaf<7>(p, 3); }
extern "C" __global__ void empty() {}
END
cat >calls.py <<'END'
# Each place of a chain, and that of the call, is one of .loc. Names are not compared: where calls on one line are inlined, ptxas
# gives some rows that of the other one.
import re, sys
files, loc, hops, chains = {}, set(), 0, 0
ptx = open("code.ptx").read()
for number, name in re.findall(r'\.file\s+(\d+)\s+"(.*?)"', ptx): files[number] = name
for file, line, f2, l2 in re.findall(r"\.loc\s+(\d+)\s+(\d+)\s+\d+(?:, function_name \S+, inlined_at (\d+) (\d+))?", ptx):
    loc.add((files[file], line, files.get(f2), l2))
for l in open("ours"):
    places = [tuple(w.rsplit(":", 1)) for w in l.split()[2:] if w[0] not in "@-"]
    chains += len(places) > 1
    for place, caller in zip(places, places[1:] + [(None, "")]):
        hops += 1
        assert place + caller in loc, (l, place, caller)
print(hops, "places,", chains, "instructions of inlined functions")
assert hops and (chains or not sys.argv[1:]), "nothing was compared"
END
cat >disassembled.py <<'END'
# Each instruction is in both, and has the line that stands above it: the first of several in turn.
import re
theirs, function, line, again = {}, None, "-", False
for l in open("sass", errors="replace"):
    m = re.match(r"\.text\.(.+):$", l)
    if m: function, line = m[1], "-"
    m = re.match(r'\s*//## File "(.*)", line (\d+)', l)
    if m and not again: line = m[1] + ":" + m[2]
    again = bool(m)
    m = re.match(r"\s*\{?\s*/\*([0-9a-f]+)\*/", l)
    if m: theirs[function, int(m[1], 16)] = line
ours = {(w[0], int(w[1], 16)): w[2] for w in map(str.split, open("ours"))}
bad = [(k, ours.get(k), v) for k, v in theirs.items() if ours.get(k, "") != v]
assert theirs and not bad and len(ours) == len(theirs), (len(ours), len(theirs), bad[:5])
print(len(theirs), "instructions")
END
nvdisasm=$(PATH=$PATH:$CUDA/bin command -v nvdisasm)
compare() { # SOURCE ARCHITECTURE [inlined]
	local name
	name=$(basename "$1" .cu)
	"$nvcc" -w -arch="$2" -lineinfo -cubin -o code.cubin "$1" && "$nvcc" -w -arch="$2" -lineinfo -ptx -o code.ptx "$1" ||
		{ not_ok "$name for $2 is compiled" && return; }
	"$GRTRACE_BUILD/tests/inject/cubin_lines" code.cubin >ours
	cut -d' ' -f1-3 ours >lines
	./cupti_lines code.cubin <ours >theirs
	output=$(diff lines theirs | head -20)
	check "$name, $2: $(wc -l <lines) lines of $(cut -d' ' -f1 lines | sort -u | wc -l) functions are CUPTI's" \
		test "$(wc -l <theirs)" -gt 20 -a -z "$output"
	# one that is older than the architecture ends with an error
	if [ -n "$nvdisasm" ] && "$nvdisasm" -c -g code.cubin >sass 2>/dev/null; then
		output=$(python3 disassembled.py 2>&1)
		status=$?
		check "$name, $2: they are nvdisasm's, too: $(tail -n 1 <<<"$output")" exits 0
	fi
	output=$(python3 calls.py "${@:3}" 2>&1)
	status=$?
	check "$name, $2: $(tail -n 1 <<<"$output"), all as in the PTX" exits 0
}
for arch in sm_75 sm_80 sm_90 sm_100 sm_120; do
	"$nvcc" --list-gpu-code 2>/dev/null | grep -qx "$arch" || continue
	compare "$PWD/nested.cu" $arch inlined
	compare "$GRTRACE_SRC/tests/inject/cubin/inlined.cu" $arch inlined
done
compare "$GRTRACE_SRC/examples/transformer.cu" sm_90
compare "$GRTRACE_SRC/tests/gpu/pcsampling.cu" sm_90
plan
