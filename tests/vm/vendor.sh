#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# docs/adding-a-vendor.md, done as it is written in a copy of the tree: its blocks
# make or lengthen the files that they name; then modules and program are built,
# and in the virtual machine fences of vgem are seen by the new adapter, each
# with the new event. Two made-up rows with numbers past 64 and past 128 go all
# the way: from the module's emit through its filter and a recording to readers.
# A made-up source brings an option, and a made-up provider draws an event on
# tracks; each is one file and one row.
# kernels in soak: trixie sid
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
document=docs/adding-a-vendor.md
tree=$work/tree built=$GRTRACE_BUILD/vendor/${GRTRACE_KERNEL:-here}
readonly FENCES=23

copy_tree() {
	mkdir "$tree" && cp -a "$GRTRACE_SRC"/{Makefile,include,kernel,lib,host,kmod,sources,cmds,inject,web,sql,tools,bench,tests,docs} "$tree/"
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

made_up_rows() {
	cat >>"$tree/include/grtrace/events/nvidia.def" <<-'EOF'
	GRT_EVENT(127, PAST_64, past_64, custom, NORMAL, CURRENT,
		  GRT_U(64, value, DEC, "a number"),
		  "made up")
	EOF
	cat >>"$tree/include/grtrace/events/cuda.def" <<-'EOF'
	GRT_EVENT(130, PAST_128, past_128, custom, NORMAL, CURRENT,
		  GRT_U(32, half, HEX, "a number")
		  GRT_I(32, below, "a number")
		  GRT_STR(16, word, "a text"),
		  "made up")
	EOF
}

# A source with an option that it alone knows, and tracks on which PAST_64 is not drawn.
made_up_files() {
	echo 'GRT_SOURCE(made_up, "nothing")' >>"$tree/sources/sources.def"
	cat >"$tree/sources/made_up.c" <<-'EOF'
	// SPDX-License-Identifier: GPL-2.0
	#include <errno.h>

	#include "source.h"

	static uint64_t amount;

	static const struct cmd_opt options[] = {
		{"made-up-amount", 'M', OPT_SIZE, "SIZE", &amount, "made_up: how much"},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
	};

	static int made_up_open(void **state, const struct source_setup *setup, struct grt_err *err)
	{
		(void)setup;
		*state = NULL;
		return grt_err_set(err, -ENODEV, "it is made up", NULL, "an amount of %lu", (unsigned long)amount);
	}

	static int made_up_close(void *state, struct grt_err *err)
	{
		(void)state;
		(void)err;
		return 0;
	}

	const struct source source_made_up = {
		.name = "made_up", .by_name = true, .options = options, .open = made_up_open, .close = made_up_close};
	EOF
	echo 'GRT_TRACKS(tracks_made_up)' >>"$tree/lib/export/tracks.def"
	cat >"$tree/lib/export/tracks_made_up.c" <<-'EOF'
	// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
	#include "tracks_parts.h"

	static const struct tracks_draw draws[] = {{GRT_EV_PAST_64, tracks_nothing}, {0}};

	const struct tracks_provider tracks_made_up = {.draws = draws};
	EOF
}

# Help, completion, parsing and the check of the manual know the option; its value reaches the source.
own_option() {
	local said
	# whole: who writes into a pipe that nobody reads any more fails
	said=$("$built/grtrace" record --help) && grep -q -- '-M, --made-up-amount SIZE  *made_up: how much' <<<"$said" &&
		[ "$("$built/grtrace" --complete record --made)" = --made-up-amount ] &&
		said=$("$built/grtrace" --tables) && grep -q "^option.record.made-up-amount.M.SIZE" <<<"$said" || return
	said=$("$built/grtrace" record -e made_up -M 2K -o "$work/none.grt" 2>&1)
	[[ $said == *"an amount of 2048: it is made up"* ]] || { echo "$said" && return 1; }
	said=$("$built/grtrace" record -e drm --made-up-amount 1 -o "$work/none.grt" 2>&1)
	[[ $? = 2 && $said == *"--made-up-amount needs the source made_up"* ]] || { echo "$said" && return 1; }
	said=$("$built/grtrace" report -M 1 2>&1)
	[[ $said == *"unknown option -M"* ]] || { echo "$said" && return 1; }
}

# BPF programs have no part in it, and take long.
build_tree() {
	mkdir -p "$built" || return
	make -s -j"$(nproc)" -C "$tree" O="$built" WERROR=1 CLANG=none CFLAGS=-O0 "$built/grtrace" || return
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
		insmod /mnt/vendor/kernel/grtrace_filter.ko
		/mnt/vendor/grtrace record -e kmod -o /tmp/high.grt --filter-events=-start,past_64 -- \
			/bin/sh -c 'sleep 0.1; printf \"past_64 ctx=5 value=7 count=3\nstart ctx=5\npast_128 ctx=6 half=0xab below=-4 count=2\n\" \
				>/sys/kernel/debug/grtrace/emit; cat /sys/kernel/debug/grtrace/filter_events >/out/filter.txt'
		/mnt/vendor/grtrace record -e kmod -o /tmp/both.grt --type past_64,past_128 -- \
			/bin/sh -c 'sleep 0.1; printf \"past_64 ctx=5 value=7 count=3\nstart ctx=5\npast_128 ctx=6 half=0xab below=-4 count=2\n\" \
				>/sys/kernel/debug/grtrace/emit'
		cp -r /tmp/high.grt /tmp/both.grt /out/
		cp /sys/kernel/debug/grtrace/events_by_type /out/by_type.txt
		rmmod vgem grtrace_vgem grtrace_filter grtrace
		dmesg >/out/dmesg.txt"
}

# What each reader has of the recording of both types: lines with PATTERN.
readers_have() { # PATTERN COUNT COMMAND...
	local n
	n=$("${@:3}" 2>&1 | tee "$work/read" | grep -cE "$1")
	[ "$n" = "$2" ] || {
		echo "$n lines, not $2:"
		head -n 20 "$work/read"
		return 1
	}
}

high_numbers() {
	local trace=$work/out/both.grt
	check "all but two types are filtered by name" grep -q '^-start,past_64$' "$work/out/filter.txt"
	check "and one past 64 is" readers_have PAST_64 0 "$built/grtrace" dump "$work/out/high.grt"
	check "which one past 128 is not" readers_have PAST_128 2 "$built/grtrace" dump "$work/out/high.grt"
	check "--type takes both" readers_have 'PAST_(64|128)' 5 "$built/grtrace" dump "$trace"
	check "and nothing else" readers_have START 0 "$built/grtrace" dump "$trace"
	check "the module counts them" grep -qx 'past_128 2' "$work/out/by_type.txt"
	check "dump --type" readers_have 'half=0xab.*below=-4' 2 "$built/grtrace" dump --type past_128 "$trace"
	check "dump --json" readers_have '"below": ?-4' 2 "$built/grtrace" dump --json "$trace"
	check "export csv" readers_have ',PAST_(64|128),' 5 "$built/grtrace" export -f csv -o - "$trace"
	check "export jsonl" readers_have '"PAST_64"' 3 "$built/grtrace" export -f jsonl -o - "$trace"
	check "a provider draws its event" readers_have PAST_64 0 "$built/grtrace" export -f chrome -o - "$trace"
	check "one of no provider is an instant" readers_have PAST_128 2 "$built/grtrace" export -f chrome -o - "$trace"
	check "report counts them" readers_have '^PAST_64 +3$' 1 "$built/grtrace" report --by type "$trace"
	if command -v babeltrace2 >/dev/null; then
		check "babeltrace2 reads them" readers_have 'PAST_128:.*below = -4' 2 babeltrace2 "$trace"
	fi
}

{
	echo "TAP version 13"
	check "the tree is copied" copy_tree &&
		check "the document's blocks go where they say" follow_document &&
		check "two made-up rows, past 64 and past 128" made_up_rows &&
		check "a made-up source and tracks" made_up_files &&
		check "it builds without warnings" build_tree &&
		check "the source's option is known by its row" own_option &&
		check "fences of vgem are recorded in the guest" try_it && {
		check "each attached fence is a SUBMIT" events SUBMIT $FENCES
		check "and a COMPLETE" events COMPLETE $FENCES
		check "and the new event" events CUSTOM $FENCES
		check "whose payload is told by name, in order" numbered
		check "the adapter is among those of the module" grep -q '^vgem driver=vgem' "$work/out/adapters.txt"
		high_numbers
		check "the kernel has no complaints" sh -c "! grep -E 'WARNING:|BUG:|Oops' '$work/out/dmesg.txt'"
	}
	echo "1..$number"
} | join_tap
