#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --pc-sampling --duty: the GPU is sampled before random windows, in which kernels are recorded, and at no other time.
# Each sample has the number of its window; losses are counted by window, and reports say how much of the time was sampled.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH MOCK_LOG
GRTRACE=$GRTRACE_PLAIN/grtrace
CUBIN=$GRTRACE_SRC/tests/inject/cubin

# In the meantime: windows that are so far apart that CUPTI goes between them, and its contexts are found by calls.
far_apart() {
	rm -rf apart.grt
	"$GRTRACE" record -e cuda --pc-sampling --duty 0.6%,15ms -o apart.grt "$MOCK/sampled" "$CUBIN/lines.cubin" 10000 >apart 2>apart.said
}
far_apart &
apart=$!

# The same while CUPTI needs twice a window's length before and after samples are taken.
slow() {
	rm -rf slow.grt
	MOCK_PC=slow "$GRTRACE" record -e cuda --pc-sampling --duty 10%,20ms -o slow.grt "$MOCK/sampled" "$CUBIN/lines.cubin" 3000 >slow 2>slow.said
}
slow &
slow=$!

# Prints facts of a recording: windows, of these sampled and lossy, and the sampled time; and what is wrong.
cat >windows.py <<'END2'
import collections, json, subprocess, sys
recording, happened = sys.argv[2:4]
events = [json.loads(l) for l in subprocess.run([sys.argv[1], "dump", "--json", recording], stdout=subprocess.PIPE, check=True).stdout.splitlines()]
events = [e for e in events if isinstance(e, dict)]
names = {}
for e in events:
    if e["type"] == "STRING":
        names[e["number"]] = names.get(e["number"], "") + e["text"]
text = lambda v: names[v] if isinstance(v, int) else v
reasons = {e["number"]: text(e["name"]).removeprefix("smsp__pcsamp_warps_issue_stalled_") for e in events if e["type"] == "STALL_REASON"}
windows = {e["number"]: (e["begin"], e["end"]) for e in events if e["type"] == "CAPTURE" and e.get("end")}
truth = collections.defaultdict(collections.Counter)
for w in map(str.split, open(happened)):
    if len(w) == 5:
        truth[int(w[4])][w[0], int(w[1], 16), w[2]] += int(w[3])
got, counts = collections.defaultdict(collections.Counter), collections.defaultdict(list)
for e in events:
    if e["type"] == "PC_SAMPLE":
        offset = int(e["offset"], 16) if isinstance(e["offset"], str) else e["offset"]
        got[e["window"]][text(e["function"]), offset, reasons[e["reason"]]] += e["samples"]
    if e["type"] == "PC_COUNT":
        counts[e["window"]].append(e)
# Each window with a count is a turn of sampling: the first is the first.
lossy = ns = listed = 0
for number in counts:
    # the program ended before it, or, on a busy machine, it was over before the recorder could begin it
    windows.setdefault(number, (float("inf"), float("inf")))
for turn, number in enumerate(sorted(counts), 1):
    if got[number] != truth[turn]:
        print("wrong: window", number, got[number] - truth[turn], truth[turn] - got[number])
    c = counts[number]
    lossy += any(e["dropped"] or e["full"] for e in c)
    ns += sum(e["end"] - e["begin"] for e in c)
    listed += sum(got[number].values())
    if sum(e["total"] for e in c) != sum(got[number].values()) + sum(e["dropped"] + e["other"] for e in c):
        print("wrong: CUPTI's total of window", number)
    begin, end = windows[number]
    # the GPU is sampled between the window before and this one, unless nothing was launched in the one before
    if min(e["begin"] for e in c) < max([w[1] for n, w in windows.items() if n in counts and n < number and w[1] < float("inf")], default=0) or max(e["end"] for e in c) > begin:
        print("wrong: samples of window", number, "are of another time")
if set(got) - set(counts) or set(counts) - set(windows):
    print("wrong: a window without a count", set(got) - set(counts), set(counts) - set(windows))
if set(truth) - set(range(1, len(counts) + 1)):
    print("wrong: a turn without a window")
begin = [e["time"] for e in events if e["type"] == "PROCESS"]
span = max(begin + [w[1] for w in windows.values() if w[1] < float("inf")]) - min(begin)
print("windows", len(windows), "sampled", len(counts), "lossy", lossy, "samples", listed)
print("taken before", sum(any(t.values()) for t in truth.values()))
print("note the GPU was sampled before %d random windows, in %.3f s of %.1f s (%.2f %%)" % (len(counts), ns / 1e9, span / 1e9, 100 * ns / span))
END2
facts_of() { # RECORDING HAPPENED
	python3 windows.py "$GRTRACE" "$1" "$2" >facts 2>&1
	output=$(<facts)
	note=$(sed -n 's/^note //p' facts)
}

# Where the machine is busy windows pass before they can begin: again until there are ten, as a test needs to be one.
beside=()
sample() { # [NAME=VALUE...]
	for _ in {1..20}; do
		rm -rf pc.grt
		env "$@" timeout 120 "$GRTRACE" record -e cuda --pc-sampling --duty 20%,20ms -o pc.grt "$MOCK/sampled" "$CUBIN/lines.cubin" 2000 "${beside[@]}" >happened 2>said
		status=$?
		facts_of pc.grt happened
		awk -v late="${beside[*]}" '/^windows/ { few = $2 < 10 || (late != "late" && $4 > 0 && $4 < 10) } END { exit !few }' facts || break
	done
}

sample
check "the program ends" test $status = 0
check "windows are sampled, each by itself" says '^windows [1-9][0-9]+ sampled [1-9][0-9]+ lossy 0 samples [1-9][0-9]{2,}$'
check "what is in a window is what was sampled in it" test "$(grep -c wrong facts)" = 0
check "CUPTI is used as it may be" grep -q '^finalized [0-9]* times, 0 faults, ' happened
"$GRTRACE" report --by line pc.grt >line.txt
output=$(<line.txt)
check "report --by line says of how much of the time they are" grep -qF "$note" line.txt
check "and that nothing is scaled up" says 'no number is scaled up'
"$GRTRACE" report --by line --top 0 --json pc.grt >line.json
check "its rows are all samples" test "$(python3 -c 'import json; print(sum(r["samples"] for r in json.load(open("line.json"))["lines"]))')" = \
	"$(awk 'NF == 5 { s += $4 } END { print s }' happened)"
"$GRTRACE" flame --weight samples -o samples.folded pc.grt 2>told
check "flame has as many" test "$(awk '{ s += $NF } END { print s + 0 }' samples.folded)" = "$(awk 'NF == 5 { s += $4 } END { print s }' happened)"
check "with the same note" grep -qF "$note" told
check "and samples are not taken for estimates" sh -c '! grep -q "weights are estimated" told'
check "kernels and launches are those of the windows" test "$("$GRTRACE" dump --json pc.grt | grep -c '"type":"GPU_KERNEL"')" -ge 20

check "all code was seen" sh -c '! grep -q "while CUPTI was detached" line.txt'

# Where sampling is switched off while a thread launches, neither comes back: the mock has the locks of CUDA 13.0.
beside=(threads)
sample
check "threads: the program ends" test $status = 0
check "threads: windows are sampled" says '^windows [1-9][0-9]+ sampled [1-9][0-9]+ lossy 0 '
check "threads: what is in a window is what was sampled in it" test "$(grep -c wrong facts)" = 0
check "threads: each window could begin and end" sh -c '! grep -q "did not return" said'
beside=()

# Sampling that is enabled before the program launches anything cannot be disabled until it does: CUPTI would know none of
# its kernels. The windows of that time are recorded, and have no launch.
early() {
	"$GRTRACE" dump --json pc.grt | python3 -c '
import json, sys
events = [e for e in map(json.loads, sys.stdin) if isinstance(e, dict)]
first = min(e["time"] for e in events if e["type"] == "LAUNCH")
print(sum(e["type"] == "CAPTURE" and 0 < e.get("end", 0) < first for e in events))'
}
beside=(late)
for _ in {1..20}; do
	sample
	[ "$(early)" -lt 2 ] || break
done
check "late: the program ends" test $status = 0
check "late: windows are sampled" says '^windows [1-9][0-9]+ sampled [1-9][0-9]* lossy 0 samples [1-9]'
check "late: CUPTI knows the kernels" test "$(grep -c wrong facts)" = 0
check "late: the windows without a launch are there" test "$(early)" -ge 2
beside=()

# Code that is loaded while CUPTI is away has no lines, which are counted.
sample MOCK_UNSEEN=1
"$GRTRACE" report --by line pc.grt >line.txt
unseen=$("$GRTRACE" dump --json pc.grt | python3 -c '
import json, sys
events = [e for e in map(json.loads, sys.stdin) if isinstance(e, dict)]
seen = {e["crc"] for e in events if e["type"] == "CUBIN"}
print(sum(e["samples"] for e in events if e["type"] == "PC_SAMPLE" and e["cubin"] not in seen))')
check "samples of code that CUPTI did not see: $unseen" grep -q "^  $unseen of these are in code that was loaded while CUPTI was detached" line.txt
check "there are some" test "$unseen" -gt 0

sample MOCK_PC=lossy
lossy=$(sed -n 's/.* lossy \([0-9]*\) .*/\1/p' facts)
check "lossy: losses are those of all windows that have samples" test "$lossy" -gt 0 -a "$lossy" = "$(sed -n 's/^taken before //p' facts)"
check "lossy: what is there is exact" test "$(grep -c wrong facts)" = 0
"$GRTRACE" report --by stall pc.grt >stall.txt
check "lossy: the report has their number" grep -q "samples were lost before $lossy of these windows" stall.txt

sample MOCK_PC=full
check "full: the program and its recording end" test $status = 0
check "full: CUPTI stays where it cannot be ended" grep -q '^finalized 0 times, 0 faults, ' happened
"$GRTRACE" report --by stall pc.grt >stall.txt
check "full: it is said" grep -q "the hardware's buffer was full in 1 context" stall.txt
check "full: of which windows" grep -q 'samples were lost before 1 of these windows' stall.txt

sample MOCK_PC=refused
check "refused: it is said why" grep -q 'no PC samples: .*NVreg_RestrictProfilingToAdminUsers=0' said
check "refused: once" test "$(grep -c 'no PC samples' said)" = 1
check "refused: the rest is recorded in windows" says '^windows [1-9][0-9]+ sampled 0 '

wait $apart
for _ in {1..5}; do
	facts_of apart.grt apart
	says '^windows 1 |^windows .* sampled [01] ' || break
	far_apart
done
check "far apart: CUPTI goes after a window, and comes again" grep -q '^finalized [1-9][0-9]* times, 0 faults, ' apart
check "it samples in the later windows, too" says '^windows [2-9] sampled [2-9] '
check "exactly" test "$(grep -c wrong facts)" = 0

wait $slow
for _ in {1..5}; do
	facts_of slow.grt slow
	! says '^windows [0-5] |^windows .* sampled [0-5] ' || slow
done
check "slow: sampling begins and ends earlier, so that windows are there" says '^windows ([6-9]|1[0-9]) sampled ([6-9]|1[0-9]) '
check "slow: exactly" test "$(grep -c wrong facts)" = 0
missed=$("$GRTRACE" report slow.grt | sed -n 's/.* \([0-9]*\) random windows* .* not recorded: CUPTI was not ready .*/\1/p')
# numbers between recorded windows that have none are missed ones; before and after them, one in 200 ms may be, too
"$GRTRACE" dump --json slow.grt | python3 -c '
import json, sys
events = [e for e in map(json.loads, sys.stdin) if isinstance(e, dict)]
seen = {e["number"] for e in events if e["type"] == "CAPTURE"}
times = [e["time"] for e in events]
print(max(seen) - min(seen) + 1 - len(seen), int((max(times) - min(times)) / 2e8) + 2 - len(seen))' >gaps
check "slow: those that were over before are counted: $missed, between $(<gaps)" \
	awk -v missed="${missed:-0}" '{ exit !(missed >= 1 && missed >= $1 && missed <= $2) }' gaps
plan
