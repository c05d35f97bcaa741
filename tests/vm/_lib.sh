# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of this directory that run tests/kernel in the guest share.
# Sourced. By hand, after make: tests/vm/smoke.sh [BUILD DIRECTORY], and on the
# kernel of a Debian suite, after tools/kbuild --kernel SUITE -o BUILD/on-SUITE:
# GRTRACE_KERNEL=SUITE tests/vm/smoke.sh [BUILD DIRECTORY]

set -u -o pipefail

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")")}
GRTRACE_BUILD=$(realpath -m -- "${1:-${GRTRACE_BUILD:-$GRTRACE_SRC/build}}")
# The modules for the guest's kernel, with those of tests and benchmarks, are below it.
kbuild=${GRTRACE_KERNEL:+on-$GRTRACE_KERNEL}
work=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-vm.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

skip_all() { # REASON
	printf 'TAP version 13\n1..0 # SKIP %s\n' "$1"
	exit 0
}

# What every script needs; builds the programs of tests/kernel.
prepare() {
	local make_it='make modules'
	[ -z "$kbuild" ] || make_it="tools/kbuild --kernel $GRTRACE_KERNEL -o $GRTRACE_BUILD/$kbuild"
	command -v qemu-system-x86_64 >/dev/null || skip_all "no qemu-system-x86_64: tools/setup check"
	[ -e "$GRTRACE_BUILD/$kbuild/kernel/grtrace.ko" ] || skip_all "no grtrace.ko in $GRTRACE_BUILD/$kbuild: $make_it"
	env -u MAKEFLAGS -u MFLAGS make -s -C "$GRTRACE_SRC/tests/kernel" O="$GRTRACE_BUILD/tests/kernel" >&2 || {
		echo "not ok 1 - the programs of tests/kernel build"
		exit 1
	}
}

# Runs a command in the guest: the build is /mnt/build, the source /mnt/host;
# GRTRACE_KBUILD is where kernel/, tests/kernel/modules/ and bench/kernel/ are.
guest() { # [OPTIONS OF tools/vm run] -- COMMAND...
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	[ -z "${GRTRACE_KERNEL:-}" ] || options=(--kernel "$GRTRACE_KERNEL" "${options[@]}")
	"$GRTRACE_SRC/tools/vm" run --share "$GRTRACE_BUILD=/mnt/build" "${options[@]}" -- \
		env GRTRACE_KBUILD="/mnt/build/$kbuild" GRTRACE_MODULES="/mnt/build/$kbuild/kernel" \
		"${@:2}" 2>"$work/err" || {
		cat "$work/err" >&2
		return 1
	}
}

# The TAP of several programs as that of one; fails when a test has, a plan is not
# kept, or a program has run none of its tests: in a guest of ours it has what it needs,
# but for the drivers of real GPUs, which tools/debug-kernel leaves out.
join_tap() {
	awk -v lacks="$([ "${GRTRACE_KERNEL:-}" != debug ] || echo "this kernel has no module|the driver or the fences")" '
		function put(good, text) { print (good ? "ok " : "not ok ") ++n " - " text; if (!good) failed = 1 }
		function kept() {
			if (planned != "" && planned != ran)
				put(0, "planned " planned " tests, ran " ran)
			planned = ""
			ran = 0
		}
		/^TAP version/ { kept(); next }
		/^1\.\.0/ && lacks && $0 ~ lacks { sub(/^1\.\.0 *#? *SKIP */, ""); put(1, "a program of the guest runs its tests # SKIP " $0); next }
		/^1\.\.0/ { sub(/^1\.\.0 *#? */, ""); put(0, "a program of the guest runs its tests: " $0); next }
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
