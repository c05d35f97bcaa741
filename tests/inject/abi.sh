#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Our declarations of CUPTI's binary interface, against NVIDIA's headers where they are.

include=$(for d in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda-*; do
	for i in "$d/include" "$d/extras/CUPTI/include"; do
		[ ! -f "$i/cupti.h" ] || { echo "$i" && break 2; }
	done
done)
[ -n "$include" ] || {
	echo "1..0 # SKIP no cupti.h: install CUDA's toolkit, or set CUDA_HOME"
	exit 0
}
echo "# $include"
# a header of NVIDIA's includes one of C++, of which it uses nothing
mkdir -p empty && : >empty/string
if ${CC:-cc} -std=gnu11 -Wall -Werror -I"$include" -I"$include/../../../include" -I"$GRTRACE_SRC/include" -I"$GRTRACE_SRC/inject" -I"$GRTRACE_SRC/sources/nvidia" -Iempty \
	-DCUPTI_INCLUDE="\"$include\"" -o abi "$GRTRACE_SRC/tests/inject/abi/abi.c" && ./abi; then
	echo "ok 1 - structs, constants, functions and numbers of calls are NVIDIA's"
else
	echo "not ok 1 - structs, constants, functions and numbers of calls are NVIDIA's"
fi
echo 1..1
