#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Waits by who ended them: tests/vm/wakers on the software GPU, and what the render
# loops of kmscube and glmark2 sleep for, which is the GPU or the display. In soak
# weston, too, which waits for a client that has no hardware to render on.
# Frames, and what is to blame for late ones: tests/vm/frames, whose delays are on
# purpose, and kmscube, which counts its frames. Idle time of the software GPU by its
# cause: tests/vm/idle_causes, which measures what it does between two jobs.
# shows: virtio_gpu BPF driver ASLEEP,LAUNCH
# long

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
	said=$(python3 "$GRTRACE_SRC/tests/vm/_wakers.py" "$work/out/wakers.said" "$work/out/wakers.json" "$work/out/wakers.dump" 2>&1)
	echo "$said"
	[ "$said" = "36 waits" ]
}

all_switches() {
	local said
	said=$(grep -v ': 0$' "$work/out/wakers.lost"
		python3 "$GRTRACE_SRC/tests/vm/_switches.py" "$work/out/wakers.ftrace" "$work/out/wakers.dump" 2>&1)
	echo "$said"
	[[ $said =~ ^[0-9]{3,}\ switches$ ]]
}

blamed() {
	python3 "$GRTRACE_SRC/tests/vm/_frames.py" "$work/out/frames.said" "$work/out/frames.json"
}

# It prints its count now and then, and at the end without the last one.
each_frame() {
	python3 - "$work/out/kmscube.frames" "$work/out/kmscube.shown" <<-'PY'
		import json, re, sys
		rendered = int(re.findall(r"Rendered (\d+) frames", open(sys.argv[1]).read())[-1])
		report = json.load(open(sys.argv[2]))
		client = report["frame_clients"][0]
		presented = sum(frame["present"] is not None for frame in report["frames"])
		print(rendered, "rendered,", client["frames"], "shown,", client["chained"], "with flip and job,", presented, "presented")
		sys.exit(not rendered <= presented <= client["chained"] == client["frames"] <= rendered + 1)
	PY
}

# What clients of weston attached by the protocol's own log, but for the last one, which may not be shown any more.
each_frame_of_clients() {
	python3 - "$work/out" <<-'PY'
		import json, re, sys
		out = sys.argv[1]
		attached = sorted(len(re.findall(r"wl_surface@\d+\.attach\(wl_buffer", open(f"{out}/client{i}").read())) for i in (1, 2))
		clients = [c for c in json.load(open(out + "/weston.shown"))["frame_clients"] if c["compositor"]]
		shown = sorted(c["frames"] for c in clients)
		print(attached, "attached,", shown, "shown,", [c["chained"] for c in clients], "with flip and job")
		sys.exit(len(shown) != 2 or any(not a - 1 <= s <= a for a, s in zip(attached, shown)))
	PY
}

# What two clients of weston committed by the protocol's own log; each may have ended within one.
each_commit() {
	local recorded logged
	recorded=$(cat "$work/out/weston.commits")
	logged=$(cat "$work"/out/client[12] | grep -c 'wl_surface@[0-9]*\.commit()')
	echo "$recorded recorded, $logged by the clients"
	[ "$logged" -gt 0 ] && [ "$recorded" -ge "$logged" ] && [ "$recorded" -le $((logged + 2)) ]
}

# Each cause for as long as the program did that, to 2 ms and a twentieth, and those that it does nothing else for
# not longer; in all, what the dump says.
idle_causes() {
	python3 - "$work/out/idle.said" "$work/out/idle.json" <<-'PY' &&
		import json, sys
		said = {n: list(map(int, v)) for n, *v in (line.split() for line in open(sys.argv[1]) if line[0].islower())}
		report = json.load(open(sys.argv[2]))
		device = max(report["idle_devices"], key=lambda d: d["work"])
		idle = {k[5:]: ns for k, ns in device.items() if k.startswith("idle_")}
		want = {c: wall - cpu - ready for c, (wall, cpu, ready) in said.items() if c not in ("running", "runnable")}
		want["running"] = said["running"][1] + said["runnable"][1]
		far = {c: (ns, idle[c]) for c, ns in want.items() if idle[c] < 0.95 * ns - 2e6 or
		       (c in ("sleep", "io", "child") and idle[c] > 1.05 * ns + 2e6)}
		print(device["sentence"], len(want), "causes", far)
		sys.exit(bool(far) or idle["runnable"] < 5e6 or device["busy"] + device["idle"] != device["window"] or
		         len(want) != 7)
	PY
		python3 "$GRTRACE_SRC/tests/golden/_idle.py" --files "$work/out/idle.dump" "$work/out/idle.json"
}

# What the submitters of one ring did is the same whether the others are looked at or not.
idle_of_a_ring() {
	python3 - "$work/out/idle.json" "$work/out/idle_ring.json" <<-'PY'
		import json, sys
		every, one = (json.load(open(path)) for path in sys.argv[1:])
		ring = [d for d in every["idle_devices"] if d["device"].endswith("gfx_0")]
		rows = [r for r in every["idle"] if r["device"] == ring[0]["device"]]
		print(len(rows), "rows", {r["cause"] for r in one["idle"]})
		sys.exit(one["idle_devices"] != ring or one["idle"] != rows or len(rows) < 5)
	PY
}

# Of the time that threads were off the CPU for the GPU, what their process's jobs ran meanwhile, by the dump.
jobs_of_waits() {
	python3 - "$work/out/wakers.dump" "$work/out/wakers.folded" <<-'PY'
		import collections, json, re, sys
		commit, free, jobs, waits, union = {}, collections.defaultdict(int), collections.defaultdict(list), [], 0
		for e in map(json.loads, open(sys.argv[1])):
		    # a ring runs one job after the other
		    if e["type"] == "COMMIT":
		        commit[e["ctx"], e["seqno"]] = e["time"]
		    elif e["type"] == "END":
		        jobs[e["pid"]].append((max(commit[e["ctx"], e["seqno"]], free[e["ring"]]), e["time"]))
		        free[e["ring"]] = e["time"]
		    elif e["type"] in ("ASLEEP", "OFF_CPU") and e["reason"] == "gpu":
		        woken = e.get("woken") or 0
		        waits.append((e["pid"], e["start"], woken if e["start"] < woken < e["time"] else e["time"]))
		for pid, begin, end in waits:
		    at = begin
		    for a, b in sorted(jobs[pid]):
		        a, b = max(a, at), min(b, end)
		        union, at = union + max(b - a, 0), max(at, b)
		lines = [line.rsplit(" ", 1) for line in open(sys.argv[2])]
		said = sum(int(n) for stack, n in lines if re.search(r";\[gpu\];\[GPU [^;]*\]$", stack))
		print(len(waits), "waits,", union, "ns with a job by the dump,", said, "ns by the graph")
		sys.exit(not union or abs(said - union) > union / 1000)
	PY
}

n=0
{
	guest --timeout "${GRTRACE_SOAK:+2}400" --out "$work/out" -- bash /mnt/host/tests/vm/_waits_guest.sh "${GRTRACE_SOAK:+2}5" ${GRTRACE_SOAK:+long} >&2
	echo "TAP version 13"
	check "waits are named by who ended them, as the program says" all_named
	check "what the GPU ran while threads waited for it stands under these waits" jobs_of_waits
	check "threads come and go as the kernel's own trace says" all_switches
	check "kmscube sleeps for the GPU or the display" asleep kmscube gpu
	check "glmark2 does" asleep glmark2-es2-drm gpu
	check "each frame is there, and late ones are blamed on what delayed them" blamed
	check "each frame of kmscube is there" each_frame
	check "idle time is blamed on what the program did" idle_causes
	check "that of one ring is the same with --ring" idle_of_a_ring
	if [ -n "${GRTRACE_SOAK:-}" ]; then
		check "weston is woken by its client, the display, or in time for it" asleep weston named
		check "each frame of two clients of weston is there" each_frame_of_clients
		check "each commit of their surfaces is there" each_commit
		check "its client by weston, the GPU, or to look at it again" asleep weston-simple-e named
	fi
	check "no complaint of the kernel" test ! -s "$work/out/dmesg"
	echo "1..$n"
} | join_tap
