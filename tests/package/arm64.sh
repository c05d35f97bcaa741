#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The modules for 64-bit Arm, built by a cross compiler with the headers of
# Debian 12's kernel: all of them, without warnings; a big-endian kernel is
# refused; a CPU's state that start publishes is read with acquire, which no
# x86 machine would show; and nothing is allocated where the kernel with
# PREEMPT_RT would not have it.

set -u -o pipefail
number=0
skip_all() { # REASON
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		grep -v 'BTF generation' said | tail -n 30 | sed 's/^/# /'
		echo "not ok $number - $1"
		return 1
	fi
}

command -v aarch64-linux-gnu-gcc >/dev/null || skip_all "no aarch64-linux-gnu-gcc: tools/setup check"
# Stays from run to run, so that little is built again.
out=$GRTRACE_PLAIN/on-arm64
kbuild() { # DIR [ARGUMENTS OF make]
	"$GRTRACE_SRC/tools/kbuild" --kernel arm64 -o "$@"
}

build() {
	kbuild "$out" WERROR=1
	built=$?
	[ $built != 3 ] || skip_all "no build for arm64: $(tail -n 1 said)" >&3
	return $built
}

all_modules() {
	local module
	for module in $(sed -n 's/^obj-.*+= \(grtrace[a-z0-9_]*\)\.o$/\1/p' "$GRTRACE_SRC/kernel/Kbuild"); do
		aarch64-linux-gnu-readelf -h "$out/kernel/$module.ko" | grep -q 'Machine: *AArch64' || {
			echo "$module.ko is not there, or of another machine"
			return 1
		}
	done
}

# A load or a store of one byte with acquire or release, in the code of one of these functions.
has() { # INSTRUCTION FUNCTION...
	local function
	for function in "${@:2}"; do
		aarch64-linux-gnu-objdump "--disassemble=$function" "$out/kernel/grtrace.ko" | grep -w "$1" && return
	done
	echo "no $1 in ${*:2}"
	return 1
}

# Handlers of tracepoints run with preemption off, and may hold a raw spinlock. kvmalloc() and kvfree() are
# for when a module is loaded and unloaded: nobody calls them there.
handlers_allocate_nothing() {
	local object called
	for object in "$out"/kernel/adapters/*.o "$out"/kernel/core/{rings,emit,judge,trace}.o; do
		called=$(aarch64-linux-gnu-nm -u "$object" | grep -E 'alloc|kfree|kvfree|kmem' | grep -vwE 'perf_trace_buf_alloc|kvmalloc_node|kvfree') || continue
		echo "${object##*/}: $called"
		return 1
	done
}

big_endian_is_refused() {
	! KCFLAGS="-mbig-endian -DCONFIG_CPU_BIG_ENDIAN=1" kbuild "$PWD/big" WERROR= 2>&1 | tee refused >/dev/null || return
	cat refused
	grep -q 'grtrace needs a little-endian kernel' refused
}

check "all modules build for arm64, warnings are errors" build 3>&1 && {
	check "each of them is there, for that machine" all_modules
	check "emitting begins with what start published" has ldarb grtrace_emit
	check "and so does a record of a stage" has ldarb grtrace_emit_record
	check "nothing is allocated or freed where events are told" handlers_allocate_nothing
	check "start publishes what stop and clear wrote" has stlrb buffer_set_running grtrace_start_tracing
}
check "a big-endian kernel is refused" big_endian_is_refused
echo "1..$number"
