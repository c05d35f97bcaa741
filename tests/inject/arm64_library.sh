#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libgrtrace-cuda.so for 64-bit Arm: built by a cross compiler with the mock CUDA, run by QEMU, and its recordings read
# here, record by record.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
root=/usr/aarch64-linux-gnu arm=$PWD/arm
for program in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $program >/dev/null || skip_all "no $program: tools/setup check"
done
[ -e $root/include/stdio.h ] || skip_all "no libc6-dev-arm64-cross: tools/setup check"

output=$(env -u MAKEFLAGS -u MFLAGS make -C "$GRTRACE_SRC" CC=aarch64-linux-gnu-gcc WERROR=1 SANITIZE= O="$arm" "$arm/libgrtrace-cuda.so" \
	"$arm"/tests/inject/mock/{app,ranges,libcupti.so.13} 2>&1)
status=$?
check "it is built" exits 0
output=$(objdump -T "$arm/libgrtrace-cuda.so" 2>/dev/null || aarch64-linux-gnu-objdump -T "$arm/libgrtrace-cuda.so")
check "it asks for glibc 2.17 and nothing newer" test "$(grep -oE 'GLIBC_[0-9.]+' <<<"$output" | sort -u)" = GLIBC_2.17

run_there() { # PROGRAM ARGS...
	rm -rf out.grt log ranges.log
	output=$(timeout 300 qemu-aarch64 -cpu max,pauth-impdef=on -L $root -E LD_LIBRARY_PATH="$arm/tests/inject/mock" \
		-E CUDA_INJECTION64_PATH="$arm/libgrtrace-cuda.so" -E NVTX_INJECTION64_PATH="$arm/libgrtrace-cuda.so" -E GRTRACE_OUTPUT="$PWD/out.grt" \
		-E MOCK_LOG="$PWD/log" -E RANGES_LOG="$PWD/ranges.log" -E RANGES_CUDA=1 "$arm/tests/inject/mock/$1" "${@:2}" 2>&1)
	status=$?
	[ ! -f ranges.log ] || cat ranges.log >>log
	records out.grt
}
whole_stacks() {
	"$GRTRACE_BUILD/tests/inject/joined" out.grt | sed -n 's/.*whole_stacks=\([0-9]*\).*/\1/p'
}
for scene in "plain 200" calls graphs nested-graphs "threads 50"; do
	# shellcheck disable=SC2086
	run_there app $scene
	exact "$scene: every record is there, and no other"
	check "$scene: each kernel has a whole stack" test "$(whole_stacks)" = "$(grep -c '^G.* kernel ' got)"
done
check "in silence" silent
run_there ranges basic
exact "ranges of NVTX"
run_there app plain 50
run flame --weight launches -o f.folded out.grt
expect "flame" 0 '50 \(100\.00 %\) under the stack'
check "with the program's functions" grep -qE '^app;.*main;.*launch;.*\[GPU_Kernel\]kernel.* 50$' f.folded
plan
