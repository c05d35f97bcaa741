#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Waits by who ended them: tests/vm/wakers on the software GPU, and what the render
# loops of kmscube and glmark2 sleep for, which is the GPU or the display. In soak
# weston, too, which waits for a client that has no hardware to render on.
# Frames, and what is to blame for late ones: tests/vm/frames, whose delays are on
# purpose, and kmscube, which counts its frames.

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare

# Of the thread of this name that renders, while it does: what most of its sleep is.
asleep() { # THREAD gpu|named: for the GPU or the display; ended by these, a thread, or a time that it asked for
	python3 - "$work/out/$1.json" "$1" "$2" <<-'PY'
		import collections, json, sys
		path, thread, what = sys.argv[1:]
		rows = [row for row in json.load(open(path))["waits"] if row["thread"] == thread]
		ready = collections.Counter()
		for row in rows:
		    ready[row["tid"]] += row["behind_gpu"] + row["behind_display"]
		loop = ready.most_common(1)[0][0]
		states = collections.Counter()
		for row in rows:
		    if row["tid"] == loop:
		        named = row["state"] in ("gpu", "display") or (what == "named" and (row["waker_tid"] or row["cause"]))
		        states[row["state"], bool(named)] += row["time"]
		every = sum(states.values())
		print({state: round(ns / 1e6, 1) for (state, named), ns in states.items()}, "ms")
		sys.exit(not ready[loop] or sum(ns for (state, named), ns in states.items() if named) < 0.95 * every)
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

blamed() {
	python3 "$GRTRACE_SRC/tests/vm/_frames.py" "$work/out/frames.said" "$work/out/frames.json"
}

# It does not count the frame that set the mode, which was no flip.
each_frame() {
	python3 - "$work/out/kmscube.frames" "$work/out/kmscube.shown" <<-'PY'
		import json, re, sys
		rendered = int(re.match(r"Rendered (\d+) frames", open(sys.argv[1]).read())[1])
		client = json.load(open(sys.argv[2]))["frame_clients"][0]
		print(rendered, "rendered,", client["frames"], "shown,", client["chained"], "with flip and job")
		sys.exit(not rendered <= client["chained"] == client["frames"] <= rendered + 1)
	PY
}

n=0
{
	guest --timeout 400 --out "$work/out" -- bash /mnt/host/tests/vm/_waits_guest.sh "${GRTRACE_SOAK:+2}5" ${GRTRACE_SOAK:+long} >&2
	echo "TAP version 13"
	check "waits are named by who ended them, as the program says" all_named
	check "kmscube sleeps for the GPU or the display" asleep kmscube gpu
	check "glmark2 does" asleep glmark2-es2-drm gpu
	check "each frame is there, and late ones are blamed on what delayed them" blamed
	check "each frame of kmscube is there" each_frame
	if [ -n "${GRTRACE_SOAK:-}" ]; then
		check "weston is woken by its client, the display, or in time for it" asleep weston named
		check "its client by weston, the GPU, or to look at it again" asleep weston-simple-e named
	fi
	check "no complaint of the kernel" test ! -s "$work/out/dmesg"
	echo "1..$n"
} | join_tap
