#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# docs/adding-a-vendor.md, done as it is written in a copy of the tree: its blocks
# make or lengthen the files that they name; then modules and program are built,
# and in the virtual machine fences of vgem are seen by the new adapter, each
# with the new event.
# kernels in soak: trixie sid

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
document=docs/adding-a-vendor.md
tree=$work/tree built=$GRTRACE_BUILD/vendor/${GRTRACE_KERNEL:-here}
readonly FENCES=23

copy_tree() {
	mkdir "$tree" && cp -a "$GRTRACE_SRC"/{Makefile,include,kernel,lib,cmds,sources,inject,web,tools,bench,tests,docs} "$tree/"
}

# Blocks ```LANGUAGE file=PATH make PATH, ```LANGUAGE add=PATH add to its end.
follow_document() {
	awk -v tree="$tree" '
		/^```/ && path { close(path); path = ""; next }
		/^```/ && match($0, / (file|add)=[^ ]*/) {
			split(substr($0, RSTART + 1, RLENGTH - 1), word, "=")
			path = tree "/" word[2]
			if (word[1] == "file" && (getline line <path) >= 0) { print path " exists"; bad = 1; exit }
			if (word[1] == "add") print "" >>path
			blocks++
			next
		}
		path { print >>path }
		END { if (blocks != 4) { print blocks " blocks, not 4"; bad = 1 } exit bad }' "$GRTRACE_SRC/$document"
}

# BPF programs have no part in it, and take long.
build_tree() {
	mkdir -p "$built" || return
	make -s -j"$(nproc)" -C "$tree" O="$built" WERROR=1 CLANG=none "$built/grtrace" || return
	if [ -n "${GRTRACE_KERNEL:-}" ]; then
		"$tree/tools/kbuild" --kernel "$GRTRACE_KERNEL" -o "$built" WERROR=1 modules
	else
		make -s -C "$tree" O="$built" WERROR=1 modules
	fi
}

number=0
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >"$work/said" 2>&1; then
		echo "ok $number - $1"
	else
		sed 's/^/# /' "$work/said" | tail -n 30
		echo "not ok $number - $1"
		return 1
	fi
}

events() { # TYPE COUNT
	[ "$(grep -c "\b$1\b" "$work/out/dump.txt")" = "$2" ] || {
		head -n 20 "$work/out/dump.txt"
		return 1
	}
}

numbered() {
	[ "$(grep -o '\bCUSTOM\b.*\bextra=[0-9]*' "$work/out/dump.txt" | sed 's/.*=//' | tr '\n' ' ')" = \
		"$(seq -s ' ' $FENCES) " ]
}

try_it() {
	guest --no-gpu --share "$built=/mnt/vendor" --out "$work/out" -- sh -c "
		set -e
		export GRTRACE_MODULES=/mnt/vendor/kernel
		insmod /mnt/vendor/kernel/grtrace.ko
		insmod /mnt/vendor/kernel/grtrace_vgem.ko
		modprobe vgem
		/mnt/vendor/grtrace record -e kmod -o /tmp/run.grt -- \
			/mnt/build/tests/vm/device_calls fences $FENCES 0
		cp /sys/kernel/debug/grtrace/adapters /out/adapters.txt
		/mnt/vendor/grtrace dump /tmp/run.grt >/out/dump.txt
		/mnt/vendor/grtrace report -i /tmp/run.grt >/out/report.txt
		rmmod vgem grtrace_vgem grtrace
		dmesg >/out/dmesg.txt"
}

{
	echo "TAP version 13"
	check "the tree is copied" copy_tree &&
		check "the document's blocks go where they say" follow_document &&
		check "it builds without warnings" build_tree &&
		check "fences of vgem are recorded in the guest" try_it && {
		check "each attached fence is a SUBMIT" events SUBMIT $FENCES
		check "and a COMPLETE" events COMPLETE $FENCES
		check "and the new event" events CUSTOM $FENCES
		check "whose payload is told by name, in order" numbered
		check "the adapter is among those of the module" grep -q '^vgem driver=vgem' "$work/out/adapters.txt"
		check "the kernel has no complaints" sh -c "! grep -E 'WARNING:|BUG:|Oops' '$work/out/dmesg.txt'"
	}
	echo "1..$number"
} | join_tap
