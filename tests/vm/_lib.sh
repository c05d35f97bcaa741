# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of this directory that run tests/kernel in the guest share.
# Sourced. By hand, after make: tests/vm/smoke.sh [BUILD DIRECTORY]

set -u -o pipefail

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")")}
GRTRACE_BUILD=$(realpath -m -- "${1:-${GRTRACE_BUILD:-$GRTRACE_SRC/build}}")
work=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-vm.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

skip_all() { # REASON
	printf 'TAP version 13\n1..0 # SKIP %s\n' "$1"
	exit 0
}

# What every script needs; builds the programs of tests/kernel.
prepare() {
	command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64: tools/setup check"
	[ -e "$GRTRACE_BUILD/kernel/grtrace.ko" ] || skip_all "no grtrace.ko in $GRTRACE_BUILD: make modules"
	env -u MAKEFLAGS -u MFLAGS make -s -C "$GRTRACE_SRC/tests/kernel" O="$GRTRACE_BUILD/tests/kernel" >&2 || {
		echo "not ok 1 - the programs of tests/kernel build"
		exit 1
	}
}

# Runs a command in the guest: the build is /mnt/build, the source /mnt/host.
guest() { # [OPTIONS OF tools/vm run] -- COMMAND...
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	"$GRTRACE_SRC/tools/vm" run --share "$GRTRACE_BUILD=/mnt/build" "${options[@]}" -- \
		env GRTRACE_MODULES=/mnt/build/kernel "${@:2}" 2>"$work/err" || {
		cat "$work/err" >&2
		return 1
	}
}

# The TAP of several programs as that of one; fails when a test has, or a plan is not kept.
join_tap() {
	awk '
		function put(good, text) { print (good ? "ok " : "not ok ") ++n " - " text; if (!good) failed = 1 }
		function kept() {
			if (planned != "" && planned != ran)
				put(0, "planned " planned " tests, ran " ran)
			planned = ""
			ran = 0
		}
		/^TAP version/ { kept(); next }
		/^1\.\.0/ { sub(/^1\.\.0 *#? */, ""); put(1, "tests of the guest # " $0); next }
		/^1\.\./ { planned = substr($0, 4) + 0; next }
		/^(not )?ok / {
			good = /^ok/
			sub(/^(not )?ok [0-9]* *(- )?/, "")
			put(good, $0)
			ran++
			next
		}
		{ print "# " $0 }
		BEGIN { print "TAP version 13" }
		END {
			kept()
			if (!n) put(0, "the guest says something")
			print "1.." n
			exit failed
		}' | sed 's/^# # /# /'
}
