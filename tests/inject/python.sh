#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The Python frames of a stack against what Python itself says
# (tests/inject/unwind/frames.py), in every CPython 3.11, 3.12 and 3.13 that is
# here, and in 3.13 of Debian's trixie, whose packages are unpacked into the cache.

set -u

src=${GRTRACE_SRC:?}
programs=$src/tests/inject/unwind
cache=${GRTRACE_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/grtrace/vm}/python-trixie
mirror=http://deb.debian.org/debian
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=(libc6 libexpat1 libffi8 libpython3.13-minimal libpython3.13-stdlib python3.13-minimal zlib1g)
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
	version=$("$program" -c 'import os, sys; print("%d.%d" % sys.version_info[:2], os.path.realpath(sys.executable))' 2>/dev/null) || return 0
	[ -z "${tried[$version]:-}" ] || return 0
	tried[$version]=1
	case $version in
	3.11\ * | 3.12\ * | 3.13\ *) frames_in "$program, Python ${version%% *}" "$program" ;;
	*) refused "$program" "${version%% *}" ;;
	esac
}

# One line says why there will be no Python frames.
refused() { # PROGRAM VERSION
	"$1" -c 'import ctypes, sys
probe = ctypes.CDLL(sys.argv[1])
probe.why_not.restype = ctypes.c_char_p
print(probe.why_not().decode())' "$PWD/probe.so" >log 2>&1 && grep -q "^CPython $2: .* 3.11, 3.12 and 3.13" log
	report "$1, Python $2: says why not" $? log
}

# Unpacks trixie's interpreter, once; it runs by that suite's own C library.
unpack_trixie() {
	local temp apt
	[ ! -e "$cache/done" ] || return 0
	mkdir -p "$cache" && temp=$(mktemp -d "$cache/tmp.XXXXXX") && mkdir -p "$temp/lists/partial" || return 1
	echo "deb [signed-by=$keyring] $mirror trixie main" >"$temp/sources.list"
	apt=(apt-get -q -o "Dir::Etc::sourcelist=$temp/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::Lists=$temp/lists" -o "Dir::Cache=$temp" -o APT::Sandbox::User=root)
	"${apt[@]}" update && (cd "$temp" && "${apt[@]}" download "${packages[@]}") || return 1
	for deb in "$temp"/*.deb; do
		dpkg-deb -x "$deb" "$temp/root" || return 1
	done
	rm -rf "$cache/root" && mv "$temp/root" "$cache/root" && touch "$cache/done" && rm -rf "$temp"
}

trixie() {
	local root=$cache/root
	if ! unpack_trixie >unpack.log 2>&1; then
		skip "Python 3.13 of trixie" "its packages cannot be had: $(tail -n 1 unpack.log)"
		return
	fi
	export PYTHONHOME=$root/usr
	frames_in "Python 3.13 of trixie" "$root/usr/lib64/ld-linux-x86-64.so.2" \
		--library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/python3.13"
	unset PYTHONHOME
}

cc -std=gnu11 -D_GNU_SOURCE=1 -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared -I"$src/include" -o probe.so "$programs/probe.c" \
	"$src"/inject/{arch,arch_aarch64,arch_x86_64,cfi,python,python_format,rules,stack,tree,unwind}.c -ldl >log 2>&1
report "build" $? log
for python in /usr/bin/python3 python3 /usr/bin/python3.11 python3.11 python3.12 python3.13; do
	try "$python"
done
trixie
echo "1..$checks"
