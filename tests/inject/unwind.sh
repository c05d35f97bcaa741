#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The unwinder of the injected library against glibc's backtrace(): programs
# of tests/inject/unwind, built by each compiler with and without optimisation
# and frame pointers, static and at a fixed address; C++ exceptions; the threads
# under ThreadSanitizer and AddressSanitizer.
# long

set -u

src=${GRTRACE_SRC:?}
programs=$src/tests/inject/unwind
unwinder=("$src"/inject/{arch,arch_aarch64,arch_x86_64,cfi,python,python_format,rules,stack,tree,unwind}.c)
flags=(-D_GNU_SOURCE=1 -g -w -I"$src/include")
checks=0

report() { # NAME STATUS LOG
	checks=$((checks + 1))
	if [ "$2" = 0 ]; then
		echo "ok $checks - $1"
	else
		echo "not ok $checks - $1"
		sed 's/^/# /' "$3" | tail -n 60
	fi
}

skip() { # NAME REASON
	checks=$((checks + 1))
	echo "ok $checks - $1 # SKIP $2"
}

# All that the program has to say must be fine, and its last check have come.
passes() { # COMMAND...
	timeout -k 5 300 "$@" >log 2>&1 || return 1
	! grep -q '^not ok' log && grep -q '^ok' log
}

library() { # FUNCTION SIZE
	cc -shared -fPIC -O2 -Wl,--build-id -DFUNCTION="$1" -DSIZE="$2" -o "lib$1.so" "$programs/library.c"
}

native() { # NAME COMPILER FLAGS...
	local name=$1 compiler=$2
	shift 2
	if ! command -v "$compiler" >/dev/null; then
		skip "$name" "no $compiler: apt-get install $compiler"
		return
	fi
	"$compiler" -std=gnu11 "${flags[@]}" "$@" -o native "$programs/native.c" "${unwinder[@]}" -lpthread \
		>log 2>&1 && passes ./native "$PWD/libfunction_a.so" "$far/libfunction_b.so"
	report "$name" $? log
}

# A static program can load nothing.
static() { # NAME FLAGS...
	local name=$1
	shift
	cc -std=gnu11 "${flags[@]}" -O2 "$@" -o native "$programs/native.c" "${unwinder[@]}" -lpthread >log 2>&1 &&
		passes ./native
	report "$name" $? log
}

exceptions() { # NAME COMPILER FLAGS...
	local name=$1 compiler=$2 part
	shift 2
	if ! command -v "$compiler" >/dev/null; then
		skip "$name" "no $compiler: apt-get install g++ clang"
		return
	fi
	for part in "${unwinder[@]}"; do
		cc -std=gnu11 "${flags[@]}" -O2 -c -o "$(basename "$part" .c).o" "$part" || return 1
	done
	"$compiler" "${flags[@]}" "$@" -rdynamic -o exceptions "$programs/exceptions.cc" \
		{arch,arch_aarch64,arch_x86_64,cfi,python,python_format,rules,stack,tree,unwind}.o -lpthread >log 2>&1 && passes ./exceptions
	report "$name" $? log
}

threads() { # NAME SANITIZER
	cc -std=gnu11 "${flags[@]}" -O1 -fsanitize="$2" -rdynamic -o threads "$programs/native.c" "${unwinder[@]}" \
		-lpthread >log 2>&1 && passes ./threads threads
	report "$1" $? log
}

small() {
	cc -std=gnu11 "${flags[@]}" -O2 -rdynamic -o native "$programs/native.c" "${unwinder[@]}" -lpthread >log 2>&1 &&
		passes ./native small
	report "a small tree, a hidden object" $? log
}

library function_a 40
library function_b 600
# a path of more than 255 bytes
far=$PWD/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})
mkdir -p "$far" && mv libfunction_b.so "$far" || exit 1
for compiler in gcc clang; do
	native "$compiler -O3 without frame pointers" $compiler -O3 -fomit-frame-pointer -rdynamic
	native "$compiler -O2 with frame pointers, at a fixed address" $compiler -O2 -fno-omit-frame-pointer \
		-fno-pie -no-pie -rdynamic
	native "$compiler -O0" $compiler -O0 -rdynamic
done
small
# Without the header only the linker's own start-up code knows where the tables are.
static "static" -static -Wl,--eh-frame-hdr -DNO_NAMES
static "static, position independent" -static-pie -DNO_NAMES
exceptions "exceptions, g++ -O2" g++ -O2
exceptions "exceptions, clang++ -O0" clang++ -O0
threads "threads under ThreadSanitizer" thread
threads "threads under AddressSanitizer" address,undefined
echo "1..$checks"
