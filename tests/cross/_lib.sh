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

# A trace.dat is read as the text that trace-cmd makes of it; one that is cut or damaged is an error, or less.
cross_tracecmd() { # DIR
	local size try
	size=$(stat -c %s "$1/trace.dat")
	"$GRTRACE" dump --json "$1/trace.txt" >"$1/of_text" 2>/dev/null
	"$GRTRACE" dump --json "$1/trace.dat" >"$1/of_dat" 2>"$1/why"
	"$GRTRACE" dump --json - <"$1/trace.dat" >"$1/of_input" 2>&1
	cat "$1/trace.dat" | "$GRTRACE" dump --json - >"$1/of_pipe" 2>&1
	for try in dat input pipe; do
		cmp -s "$1/of_text" "$1/of_$try" && [ "$(wc -l <"$1/of_text")" -gt 100 ] || echo "trace.dat, $try: not as its text: $(head -c 300 "$1/why")"
	done
	for try in 20 1000 $((size / 2)) $((size - 5000)) damaged; do
		head -c "${try/damaged/$size}" "$1/trace.dat" >"$1/cut.dat"
		[ "$try" != damaged ] || dd if=/dev/urandom of="$1/cut.dat" bs=1000 seek=$((size / 1500)) count=20 conv=notrunc status=none
		timeout 60 "$GRTRACE" report "$1/cut.dat" >"$1/out" 2>&1
		case $? in
		0 | 1) ! grep -qE 'AddressSanitizer|runtime error' "$1/out" || echo "trace.dat, $try: $(grep -m 1 ERROR "$1/out")" ;;
		*) echo "trace.dat, $try: status $?" ;;
		esac
	done
}

# Plays a function of _guest.sh under all three, then compares; @truth: names of files of the software GPU.
cross() { # NAME TRUTH [OPTIONS OF tools/vm...]
	local name=$1 word fault truth=()
	echo "TAP version 13"
	guest --timeout 600 --out "$work/$name" "${@:3}" -- bash /mnt/host/tests/cross/_guest.sh "$name" || {
		echo "not ok 1 - $name: the guest's script ended well"
		return
	}
	fault=$(cross_tracecmd "$work/$name")
	if [ -z "$fault" ]; then echo "ok 1 - trace.dat is read as trace-cmd's text of it"; else printf 'not ok 1 - trace.dat is read\n%s\n' "$fault"; fi
	for word in $2; do truth+=("truth=$work/$name/$word.csv"); done
	python3 "$GRTRACE_SRC/tests/cross/_compare.py" "$work/$name/trace.txt" module="$work/$name/kmod.json" \
		BPF="$work/$name/drm.json" "${truth[@]}"
}
