#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How what root runs, and what is loaded into programs of others, is built.

set -u -o pipefail
number=0
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		tail -n 30 said | sed 's/^/# /'
		echo "not ok $number - $1"
	fi
}

command -v readelf >/dev/null || { echo "1..0 # SKIP no readelf: apt-get install binutils" && exit; }
out=$GRTRACE_PLAIN
so=$out/libgrtrace.so.$(sed -n 's/^#define GRT_VERSION "\([0-9]*\)\..*/\1/p' "$GRTRACE_SRC/include/grtrace/version.h")
env -u MAKEFLAGS make -s -C "$GRTRACE_SRC" O="$out" "$out/grtrace" "$out/libgrtrace-cuda.so" "$so" >log 2>&1 || {
	cat log && exit 1
}

relocations_read_only() { # FILE
	readelf -lW "$1" | grep -q GNU_RELRO && readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS.* NOW'
}
no_executable_stack() { # FILE
	readelf -lW "$1" | grep 'GNU_STACK' | grep -q 'RW '
}
uses() { # FILE SYMBOL-REGEX; read to its end, or readelf is told of a broken pipe
	readelf --dyn-syms -W "$1" | grep -E " $2(@|$)"
}
no_text_relocations() { # FILE
	! readelf -dW "$1" | grep -q TEXTREL
}
branches_marked() { # OBJECTS...: all of them
	local file
	for file; do
		readelf -n "$file" 2>&1 | grep -q 'x86 feature:.*IBT.*SHSTK' || { echo "$file" && return 1; }
	done
}

for file in "$out/grtrace" "$so" "$out/libgrtrace-cuda.so"; do
	name=$(basename "$file")
	check "$name: all relocations are made at the start, and read-only then" relocations_read_only "$file"
	check "$name: the stack is not executable" no_executable_stack "$file"
	check "$name: the code is as it is in the file" no_text_relocations "$file"
	check "$name: stacks are guarded" uses "$file" __stack_chk_fail
	check "$name: lengths are checked" uses "$file" '__[a-z]*_chk'
done
check "grtrace: its place is random" sh -c "readelf -h '$out/grtrace' | grep -q 'Type: *DYN'"
if [ "$(uname -m)" = x86_64 ]; then
	# the program's own mark is that of all its parts, and libraries of the distribution may have none
	mapfile -t objects < <(find "$out/obj/lib" "$out/obj/cmds" "$out/obj/sources" "$out/inject" -name '*.o')
	check "branches have marked targets (${#objects[@]} objects)" branches_marked "${objects[@]}"
fi
check "the injected library heeds no environment of a program with privileges" \
	sh -c "! readelf --dyn-syms -W '$out/libgrtrace-cuda.so' | grep -qE ' getenv(@|\$)'"
echo "1..$number"
