# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts of this directory share: a run in a guest that the kernel module, the
# BPF programs and trace-cmd record at once, and what they say of it. Sourced.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")")")}
# shellcheck source=tests/vm/_lib.sh
. "$GRTRACE_SRC/tests/vm/_lib.sh"
command -v python3 >/dev/null || skip_all "no python3: apt-get install python3"
prepare

# Plays a function of _guest.sh under all three, then compares; @truth: names of files of the software GPU.
cross() { # NAME TRUTH [OPTIONS OF tools/vm...]
	local name=$1 word truth=()
	echo "TAP version 13"
	guest --timeout 600 --out "$work/$name" "${@:3}" -- bash /mnt/host/tests/cross/_guest.sh "$name" || {
		echo "not ok 1 - $name: the guest's script ended well"
		return
	}
	for word in $2; do truth+=("truth=$work/$name/$word.csv"); done
	python3 "$GRTRACE_SRC/tests/cross/_compare.py" "$work/$name/trace.txt" module="$work/$name/kmod.json" \
		BPF="$work/$name/drm.json" "${truth[@]}"
}
