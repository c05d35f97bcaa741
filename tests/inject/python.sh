#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Python frames of a stack against what Python itself says
# (tests/inject/unwind/frames.py), in every CPython 3.10 to 3.14 that is here, with
# and without the global lock, and in those of other suites, whose packages are
# unpacked into the cache. With GRTRACE_SOAK=1 interpreters without the lock are
# built from a suite's source.

set -u

src=${GRTRACE_SRC:?}
programs=$src/tests/inject/unwind
# shellcheck source=tests/cli/_pythons.sh
. "$src/tests/cli/_pythons.sh"
checks=0
declare -A tried

report() { # NAME STATUS LOG
	checks=$((checks + 1))
	if [ "$2" = 0 ]; then
		echo "ok $checks - $1"
		grep '^#' "$3"
	else
		echo "not ok $checks - $1"
		sed 's/^/# /' "$3" | cut -c1-2000 | tail -n 40
	fi
}

skip() { # NAME REASON
	checks=$((checks + 1))
	echo "ok $checks - $1 # SKIP $2"
}

# All that the script has to say must be fine, and its last line have come.
passes() { # COMMAND...
	timeout -k 5 400 "$@" "$programs/frames.py" "$PWD/probe.so" >log 2>&1 || return 1
	! grep -q '^not ok' log && grep -q 'stacks compared$' log
}

frames_in() { # NAME COMMAND...
	local name=$1
	shift
	passes "$@"
	report "$name" $? log
	timeout -k 5 60 "$@" "$programs/end.py" "$PWD/probe.so" >log 2>&1
	report "$name ends" $? log
}

# An interpreter of this system, once.
try() { # PROGRAM
	local program version
	program=$(command -v "$1") || return 0
	version=$("$program" -c 'import os, sys, sysconfig; print("%d.%d" % sys.version_info[:2]
		+ "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")), os.path.realpath(sys.executable))' 2>/dev/null) || return 0
	[ -z "${tried[$version]:-}" ] || return 0
	tried[$version]=1
	case $version in
	3.1[0-4]\ * | 3.1[34]t\ *) frames_in "$program, Python ${version%% *}" "$program" ;;
	*) refused "$program" "${version%% *}" ;;
	esac
}

# One line says why there will be no Python frames.
refused() { # PROGRAM VERSION
	"$1" -c 'import ctypes, sys
probe = ctypes.CDLL(sys.argv[1])
probe.why_not.restype = ctypes.c_char_p
print(probe.why_not().decode())' "$PWD/probe.so" >log 2>&1 && grep -q "^CPython $2: .* 3.10 to 3.14 only" log
	report "$1, Python $2: says why not" $? log
}

# Another suite's interpreter runs by that suite's own C library.
suite() { # debian|ubuntu SUITE VERSION
	local root=$pythons/$2-$3
	if ! unpack_python "$@" >unpack.log 2>&1; then
		skip "Python $3 of $2" "its packages cannot be had: $(tail -n 1 unpack.log)"
		return
	fi
	export PYTHONHOME=$root/usr
	frames_in "Python $3 of $2" "$(find "$root/usr/lib" "$root/lib/" -name ld-linux-x86-64.so.2 | head -n 1)" \
		--library-path "$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" "$root/usr/bin/python$3"
	unset PYTHONHOME
}

# Built from the suite's source, once: no suite has one without the lock.
build_without_lock() { # SUITE VERSION
	local at=$pythons/without-lock-$2 temp apt
	[ ! -x "$at/python" ] || return 0
	mkdir -p "$pythons" && temp=$(mktemp -d "$pythons/tmp.XXXXXX") && mkdir -p "$temp/lists/partial" || return 1
	echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian $1 main" >"$temp/sources.list"
	apt=(apt-get -q -o "Dir::Etc::sourcelist=$temp/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::Lists=$temp/lists"
		-o "Dir::Cache=$temp" -o APT::Sandbox::User=root)
	"${apt[@]}" update && (cd "$temp" && "${apt[@]}" --download-only source "python$2") || return 1
	mkdir "$temp/build" && tar -C "$temp/build" --strip-components=1 -xf "$temp/python$2"_*.orig.tar.xz || return 1
	(cd "$temp/build" && ./configure --disable-gil --without-ensurepip CFLAGS="-O1 -g0" && make -j"$(nproc)" python sharedmods) || return 1
	# it knows where it was built
	mv "$temp/build" "$at" && (cd "$at" && make sharedmods) && rm -rf "$temp"
}

without_lock() { # SUITE VERSION
	if build_without_lock "$@" >build.log 2>&1; then
		frames_in "Python $2 without the global lock" "$pythons/without-lock-$2/python"
	else
		skip "Python $2 without the global lock" "it could not be built: $(tail -n 1 build.log)"
	fi
}

cc -std=gnu11 -D_GNU_SOURCE=1 -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared -I"$src/include" -o probe.so "$programs/probe.c" \
	"$src"/inject/{arch,arch_aarch64,arch_x86_64,cfi,python,python_format,rules,stack,tree,unwind}.c -ldl >log 2>&1
report "build" $? log
for python in /usr/bin/python3 python3 /usr/bin/python3.11 python3.1{0,1,2,3,4} python3.1{3,4}t; do
	try "$python"
done
suite ubuntu jammy 3.10
suite ubuntu noble 3.12
suite debian trixie 3.13
suite debian sid 3.14
if [ -n "${GRTRACE_SOAK:-}" ]; then
	without_lock trixie 3.13
	without_lock sid 3.14
fi
echo "1..$checks"
