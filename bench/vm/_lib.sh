# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the benchmarks of this directory share. Sourced.

set -u -o pipefail

src=$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")")
build=$(realpath -m -- "${1:-${GRTRACE_BUILD:-$src/build}}")

prepare() { # FILE... of the build
	local file
	command -v qemu-system-x86_64 >/dev/null || {
		echo "$(basename "$0"): no qemu-system-x86_64: install it with tools/setup check" >&2
		exit 3
	}
	for file in kernel/grtrace.ko kernel/grtrace_virtio_gpu.ko "$@"; do
		[ ! -e "$build/$file" ] || continue
		echo "$(basename "$0"): no $file in $build: make O=$build all bench-modules" >&2
		exit 3
	done
}

guest() { # [OPTIONS OF tools/vm run] -- COMMAND...
	"$src/tools/vm" run --share "$build=/mnt/build" "$@"
}
