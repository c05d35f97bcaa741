#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pc_duty.sh BUILD [PYTHON]: what record -e cuda --pc-sampling --duty DUTY costs two PyTorch loops, an eager layer that waits
# for the device after each 100 steps, and a CUDA graph that is waited for after each replay. Programs without a recorder and
# with it run in turns, PAIRS of them, in each loop for SECONDS_EACH: steps/s of both, the median of the pairs' differences,
# and their standard error. Then whether CUPTI's totals are the samples of the records, dropped ones and those of other
# kernels, window by window, and what the windows have: when sampling was on, samples, and samples of lines.
#
# By hand, as root, with a card and PyTorch. It takes PAIRS * 2 * (2 * SECONDS_EACH + some 6) seconds: some 90 as it is.
# Exit status 0: no more than LIMIT percent (2) plus two standard errors are lost, and the sums are right.

set -u
build=$(realpath "${1:?pc_duty.sh BUILD [PYTHON]}")
python=${2:-python3}
PAIRS=${PAIRS:-3} SECONDS_EACH=${SECONDS_EACH:-4} DUTY=${DUTY:-1%,30ms} LIMIT=${LIMIT:-2} RECORD=${RECORD---pc-sampling}
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


def rate(step, every):
    end, n, begun = time.monotonic() + seconds, 0, time.monotonic()
    while time.monotonic() < end:
        for _ in range(every):
            step()
        torch.cuda.synchronize()
        n += every
    return n / (time.monotonic() - begun)


torch.manual_seed(1)
with torch.no_grad():
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    one = Layer().cuda().half().eval()
    for _ in range(200):
        one(x)
    torch.cuda.synchronize()
    print("eager", rate(lambda: one(x), 100), flush=True)
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
    print("graph", rate(graph.replay, 1), flush=True)
END2

cat >compare.py <<'END2'
import statistics, sys
pairs, limit, bad = int(sys.argv[1]), float(sys.argv[2]), False
rates = [{w[0]: float(w[1]) for w in map(str.split, open(f"{how}{i}"))} for i in range(pairs) for how in ("bare", "on")]
for loop in rates[0]:
    d = [(1 - on[loop] / bare[loop]) * 100 for bare, on in zip(rates[::2], rates[1::2])]
    print(f"# {loop}:", ", ".join(f"{b[loop]:.0f} -> {o[loop]:.0f}" for b, o in zip(rates[::2], rates[1::2])), "steps/s")
    error = statistics.stdev(d) / len(d) ** 0.5 if len(d) > 1 else float("inf")
    print(f"{loop}: {statistics.median(d):.2f} +- {error:.2f} % of the steps are lost, median and standard error of {len(d)} pairs")
    bad |= statistics.median(d) > limit + 2 * error
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

for ((i = 0; i < PAIRS; i++)); do
	"$python" loops.py "$SECONDS_EACH" >bare$i || failed=1
	rm -rf run.grt
	# shellcheck disable=SC2086
	"$build/grtrace" record -e cuda $RECORD --duty "$DUTY" -o run.grt "$python" loops.py "$SECONDS_EACH" >on$i 2>said || { cat said; failed=1; }
done
sed 's/^/# /' said
"$python" compare.py "$PAIRS" "$LIMIT" || { echo "FAILED: too dear"; failed=1; }
if [ -n "$RECORD" ]; then
	"$build/grtrace" dump --json run.grt >dump.json
	"$python" sums.py dump.json || failed=1
	"$build/grtrace" report --by stall --top 5 run.grt | cut -c1-160 | sed 's/^/# /'
fi
exit $failed
