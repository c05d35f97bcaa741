#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The unwinder of the injected library on 64-bit Arm, against glibc's backtrace():
# built by a cross compiler and run by QEMU, with and without frame pointers, with
# signed return addresses.

set -u

src=${GRTRACE_SRC:?}
root=/usr/aarch64-linux-gnu
flags=(-std=gnu11 -D_GNU_SOURCE=1 -g -Wall -Wextra -Wno-unused-parameter -Werror -I"$src/include")
checks=0

for program in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $program >/dev/null || { echo "1..0 # SKIP no $program: tools/setup check" && exit; }
done
[ -e $root/include/stdio.h ] || { echo "1..0 # SKIP no libc6-dev-arm64-cross: tools/setup check" && exit; }

report() { # NAME STATUS
	checks=$((checks + 1))
	if [ "$2" = 0 ]; then
		echo "ok $checks - $1"
	else
		sed 's/^/# /' log | tail -n 60
		echo "not ok $checks - $1"
	fi
}

unwinder() { # FLAGS...: compiles it once for all
	local part
	for part in arch arch_aarch64 arch_x86_64 cfi python python_format rules stack tree unwind; do
		aarch64-linux-gnu-gcc "${flags[@]}" "$@" -c -o "$part.o" "$src/inject/$part.c" >log 2>&1 || return
		parts+=("$part.o")
	done
}

# All that the program has to say must be fine, and say so much.
native() { # NAME EXPECTED FLAGS...
	local status
	aarch64-linux-gnu-gcc "${flags[@]}" "${@:3}" -rdynamic -o native "$src/tests/inject/unwind/native.c" \
		"${parts[@]}" -lpthread >log 2>&1 &&
		timeout -k 5 300 qemu-aarch64 -cpu max,pauth-impdef=on -L $root ./native >log 2>&1 &&
		! grep -q '^not ok' log && grep -q "^ok - $2" log && grep -q '^# [0-9]* stacks compared' log
	status=$?
	report "$1: $(sed -n 's/^# \([0-9]* stacks compared\)/\1/p' log)" $status
}

parts=()
unwinder -O2 -mbranch-protection=standard
report "the unwinder, without warnings" $?
native "-O2, signed return addresses" "return addresses are signed" -O2 -mbranch-protection=standard
native "-O3 without frame pointers" "signals at any instruction" -O3 -fomit-frame-pointer -DNO_FRAME_POINTERS
native "-O0" "signals at any instruction" -O0
echo "1..$checks"
