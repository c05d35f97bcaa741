#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ground truth: what BPF, the kernel module and ftrace's text say of jobs of the
# software GPU, against what it says itself; what report --path says would be shorter,
# against workloads that are; a black box beside jobs that hang, fail and are late; top; the service without root; then what
# it makes of bad callers.
# With --icount time is a count of instructions, so the limit is near what the
# tracer costs; the best of three runs counts. Without it, in soak, the host takes time away in between, so
# there the best of eight runs counts, and none where the host has much else to do.
# shows: drm_sched BPF softgpu SUBMIT,START,END
# shows: drm_sched module softgpu SUBMIT,START,END
# shows: drm_sched text softgpu SUBMIT,START,END
# kernels in soak: trixie sid
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare

busy=$(awk -v cpus="$(nproc)" '$1 > 2 * cpus { print "load " $1 " on " cpus " CPUs" }' /proc/loadavg)

# The guest has no libmicrohttpd.
service=$(ldconfig -p | sed -n 's/.*libmicrohttpd\.so\.12 .*=> //p' | head -1)
mkdir -p "$GRTRACE_PLAIN/tests/vm/lib"
[ -z "$service" ] || { echo "$service" && ldd "$service" | sed -nE '/libc\.so|ld-linux/d; s/.* => (.*) \(.*/\1/p'; } |
	xargs cp -Lt "$GRTRACE_PLAIN/tests/vm/lib"

truth() { # NAME LIMIT_NS TRIES OPTIONS OF tools/vm...
	echo "TAP version 13"
	guest --no-gpu --timeout 1800 "${@:4}" -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build \
		GRTRACE=/mnt/build/grtrace ${GRTRACE_SOAK:+GRTRACE_SOAK=1} bash /mnt/host/tests/vm/_softgpu_guest.sh "$1" "$2" "$3" "$([ "$1" = icount ] || echo "$busy")"
}

{
	truth icount 2000 3 --icount
	[ -z "${GRTRACE_SOAK:-}" ] || truth plain 20000 8
	echo "TAP version 13"
	guest --no-gpu --timeout 900 --icount -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build \
		GRTRACE=/mnt/build/grtrace sh -c '
		bash /mnt/host/tests/vm/_box_guest.sh && echo "TAP version 13" &&
		bash /mnt/host/tests/vm/_top_guest.sh'
	echo "TAP version 13"
	guest --no-gpu -- env GRTRACE_SRC=/mnt/host GRTRACE_BUILD=/mnt/build GRTRACE=/mnt/build/grtrace sh -c '
		modprobe gpu_sched && modprobe drm_kms_helper && bash tests/vm/_serve_guest.sh && echo "TAP version 13" &&
		sh tests/vm/_guest.sh "" /mnt/build/tests/kernel/grtrace_softgpu'
} | join_tap
