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

set -u
build=$(realpath "${1:?pc_duty.sh BUILD [PYTHON]}")
python=${2:-python3}
SECONDS_EACH=${SECONDS_EACH:-14} DUTY=${DUTY:-5%,100ms} LIMIT=${LIMIT:-2} LIMIT_DUTY=${LIMIT_DUTY:-1}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
failed=0

cat >loops.py <<'END2'
import sys, time, torch
from torch import nn

seconds = float(sys.argv[1])


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
        print(name, time.monotonic_ns(), every)


torch.manual_seed(1)
with torch.no_grad():
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    one = Layer().cuda().half().eval()
    for _ in range(200):
        one(x)
    torch.cuda.synchronize()
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
    run("graph", graph.replay, 1)
END2

cat >around.py <<'END2'
import bisect, json, statistics, sys

BEFORE, AFTER, BESIDE = 350e6, 250e6, 400e6
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
        a, b = begin - BEFORE, end + AFTER
        if a - BESIDE < t[0] or b + BESIDE > t[-1]:
            continue
        if any(x != (begin, end) and x[1] + AFTER > a - BESIDE and x[0] - BEFORE < b + BESIDE for x in windows.values()):
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
    print(f"# window {w}: {(b - a) / 1e6:.1f} ms; sampled from {(x - a) / 1e6:+.1f} ms on for {(y - x) / 1e6:.1f} ms; {listed[w]} samples, "
          f"{lined[w]} with a line, {count[w, 'other']} other, {count[w, 'dropped']} dropped, {count[w, 'full']} full")
    bad |= count[w, "total"] != listed[w] + count[w, "other"] + count[w, "dropped"]
total = sum(v for (w, key), v in count.items() if key == "total")
print(f"sums: CUPTI counts {total}, records have {sum(listed.values())} in {len(on)} of {len(windows)} windows:", "WRONG" if bad else "right")
sys.exit(bad)
END2

rm -rf run.grt
"$build/grtrace" record -e cuda --pc-sampling --duty "$DUTY" -o run.grt "$python" loops.py "$SECONDS_EACH" >steps 2>said || failed=1
sed 's/^/# /' said
"$build/grtrace" dump --json run.grt >dump.json
"$python" around.py steps dump.json "$LIMIT" "$LIMIT_DUTY" || { echo "FAILED: too dear"; failed=1; }
"$python" sums.py dump.json || failed=1
"$build/grtrace" report --by stall --top 5 run.grt | cut -c1-160 | sed 's/^/# /'
exit $failed
