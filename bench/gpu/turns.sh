#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# turns.sh BUILD: what tracing costs two loops of PyTorch, an eager layer of 13 kernels and a CUDA graph of 190 small
# kernels that is replayed: untraced, with CUPTI's records of kernels alone (bench/gpu/only.c), and by grtrace, in
# turns of a second, each in a process of its own that is forked from one with PyTorch. ROUNDS turns, SECONDS_EACH of a
# turn. Needs a GPU, gcc, CUPTI and PyTorch.

src=$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")
build=$(realpath -- "${1:-$src/build}")
PATH=$PATH:/usr/local/cuda/bin
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
cuda=$(dirname -- "$(dirname -- "$(realpath -- "$(command -v nvcc)")")")
libraries=$cuda/lib64:$cuda/extras/CUPTI/lib64
gcc -O2 -shared -fPIC -o only.so "$src/bench/gpu/only.c" -I"$cuda/include" -I"$cuda/extras/CUPTI/include" \
	-L"$cuda/lib64" -L"$cuda/extras/CUPTI/lib64" -Wl,-rpath,"$libraries" -lcupti || exit 1
exec python3 -u "$src/bench/gpu/turns.py" "$PWD/only.so" "$build/libgrtrace-cuda.so"
