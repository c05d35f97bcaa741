#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda on a machine with an NVIDIA GPU: kernels that ran = kernels in the recording = kernels with their launch.
#
# By hand: GRTRACE_PLAIN=build tests/gpu/cuda.sh. Needs nvcc; PyTorch and JAX are used where they are there.
# shows: cuda library card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc: install CUDA's toolkit" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
[ -x "$GRTRACE_PLAIN/launches" ] && cp "$GRTRACE_PLAIN/launches" . ||
	nvcc -O2 -o launches "$GRTRACE_SRC/tests/gpu/launches.cu" -lcuda || exit 1

counts=
number() { # NAME
	sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" <<<"$counts" | head -1
}

# All kernels of the recording have their launch, and a stack.
attributed() {
	[ "$(number kernels)" -gt 0 ] && [ "$(number unknown)" = 0 ] && [ "$(number nothing)" = 0 ] &&
		[ "$(number with_stack)" = "$(($(number matched)))" ] &&
		[ "$(number matched)" = "$(($(number kernels) + $(number copies)))" ] && [ "$(number no_end)" = 0 ]
}

trace() { # COMMAND...
	run record -e cuda -o run.grt "$@"
	counts=$("$GRTRACE_PLAIN/tests/inject/joined" run.grt)
	output+=$'\n'$counts
}

for way in runtime launch_kernel ex cooperative driver driver_ex driver_cooperative graph driver_graph streams threads; do
	trace ./launches $way 997
	ran=$(sed -n 's/.*ran \([0-9]*\) .*/\1/p' <<<"$output" | head -1)
	check "$way: kernels seen are those that ran" test "${ran:-0}" -gt 0 -a "$(number kernels)" = "$ran"
	check "$way: each has its launch and stack" attributed
	echo "# $way: ran $ran, $(head -1 <<<"$counts")"
done
trace ./launches processes 997
check "processes: four, and all their kernels" test "$(number processes)" = 4 -a "$(number kernels)" = 3988
check "processes: each has its launch and stack" attributed
trace ./launches copies 101
check "copies: two, and one fill, in each turn" test "$(number copies)" -ge 303
echo "# copies: $(head -1 <<<"$counts")"
awk '{ print "# " $0 }' <<<"$counts"

if python3 -c 'import torch' 2>/dev/null; then
	for what in eager compiled triton; do
		trace python3 "$GRTRACE_SRC/tests/gpu/torch_layer.py" $what 2
		check "PyTorch, $what: each kernel has its launch and stack" attributed
		check "PyTorch, $what: Python is in the stacks" test "$(number python_stacks)" -gt 0
		grep -E '^rate' <<<"$output" | sed 's/^/# /'
		awk '{ print "# " $0 }' <<<"$counts"
	done
fi
if python3 -c 'import jax; jax.devices("gpu")' 2>/dev/null; then
	trace python3 "$GRTRACE_SRC/tests/gpu/jax_layer.py"
	check "JAX: each kernel has its launch and stack" attributed
	awk '{ print "# " $0 }' <<<"$counts"
fi
plan
