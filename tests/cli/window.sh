#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All sources of a recording end at one moment, against a program that notes by itself when it did what.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

program=$GRTRACE_BUILD/tests/cli/window
sources=sched,ioctl,uprobe:$program:window_round

run record -e "$sources" -o first.grt -- true
need_bpf

# What the recording says against what the program noted: see each function.
look() { # CHECK
	python3 - "$GRTRACE" "$1" <<-'PY'
		import json, re, struct, subprocess, sys
		grtrace, what = sys.argv[1:]
		def run(*args):
		    return subprocess.run([grtrace, *args], capture_output=True, text=True, check=True).stdout
		noted = open("stamps", "rb").read()
		noted = [struct.unpack_from("QQ", noted, i) for i in range(0, len(noted), 16)]
		seen = {}
		for line in run("dump", "run.grt").splitlines():
		    time, cpu, event = line.split()[:3]
		    # a thread that slept, or was taken off its CPU
		    event = "OFF_CPU" if event == "ASLEEP" else event
		    seen.setdefault(event, []).append(int(time.replace(".", "")))
		report = json.loads(run("report", "--json", "--by", "thread", "run.grt"))
		start, end = report["recording"]["from"], report["recording"]["to"]
		window = {m[1]: (int(m[2]), int(m[3])) for m in re.finditer(
		    r'\t(\w+)_window = "from=(\d+) to=(\d+) ', open("run.grt/metadata").read())}
		kinds = "IOCTL_ENTER", "LAUNCH", "OFF_CPU"

		def one_window():
		    assert window.keys() == {"sched", "ioctl", "uprobe"}, window
		    assert set(window.values()) == {(start, end)}, (window, start, end)
		def nothing_beyond():
		    for event, times in seen.items():
		        assert start <= min(times) and max(times) <= end, (event, min(times), max(times))
		# nobody's period is known to be kept on a busy machine: what counts is what the program did
		def every_round():
		    sure = sum(a >= start and b <= end for a, b in noted)
		    may = sum(b >= start and a <= end for a, b in noted)
		    assert sure > 10, sure
		    for event in kinds[:2]:
		        assert sure <= len(seen[event]) <= may, (event, sure, len(seen[event]), may)
		def same_ends():
		    inside = [(a, b) for a, b in noted if a >= start and b <= end]
		    for e in kinds[:2]:
		        assert min(seen[e]) <= inside[0][1] and inside[-1][0] <= max(seen[e]), (e, inside[0], inside[-1])
		    # it sleeps between two rounds
		    assert min(seen["OFF_CPU"]) <= inside[1][0] and inside[-2][1] <= max(seen["OFF_CPU"]), (inside[1], inside[-2])
		def no_idle_gap():
		    lives = [r["life"] for r in report["threads"]]
		    assert lives == [end - start], (lives, end - start)
		def all_accounted():
		    b = report["balance"]
		    assert b["closes"] and b["after_end"] > 0 and b["unwritten"] == 0, b
		    fates = "delivered filtered lost before_start after_end".split()
		    assert sum(b[f] for f in fates) == b["emitted"], b
		locals()[what]()
	PY
}

"$program" stamps &
pid=$!
sleep 0.1
run record -e "$sources" -d 0.5 -p $pid -o run.grt
# it is to be seen that events after the end are not in the recording
sleep 0.1
kill $pid
wait $pid
expect "record -p, three sources" 0 'events, 0 lost in run.grt'
check "all of them have one window" look one_window
check "no event is earlier or later" look nothing_beyond
check "the program's rounds within it are all there, from each source" look every_round
check "all sources have its first round, and its last" look same_ends
check "the thread lived from its first to its last moment" look no_idle_gap
check "what came too early or too late is counted" look all_accounted
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 sees as many events" test "$(babeltrace2 run.grt | wc -l)" = "$("$GRTRACE" dump run.grt | wc -l)"
fi

# A source that ended before the others: what all of them saw is shorter.
to=$(sed -n 's/.*uprobe_window = "from=[0-9]* to=\([0-9]*\).*/\1/p' run.grt/metadata)
sed -i "/uprobe_window/s/to=$to/to=$((to - 100000000))/" run.grt/metadata
run report --json run.grt
check "the window that all sources have in common" test "$(sed -n 's/.*"to": \([0-9]*\).*/\1/p' <<<"$output" | head -n 1)" = $((to - 100000000))
run report run.grt
expect "is said where it is smaller" 0 '^the source uprobe ended at [0-9.]+, before the others'

# Killed, a recorder leaves a recording of what it had; its metadata says when it began.
rm -rf run.grt
"$program" stamps &
pid=$!
sleep 0.1
"$GRTRACE" record -e "$sources" -p $pid -o run.grt 2>/dev/null &
recorder=$!
check "one that runs says from when on it is whole" window_begun run.grt
kill -KILL $recorder
kill $pid
wait $pid $recorder 2>/dev/null
run report --by thread run.grt
expect "one that was killed can be read" 0 'the recorder did not finish this recording'
check "and says from when on it is whole" test "$(sed -n 's/^  from *\([0-9]*\)\.\([0-9]*\)$/\1\2/p' <<<"$output")" = \
	"$(sed -n 's/.*sched_window = "from=\([0-9]*\).*/\1/p' run.grt/metadata)"

plan
