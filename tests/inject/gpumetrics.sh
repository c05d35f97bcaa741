#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record -e gpumetrics, with a mock of CUPTI's PM sampling: every value of every sample that the GPU took is in the
# recording, at its time, and those that it lost are counted; what cannot be had is said.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
GRTRACE=$GRTRACE_PLAIN/grtrace
export GRTRACE_SYSROOT=$PWD/sys MOCK_DEVICES=ab,cd
mkdir -p sys/proc
printf 'Character devices:\n195 nvidia\n' >sys/proc/devices
for i in "0 ab" "1 cd"; do
	dir=sys/proc/driver/nvidia/gpus/0000:c${i% *}:00.0 x=${i#* }
	mkdir -p "$dir"
	printf 'GPU UUID: \t GPU-%s-%s-%s-%s-%s\nDevice Minor: \t %s\n' $x$x$x$x $x$x $x$x $x$x $x$x$x$x$x$x "${i% *}" >"$dir/information"
done

# Until the mock's GPU 0 has taken so many samples, and those behind a loss where there is one, however long that takes.
sample() { # SAMPLES WORD [NAME=VALUE...]
	local want=$1 word=$2
	shift 2
	rm -rf pm.grt happened
	env "$@" LD_LIBRARY_PATH="$MOCK" MOCK_PM_LOG="$PWD/happened" \
		timeout 60 "$GRTRACE" record -e "$word" -o pm.grt >said 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		! awk -v want="$want" -v how="$*" '/^S 0 / { n++; behind = lost } /^L 0 / { lost = 1 }
			END { exit n < want || (how ~ /=(full|overwritten|jumps)$/ && !behind) }' happened 2>/dev/null || break
		sleep 0.02
	done
	kill -INT $pid 2>/dev/null
	wait $pid
	status=$?
	output=$(<said)
	[ ! -d pm.grt ] || "$GRTRACE" dump --json pm.grt >events.json 2>>said
}

# What happened, against the recording.
cat >compare.py <<'END'
import bisect, collections, json, re, sys
name, of = None, {}
for l in open(sys.argv[1]):
    words = l.split('"')[1::2]
    if l.startswith("GRT_METRIC("): name = words[0]
    for w in words:
        if "__" in w: of[w] = name
samples, lost, metrics = collections.defaultdict(list), collections.Counter(), None
for l in open("happened"):
    w = l.split()
    if w[0] == "metrics": metrics = [of[m] for m in w[1:]]
    elif w[0] == "L": lost[w[1]] += int(w[2])
    else: samples[w[1]].append((int(w[2]), int(w[3]), [float(v) for v in w[4:]]))
events, told = collections.defaultdict(list), {}
for l in open("events.json"):
    e = json.loads(l)
    device = str(e.get("device", 0) - (195 << 20))
    if e["type"] == "COUNTER": events[device, e["counter_name"]].append(e)
    if e["type"] == "GPU_SAMPLER": told[device] = e
assert {k: e["uuid"] for k, e in told.items()} == {k: "GPU-" + "-".join(x * n for n in (4, 2, 2, 2, 6)) for k, x in (("0", "ab"), ("1", "cd"))}, told
facts = {n: dict(re.findall(r"(\w+)=(\d+)", text)) for n, text in re.findall(r'gpumetrics_gpu(\d) = "(.*?)"', open("pm.grt/metadata").read())}
until = int(re.search(r'gpumetrics_window = "from=\d+ to=(\d+)', open("pm.grt/metadata").read())[1])
assert set(counter for _, counter in events) == set(metrics), metrics
checked = gaps = 0
for device, rows_of in samples.items():
    assert int(facts[device]["missing"]) == lost[device], (facts[device], lost[device])
    assert int(facts[device]["samples"]) == len(rows_of), (facts[device], len(rows_of))
    # CLOCK_REALTIME less the recording's clock, by which each change of a value is at a sample
    change = [(e["time"], e["value"]) for e in events[device, metrics[0]] if "value" in e]
    taken = {s[0]: round(s[2][0] * 1000) for s in rows_of}
    shifts = [s - change[0][0] for s in taken if all(taken.get(t + s - change[0][0]) == v for t, v in change)]
    assert len(shifts) == 1, shifts
    shift = shifts[0]
    for place, counter in enumerate(metrics):
        rows = events[device, counter]
        times = [e["time"] + shift for e in rows]
        unit = rows[0]["unit"]
        for i, (start, end, values) in enumerate(rows_of):
            if start < times[0] or start - shift > until: continue
            value = values[place]
            want = round(value * 1000) if unit == "m%" else round(value * 1e9 / (end - start)) if unit == "B/s" else round(value)
            at = rows[bisect.bisect_right(times, start) - 1]
            assert "ended" not in at.get("flags", []) and at["value"] == want, (counter, start, at, want)
            checked += 1
            if i + 1 < len(rows_of) and rows_of[i + 1][0] != end and end - shift <= until:
                at = rows[bisect.bisect_right(times, end) - 1]
                assert "ended" in at.get("flags", []) and at["time"] + shift == end, (counter, at)
                gaps += 1
print(checked, "values,", gaps, "ends at gaps,", dict(lost), "lost")
assert checked > 500 and (gaps > 0) == (sum(lost.values()) > 0)
if sys.argv[2:]: assert lost["0"] == int(sys.argv[2]), lost
END
equal() { # [LOST]
	python3 compare.py "$GRTRACE_SRC/lib/codes/gpu_metrics.def" "$@"
}
counts() { # REGEX
	grep -qE "gpumetrics_gpu0 = \"nvidia0 .*$1" pm.grt/metadata
}

sample 100 gpumetrics
check "every value of two GPUs, at its time" equal 0
expect "counters that the chip does not have are named as missing" 0 'nvidia0 .*MOCK100. does not have 2 of the counters'
check "the second metric of a counter stands in" grep -q ' sm__pipe_tensor_cycles_active.avg' happened
check "nothing is lost" says ' 0 lost in pm.grt'
for word in nvidia1 1 GPU-cdcd c1:00.0 00000000:C1:00.0; do
	LD_LIBRARY_PATH="$MOCK" run record -e gpumetrics --device "$word" -d 0.3 -o one.grt
	check "--device $word: counters of this GPU, and of no other" test "$("$GRTRACE" dump --json --type counter one.grt |
		grep -oE '"device":[0-9]+' | sort -u)" = "\"device\":$(((195 << 20) + 1))"
done
sample 100 gpumetrics:memory:2000
check "a set, and a rate" equal 0
check "both are in the recording" counts 'set=memory interval_ns=500000 counters=6 left_out=0 '
run report --json pm.grt
expect "report has them in percent" 0 '"counter_name": "dram busy", "unit": "m%"'

# what CUPTI does not say is counted by the stamps: 11 dropped behind a full image, 40 overwritten and one whose
# beginning is of an earlier time, 25 that never came
sample 700 gpumetrics MOCK_PM=full
check "samples that CUPTI dropped are counted" equal 11
check "and why" counts ' missing=11 .* full=[1-9]'
expect "so says the recording, and what to do" 0 ' 22 lost in pm.grt' 'a smaller set or rate .-e gpumetrics:SET:HZ., so that nothing is lost'
sample 200 gpumetrics MOCK_PM=overwritten
check "samples that the hardware overwrote are counted" equal 41
check "what has a wrong beginning is not shown" counts ' missing=41 .* odd=1 errors=1 '
sample 200 gpumetrics MOCK_PM=jumps
check "samples that never came are counted" equal 25
sample 60 gpumetrics MOCK_PM=few
check "counters that do not fit into a pass are left out" equal 0
check "and said" counts ' counters=4 left_out=8 '

# under kernels: what a program computes from the values and stamps as they were dumped
printf 'repeat 40\nkernel alpha 7 700\nkernel beta 7 2600\nsync 0\nsleep pause 900\nend\n' >script
rm -rf both.grt
output=$(LD_LIBRARY_PATH="$MOCK" MOCK_PM_LOG=/dev/null timeout 60 "$GRTRACE" record -e cuda,gpumetrics -o both.grt "$MOCK/timed" script 2>&1)
status=$?
expect "beside CUDA's library in a program" 0 ' 0 lost in both.grt'
"$GRTRACE" dump --json both.grt >events.json
"$GRTRACE" report --by roofline --json both.grt >roofline.json
cat >rooflines.py <<'END'
import collections, json
values, kernels, interval, phase = collections.defaultdict(list), collections.defaultdict(list), 0, 0
for l in open("events.json"):
    e = json.loads(l)
    if e["type"] == "COUNTER" and e["device"] == 195 << 20:
        values[e["counter_name"]].append((e["time"], None if "ended" in e.get("flags", []) else e["value"]))
    if e["type"] == "GPU_SAMPLER" and e["device"] == 195 << 20:
        interval, phase = e["interval"], phase or e["time"]
    if e["type"] == "GPU_KERNEL": kernels[e.get("name_name") or e["name"]].append((e["start"], e["end"], e["time"]))
rows = json.load(open("roofline.json"))["roofline"]
columns = {"dram": "dram busy", "tensor": "tensor active", "dram_read": "dram read", "dram_write": "dram write", "sm": "sm active",
           "warps": "warps active", "l2": "l2 busy", "nvlink_in": "nvlink in", "nvlink_out": "nvlink out", "clock": "clock gpc"}
assert sorted(r["kernel"] for r in rows) == ["alpha", "beta"] and all(r["calls"] == 40 for r in rows), rows
assert all(r["uuid"].startswith("GPU-abab") and r["pcie_read"] is None for r in rows), rows
by_size = sorted(kernels.values(), key=lambda k: sum(e - s for s, e, _ in k))
for row in rows:
    own = by_size[0 if row["kernel"] == "alpha" else 1]
    assert row["total"] == sum(e - s for s, e, _ in own), row
    for column, name in columns.items():
        area = known = 0
        points = values[name] + [(1 << 62, None)]
        for (time, value), (until, _) in zip(points, points[1:]):
            for start, end, told in own if value is not None else []:
                ns = min(end, until, told) - max(start, time)
                if ns > 0: area, known = area + value * ns, known + ns
        want = area / known / (1000 if name in ("dram busy", "tensor active", "sm active", "warps active", "l2 busy") else 1)
        assert abs(row[column] - want) <= 0.002 + want * 1e-9, (row["kernel"], column, row[column], want)
    # of each sample the part that the kernel ran, weighted by itself
    slots = collections.Counter()
    for start, end, _ in own:
        while start < end:
            until = phase + ((start - phase) // interval + 1) * interval
            slots[until] += min(end, until) - start
            start = min(end, until)
    want = 100 * sum(ns * ns / interval for ns in slots.values()) / sum(slots.values())
    assert abs(row["own"] - want) < 0.1, (row["own"], want)
    assert row["bound"] in ("memory", "tensor", "neither") and "dram" in row["inferred"], row
print("equal", [(r["kernel"], r["own"], r["dram"]) for r in rows])
END
output=$(python3 rooflines.py 2>&1)
status=$?
echo "# $output"
check "means under kernels, and how much of the samples was theirs" exits 0
run report --by kernel -v both.grt
expect "they follow the kernels" 0 'kernels under the roofs' 'counters cover the whole GPU, in samples of 1000 us'

refused() { # NAME HOW TEXT...
	sample 1 gpumetrics MOCK_PM="$2"
	expect "$1" 3 "${@:3}"
	check "$1: no recording is left" test ! -e pm.grt
}
refused "no permission" refused 'GPU-abab.*' 'the driver shows the GPU.s counters only to root' 'sudo grtrace record'
refused "another profiler" busy 'another profiler uses them: only one at a time can' 'end it'
refused "not supported" unsupported 'this GPU, its driver or its mode does not support PM sampling'
refused "an unknown chip" unknown 'CUPTI does not know this chip' 'a newer CUDA toolkit'
sample 1000000 gpumetrics MOCK_PM=fails
expect "what fails later ends the recording" 1 'cannot read stream 0 of gpumetrics'
sample 1 gpumetrics GRTRACE_CUPTI="$MOCK/libcupti-old.so"
expect "a CUPTI without it" 3 'CUPTI with PM sampling was not found' 'GRTRACE_CUPTI names none' '12.6 or later'
run record -e gpumetrics:nothing -d 1
expect "an unknown set" 2 'one of overview, compute, memory, links; then :HZ'
run record -e gpumetrics:overview:0 -d 1
expect "a rate that is none" 2 'samples a second, 1 to 10000'
plan
