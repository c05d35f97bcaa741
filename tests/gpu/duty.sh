#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# duty.sh BUILD [PYTHON]: what record --duty costs PyTorch loops: an eager layer (eager: waits for the device after
# each 100 steps), and a decoding loop of CUDA graphs that waits after each step, for the device (graph), or for a
# stream alone (item), which holds CUPTI. It needs a card, CUPTI 12.6 or later, and PyTorch.
#
# In turns in one process that sleeps with the library: nothing, --duty DUTY, nothing, ...; in another one: nothing, a
# complete recording, ...; and processes without the library and with it, in turns. For each pair steps/s and the
# 99th percentile of a step; then the medians of the pairs' differences. LOOPS, PAIRS, SECONDS_EACH (of a phase), DUTY.
# Then what the windows take, by the seconds beside each. Exit status 0: that is at most 1 % of the time and 2 % of the
# 99th percentile, and estimates have the truth of a complete recording in their intervals, or within 5 % of it, for 90 % of the kernels' shares.

set -u
build=$(realpath "${1:?duty.sh BUILD [PYTHON]}")
python=${2:-python3}
export PAIRS=${PAIRS:-5} SECONDS_EACH=${SECONDS_EACH:-40} DUTY=${DUTY:-1%}
dir=$(mktemp -d)
pid=
trap 'kill $pid 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
failed=0

cat >loop.py <<'END'
import array, os, sys, time, torch

how, seconds = sys.argv[1], float(sys.argv[2])


class Layer(torch.nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


torch.manual_seed(1)
with torch.no_grad():
    net = torch.nn.Sequential(*[Layer() for _ in range(1 if how == "eager" else 8)]).cuda().half().eval()
    x = torch.randn(1, 16, 256, device="cuda", dtype=torch.half)
    for _ in range(20):
        y = net(x)
    torch.cuda.synchronize()
    step = lambda: net(x)
    if how != "eager":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = net(x)
        step = graph.replay
    ends, n, until = array.array("Q"), 0, time.monotonic() + seconds
    print("ready", flush=True)
    while not os.path.exists("go") and time.monotonic() < until:
        step()
        n += 1
        if how == "graph" or (how == "eager" and n % 100 == 0):
            torch.cuda.synchronize()
        elif how == "item":
            y[0, 0, 0].item()
        ends.append(time.monotonic_ns())
    torch.cuda.synchronize()
with open(sys.argv[3], "wb") as f:
    ends.tofile(f)
print("ended", flush=True)
END

# phases: lines "off|on BEGIN END" of pairs in order; ends: of steps. Or two files of ends: off, on.
cat >compare.py <<'END'
import array, statistics, sys


def load(path):
    a = array.array("Q")
    with open(path, "rb") as f:
        a.frombytes(f.read())
    return a


def facts(ends, begin, end):
    t = [e for e in ends if begin <= e <= end]
    d = sorted(b - a for a, b in zip(t, t[1:]))
    return len(d) / (t[-1] - t[0]) * 1e9, d[int(len(d) * 0.99)] / 1e3


name, pairs = sys.argv[1], []
if sys.argv[2] == "files":
    for off, on in zip(sys.argv[3::2], sys.argv[4::2]):
        pairs.append([facts(load(p), 0, 2**64) for p in (off, on)])
else:
    ends = load(sys.argv[3])
    rows = [line.split() for line in open(sys.argv[2])]
    for a, b in zip(rows[::2], rows[1::2]):
        pairs.append([facts(ends, float(r[1]) * 1e9, float(r[2]) * 1e9) for r in (a, b)])
for (r0, p0), (r1, p1) in pairs:
    print(f"# {name}: {r0:.1f} -> {r1:.1f} steps/s ({(r1 / r0 - 1) * 100:+.2f} %), p99 {p0:.1f} -> {p1:.1f} us ({(p1 / p0 - 1) * 100:+.2f} %)")
rate = statistics.median((b[0] / a[0] - 1) * 100 for a, b in pairs)
p99 = statistics.median((b[1] / a[1] - 1) * 100 for a, b in pairs)
print(f"{name}: {rate:+.2f} % steps/s, p99 {p99:+.2f} %, medians of {len(pairs)} pairs")
sys.exit("duty" in name and (rate < -1 or p99 > 2))
END

# Shares of one recording (complete) in the intervals of another.
cat >shares.py <<'END'
import json, sys


def rows(path):
    return {r["kernel"]: r for r in json.load(open(path))["kernels"]}


whole, duty = rows(sys.argv[1]), rows(sys.argv[2])
total = sum(r["total"] or 0 for r in whole.values())
seen = inside = 0
for name, r in duty.items():
    if r["share_from"] is None or name not in whole:
        continue
    share = 100 * whole[name]["total"] / total
    seen += 1
    inside += r["share_from"] <= share <= r["share_to"] or abs(r["share"] - share) < 0.05 * share
print(f"shares: {inside} of {seen} kernels with an interval have the complete recording's share in it")
sys.exit(seen > 0 and inside < 0.9 * seen)
END

# What the windows take, by the same seconds: the machine is up to a third slower from one ten seconds to the next.
# Around each window, from when CUPTI may come to when it is gone, the steps are fewer than by the rate of the time
# before and after; the 99th percentile of all steps is compared with that of the steps outside.
cat >around.py <<'END'
import array, bisect, json, statistics, sys

BEFORE, AFTER, BESIDE = 150e6, 250e6, 1200e6
ends = array.array("Q")
with open(sys.argv[1], "rb") as f:
    ends.frombytes(f.read())
begin, end = (float(x) * 1e9 for x in sys.argv[3:5])
windows = {}
for line in open(sys.argv[2]):
    w = json.loads(line)
    if w.get("end"):
        windows[w["number"]] = (w["begin"], w["end"])


def steps(a, b):
    return bisect.bisect_right(ends, b) - bisect.bisect_right(ends, a)


lost, inside, around = [], 0, []
for a, b in sorted(windows.values()):
    a, b = a - BEFORE, b + AFTER
    if a - BESIDE < begin or b + BESIDE > end:
        continue
    rate = (steps(a - BESIDE, a) + steps(b, b + BESIDE)) / (2 * BESIDE)
    lost.append((b - a) - steps(a, b) / rate)
    around.append((a, b))
t = [e for e in ends if begin <= e <= end]
durations = [(q - p, any(a <= q <= b for a, b in around)) for p, q in zip(t, t[1:])]


def p99(values):
    return sorted(values)[int(len(values) * 0.99)] / 1e3


every, outside = p99([d for d, _ in durations]), p99([d for d, within in durations if not within])
part = statistics.mean(lost) * len(windows) / (end - begin) * 100
error = statistics.stdev(lost) / len(lost) ** 0.5 * len(windows) / (end - begin) * 100
print(f"around {len(lost)} of {len(windows)} windows: {part:.2f} +- {error:.2f} % of the time is lost, "
      f"{statistics.median(lost) / 1e6:.1f} ms a window (median); p99 {outside:.1f} -> {every:.1f} us")
sys.exit(part - 2 * error > 1 or every > outside * 1.02)
END

now() { "$python" -c 'import time; print(time.monotonic())'; }
start() { # LOOP SECONDS FILE [VARIABLE...]
	rm -f go out
	env "${@:4}" "$python" loop.py "$1" "$2" "$3" >out 2>&1 &
	pid=$!
	until grep -qs ready out || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 2
}
end() {
	touch go
	wait $pid || { failed=1; cat out; }
}
library=(CUDA_INJECTION64_PATH="$build/libgrtrace-cuda.so" NVTX_INJECTION64_PATH="$build/libgrtrace-cuda.so")

# Phases in turns: off, then recorded by these options.
turns() { # LOOP NAME SECONDS OPTION...
	local a b i
	start "$1" 100000 ends "${library[@]}"
	: >phases
	for ((i = 0; i < PAIRS; i++)); do
		a=$(now) && sleep "$3" && b=$(now)
		echo "off $a $b" >>phases
		rm -rf "$2.grt"
		"$build/grtrace" record -e cuda -p $pid -d "$3" -o "$2.grt" "${@:4}" >said 2>&1 &
		recorder=$!
		# from its beginning to just before its end
		sleep 0.5
		a=$(now) && sleep "$(awk -v s="$3" 'BEGIN { print s - 0.7 }')" && b=$(now)
		echo "on $a $b" >>phases
		wait $recorder || { cat said; failed=1; }
		grep -h 'CUPTI stays' said
		sleep 3
	done
	end
	tail -n 1 said
	"$python" compare.py "$1 $2" phases ends || { echo "not by turns: too dear, or the machine varies"; [ "$2" = duty ] || failed=1; }
	[ "$2" != duty ] || {
		"$build/grtrace" dump --json -t capture duty.grt >windows
		# shellcheck disable=SC2046
		"$python" around.py ends windows $(tail -n 1 phases | cut -d ' ' -f 2-) || { echo "FAILED: too dear"; failed=1; }
	}
}

for loop in ${LOOPS:-eager graph item}; do
	files=()
	for ((i = 0; i < PAIRS; i++)); do
		start "$loop" 10 bare$i X=1 && end
		start "$loop" 10 asleep$i "${library[@]}" && end
		files+=("bare$i" "asleep$i")
	done
	"$python" compare.py "$loop asleep" files "${files[@]}"
	turns "$loop" complete 5
	turns "$loop" duty "$SECONDS_EACH" --duty "$DUTY"
	"$build/grtrace" dump -t capture duty.grt | grep -c 'end=[1-9]' | sed 's/^/windows of the last phase: /'
	# intervals take ten windows: more of them for the shares
	start "$loop" 100000 ends "${library[@]}"
	rm -rf duty.grt
	"$build/grtrace" record -e cuda -p $pid -d 25 -o duty.grt --duty 10%,50ms || failed=1
	end
	"$build/grtrace" report --by kernel --json complete.grt >complete.json
	"$build/grtrace" report --by kernel --json duty.grt >duty.json
	"$build/grtrace" report --by kernel duty.grt | tee report | tail -n 12
	# CUPTI may stop counting: inject/capture.c
	! grep -E 'have the correlation id of an earlier one|has stopped counting' report || failed=1
	"$python" shares.py complete.json duty.json || failed=1
done
exit $failed
