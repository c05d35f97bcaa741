#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pc_duty.sh BUILD [PYTHON]: what the windows of record -e cuda --pc-sampling --duty take from two PyTorch loops, an eager
# layer that waits for the device after each 100 steps, and a CUDA graph that is waited for after each replay; each runs for
# SECONDS_EACH. A machine is often a third slower for some seconds, so each window is compared with the time beside it: how
# much of the time around it is lost, and what that is of all time if windows of this length are LIMIT_DUTY percent of it.
# Then whether CUPTI's totals are the samples of the records, dropped ones and those of other kernels, window by window, and
# what the windows have: when sampling was on, samples, and samples of lines.
#
# By hand, as root, with a card and PyTorch. It takes 2 * SECONDS_EACH and some 10 seconds.
# Exit status 0: no more than LIMIT percent (2) plus two standard errors are lost at LIMIT_DUTY (1), and the sums are right.
#
# PARTS="windows threads between" (windows): threads runs a program of eight threads that launch LAUNCHES (600000) kernels
# each and counts them on the GPU, in such windows; it needs nvcc. between runs the graph's loop twice, without and with a
# recorder, in PAIRS (60) turns of half a second in which the other one is stopped: the median step, without the windows.

set -u
here=$(realpath -- "$(dirname -- "$0")")
build=$(realpath "${1:?pc_duty.sh BUILD [PYTHON]}")
python=${2:-python3}
PARTS=${PARTS:-windows} SECONDS_EACH=${SECONDS_EACH:-60} DUTY=${DUTY:-10%,1s} LIMIT=${LIMIT:-2} LIMIT_DUTY=${LIMIT_DUTY:-1}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
PATH=$PATH:/usr/local/cuda/bin
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
failed=0

cat >loops.py <<'END2'
import sys, time, torch
from torch import nn

seconds, names = float(sys.argv[1]), sys.argv[2:] or ["eager", "graph"]


class Layer(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


def run(name, step, every):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(every):
            step()
        torch.cuda.synchronize()
        print(name, time.monotonic_ns(), every, flush=name in sys.argv)


torch.manual_seed(1)
with torch.no_grad():
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    one = Layer().cuda().half().eval()
    for _ in range(200):
        one(x)
    torch.cuda.synchronize()
    if "eager" in names:
        run("eager", lambda: one(x), 100)
    net = nn.Sequential(*[Layer() for _ in range(8)]).cuda().half().eval()
    for _ in range(20):
        net(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(x)
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    if "graph" in names:
        run("graph", graph.replay, 1)
END2

cat >around.py <<'END2'
import bisect, json, statistics, sys

BEFORE, AFTER, BESIDE = 600e6, 250e6, 400e6
limit, at = float(sys.argv[3]), float(sys.argv[4])
windows = {}
for line in open(sys.argv[2]):
    e = json.loads(line)
    if e["type"] == "CAPTURE" and e.get("end"):
        windows[e["number"]] = (e["begin"], e["end"])
ends, steps = {}, {}
for name, t, n in map(str.split, open(sys.argv[1])):
    ends.setdefault(name, []).append(int(t))
    steps.setdefault(name, [0]).append(steps.get(name, [0])[-1] + int(n))
bad = False
for name, t in ends.items():
    # steps until a moment, also within a turn of several
    def done(x):
        i = bisect.bisect_right(t, x)
        if i == 0 or i == len(t):
            return steps[name][i]
        return steps[name][i] + (steps[name][i + 1] - steps[name][i]) * (x - t[i - 1]) / (t[i] - t[i - 1])

    lost, length = [], []
    for begin, end in sorted(windows.values()):
        a, b = 2 * begin - end - BEFORE, end + AFTER  # the GPU is sampled before the window
        if a - BESIDE < t[0] or b + BESIDE > t[-1]:
            continue
        if any(x != (begin, end) and x[1] + AFTER > a - BESIDE and 2 * x[0] - x[1] - BEFORE < b + BESIDE for x in windows.values()):
            continue
        rate = (done(a) - done(a - BESIDE) + done(b + BESIDE) - done(b)) / (2 * BESIDE)
        lost.append(((b - a) - (done(b) - done(a)) / rate) / 1e6)
        length.append((end - begin) / 1e6)
    if len(lost) < 3:
        print(f"{name}: {len(lost)} windows that stand alone")
        bad = True
        continue
    mean, error, window = statistics.mean(lost), statistics.stdev(lost) / len(lost) ** 0.5, statistics.mean(length)
    print(f"# {name}: ms that windows took:", *(f"{x:.1f}" for x in lost))
    print(f"{name}: a window of {window:.1f} ms takes {mean:.1f} +- {error:.1f} ms of the loop's time, mean and standard error of {len(lost)}: "
          f"{mean / window * at:.2f} +- {error / window * at:.2f} % of the time if windows are {at:g} % of it")
    bad |= (mean - 2 * error) / window * at > limit
sys.exit(bad)
END2

cat >sums.py <<'END2'
import collections, json, sys
count, listed, windows, names, lined, on = collections.Counter(), collections.Counter(), {}, {}, collections.Counter(), {}
events = [e for e in map(json.loads, open(sys.argv[1])) if isinstance(e, dict)]
text, lines = {}, set()
for e in events:
    if e["type"] == "STRING": text[e["number"]] = text.get(e["number"], "") + e["text"]
    if e["type"] == "STALL_REASON": names[e["number"]] = e["name"]
    if e["type"] == "PC_LINE": lines.add((e["cubin"], e["function"], e["offset"]))
for e in events:
    if e["type"] == "CAPTURE" and e.get("end"):
        windows[e["number"]] = (e["begin"], e["end"])
    elif e["type"] == "PC_COUNT":
        w = e["window"]
        for key in ("total", "dropped", "other", "full"): count[w, key] += e[key]
        a, b = on.get(w, (e["begin"], e["end"]))
        on[w] = (min(a, e["begin"]), max(b, e["end"]))
    elif e["type"] == "PC_SAMPLE":
        name = names[e["reason"]]
        if str(text.get(name, name)).endswith("_not_issued"): continue
        listed[e["window"]] += e["samples"]
        lined[e["window"]] += e["samples"] * ((e["cubin"], e["function"], e["offset"]) in lines)
bad = not sum(listed.values())
for w, (a, b) in sorted(windows.items()):
    x, y = on.get(w, (0, 0))
    print(f"# window {w}: {(b - a) / 1e6:.1f} ms; sampled {(a - x) / 1e6:.1f} ms before it for {(y - x) / 1e6:.1f} ms; {listed[w]} samples, "
          f"{lined[w]} with a line, {count[w, 'other']} other, {count[w, 'dropped']} dropped, {count[w, 'full']} full")
    bad |= count[w, "total"] != listed[w] + count[w, "other"] + count[w, "dropped"]
total = sum(v for (w, key), v in count.items() if key == "total")
print(f"sums: CUPTI counts {total}, records have {sum(listed.values())} in {len(on)} of {len(windows)} windows:", "WRONG" if bad else "right")
sys.exit(bad)
END2

# Medians of a step by turns without and with the recorder, before the end of the first window, and after it between windows.
cat >between.py <<'END2'
import bisect, json, statistics, sys


def ends_of(path):
    return [int(line.split()[1]) for line in open(path) if line.startswith("graph")]


ends = {"off": ends_of("steps.off"), "on": ends_of("steps.on")}
windows = [(2 * e["begin"] - e["end"] - 600e6, e["end"] + 600e6) for e in map(json.loads, open(sys.argv[2])) if e.get("end")]
first = min((y for _, y in windows), default=float("inf"))


def median(how, begin, end):
    t = ends[how][bisect.bisect(ends[how], begin):bisect.bisect(ends[how], end)]
    d = [b - a for a, b in zip(t, t[1:])]
    return statistics.median(d) / 1e3 if len(d) > 100 else None


pairs = {"before the first window's end": [], "between windows": []}
rows = [(how, float(a) * 1e9, float(b) * 1e9) for how, a, b in map(str.split, open(sys.argv[1]))]
for off, on in zip(rows[::2], rows[1::2]):
    a, b = median(*off), median(*on)
    if a and b and not any(x < on[2] and on[1] < y for x, y in windows):
        pairs["between windows" if on[1] > first else "before the first window's end"].append((a, b))
for name, found in pairs.items():
    more = [(b / a - 1) * 100 for a, b in found]
    if len(more) > 2:
        error = 1.2533 * statistics.stdev(more) / len(more) ** 0.5
        print(f"{name}: {statistics.median(a for a, _ in found):.2f} -> {statistics.median(b for _, b in found):.2f} us a step, "
              f"{statistics.median(more):+.2f} +- {error:.2f} %, median of {len(more)} pairs")
sys.exit(len(pairs["between windows"]) < 3)
END2

now() { "$python" -c 'import time; print(time.monotonic())'; }

part_windows() {
	rm -rf run.grt
	"$build/grtrace" record -e cuda --pc-sampling --duty "$DUTY" -o run.grt "$python" loops.py "$SECONDS_EACH" >steps 2>said || failed=1
	sed 's/^/# /' said
	"$build/grtrace" dump --json run.grt >dump.json
	"$python" around.py steps dump.json "$LIMIT" "$LIMIT_DUTY" || { echo "FAILED: too dear"; failed=1; }
	"$python" sums.py dump.json || failed=1
	"$build/grtrace" report --by stall --top 5 run.grt | cut -c1-160 | sed 's/^/# /'
}

part_threads() {
	local n=${LAUNCHES:-600000}
	nvcc -O2 -lineinfo -arch=native -o launches "$here/launches.cu" -lcuda || { failed=1; return; }
	rm -rf run.grt
	timeout 120 "$build/grtrace" record -e cuda --pc-sampling --duty "$DUTY" -o run.grt ./launches threads "$n" >counted 2>said ||
		{ echo "FAILED: status $?"; failed=1; }
	sed 's/^/# /' said
	echo "threads: $(cat counted)"
	"$build/grtrace" dump --json run.grt >dump.json
	"$python" sums.py dump.json || failed=1
}

part_between() {
	local i a b how recorder two
	"$python" loops.py 100000 graph >steps.off &
	two=($!)
	rm -rf run.grt
	# shellcheck disable=SC2016
	"$build/grtrace" record -e cuda --pc-sampling --duty "$DUTY" -o run.grt \
		bash -c 'echo $$ >pid && exec "$@" >steps.on' - "$python" loops.py 100000 graph 2>said &
	recorder=$!
	for how in off on; do
		until [ -s steps.$how ] || ! kill -0 "${two[0]}" || ! kill -0 $recorder; do sleep 0.1; done
	done
	two+=("$(cat pid)")
	kill -STOP "${two[@]}"
	: >phases
	for ((i = 0; i < ${PAIRS:-60}; i++)); do
		for how in off on; do
			kill -CONT "${two[$([ $how = on ] && echo 1 || echo 0)]}"
			sleep 0.1
			a=$(now) && sleep 0.4 && b=$(now)
			kill -STOP "${two[@]}"
			echo "$how $a $b" >>phases
		done
	done
	kill -CONT "${two[@]}"
	kill "${two[@]}"
	wait "${two[0]}" $recorder 2>/dev/null
	sed 's/^/# /' said
	"$build/grtrace" dump --json -t capture run.grt >windows
	"$python" between.py phases windows || failed=1
}

for part in $PARTS; do
	case $part in
	windows) part_windows ;;
	threads) part_threads ;;
	between) part_between ;;
	*) echo "not windows, threads or between: $part" && exit 2 ;;
	esac
done
exit $failed
