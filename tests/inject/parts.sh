#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Parts of the injected library by themselves, in states that a program can
# hardly bring them to: a program of tests/inject/parts includes the source file
# that has its name, and stands for the rest.

set -u

src=${GRTRACE_SRC:?}
unwinder=("$src"/inject/{arch,arch_aarch64,arch_x86_64,cfi,python,python_format,rules,stack,tree,unwind}.c)
flags=(-std=gnu11 -D_GNU_SOURCE=1 -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror
	-I"$src/include" -I"$src/lib" -I"$src/inject" -fno-omit-frame-pointer)
checks=0

# All that the program has to say must be fine.
part() { # NAME SOURCE...
	local name=$1 line status
	shift
	cc "${flags[@]}" -o "$name" "$src/tests/inject/parts/$name.c" "$@" -lpthread -ldl >log 2>&1 &&
		timeout -k 5 60 "./$name" >log 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) checks=$((checks + 1)) && echo "ok $checks - $name: ${line#ok - }" ;;
		"not ok - "*) checks=$((checks + 1)) && echo "not ok $checks - $name: ${line#not ok - }" ;;
		"# "*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done <log
	checks=$((checks + 1))
	if [ $status = 0 ] && grep -q '^ok - ' log; then
		echo "ok $checks - $name"
	else
		echo "not ok $checks - $name: status $status"
	fi
}

part define "$src/lib/base/cgroup.c"
part launch "$src/lib/codes/cuda_codes.c" "${unwinder[@]}"
part activity
part clock
part gate "$src/lib/codes/cuda_codes.c"
part rules "$src"/inject/{arch,arch_aarch64,arch_x86_64,cfi,stack,tree}.c
echo "1..$checks"
