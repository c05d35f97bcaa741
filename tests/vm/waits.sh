#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Waits by who ended them: tests/vm/wakers on the software GPU, and what the render
# loops of kmscube, glmark2, weston and a client of it sleep for, which is the GPU or
# the display.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare

# The thread of a program that renders, from when it has begun to: most of its sleep is for these.
renders() { # THREAD
	python3 - "$work/out/$1.json" "$1" <<-'PY'
		import collections, json, sys
		rows = [row for row in json.load(open(sys.argv[1]))["waits"] if row["thread"] == sys.argv[2]]
		tid = collections.Counter()
		for row in rows:
		    tid[row["tid"]] += row["behind_gpu"] + row["behind_display"]
		loop = tid.most_common(1)[0][0] if tid else None
		asleep = collections.Counter()
		for row in rows:
		    if row["tid"] == loop:
		        for key, value in row.items():
		            if key.startswith("behind_"):
		                asleep[key[7:]] += value
		every = sum(asleep.values())
		ready = asleep["gpu"] + asleep["display"]
		print({k: round(v / 1e6, 1) for k, v in asleep.items() if v}, "ms")
		sys.exit(not every or ready < 0.95 * every)
	PY
}

check() { # NAME COMMAND...
	local said
	n=$((n + 1))
	if said=$("${@:2}" 2>&1); then
		echo "ok $n - $1 ($said)"
	else
		echo "not ok $n - $1 ($said)"
	fi
}

all_named() {
	local said
	said=$(python3 "$GRTRACE_SRC/tests/vm/_wakers.py" "$work/out/wakers.said" "$work/out/wakers.json" 2>&1)
	echo "$said"
	[ "$said" = "36 waits" ]
}

n=0
{
	guest --timeout 400 --out "$work/out" -- bash /mnt/host/tests/vm/_waits_guest.sh "${GRTRACE_SOAK:+2}5" >&2
	echo "TAP version 13"
	check "waits are named by who ended them, as the program says" all_named
	check "kmscube sleeps for the GPU or the display" renders kmscube
	check "glmark2 does" renders glmark2-es2-drm
	check "weston does" renders weston
	check "a client of it does" renders weston-simple-e
	check "no complaint of the kernel" test ! -s "$work/out/dmesg"
	echo "1..$n"
} | join_tap
