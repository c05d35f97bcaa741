#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace flame for pprof and speedscope: the same stacks as folded ones, by readers that are not ours.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# The part of pprof's profile.proto that is written.
cat >profile.proto <<'END'
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
  repeated Function function = 5; repeated string string_table = 6; repeated int64 comment = 13;
  int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; }
message Location { uint64 id = 1; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 filename = 4; }
END

# A profile of either program as folded stacks; with a place, a frame is `function (file:line)`.
cat >folded.py <<'END'
import collections, gzip, json, re, subprocess, sys

def place(name, file, line):
    return f"{name} ({file}:{line})" if file else name

def speedscope(path):
    d = json.load(open(path))
    names = [place(f["name"], f.get("file"), f.get("line")) for f in d["shared"]["frames"]]
    for p in d["profiles"]:
        assert p["type"] == "sampled" and len(p["samples"]) == len(p["weights"])
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
        yield p["name"], p["unit"], [([names[i] for i in s], w, []) for s, w in zip(p["samples"], p["weights"])]

def pprof(path):
    raw = gzip.open(path).read()
    text = subprocess.run(["protoc", "--decode=Profile", "profile.proto"], input=raw, stdout=subprocess.PIPE,
                          check=True).stdout.decode()
    stack = [{}]
    for line in text.splitlines():
        word = line.strip()
        if word.endswith("{"):
            stack.append({})
            stack[-2].setdefault(word[:-2], []).append(stack[-1])
        elif word == "}":
            stack.pop()
        else:
            key, value = word.split(": ", 1)
            value = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), value.encode()).decode()
            stack[-1].setdefault(key, []).append(json.loads(value.replace("\\'", "'")))
    one = lambda m, key: m.get(key, [0])[0]
    p = stack[0]
    strings = p["string_table"]
    assert strings[0] == ""
    functions = {one(f, "id"): (strings[one(f, "name")], strings[one(f, "filename")]) for f in p["function"]}
    names = {}
    for l in p["location"]:
        line = l["line"][0]
        names[one(l, "id")] = place(*functions[one(line, "function_id")], one(line, "line"))
    for i, t in enumerate(p["sample_type"]):
        rows = [([names[n] for n in reversed(s["location_id"])], s["value"][i],
                 [strings[one(l, "key")] + "=" + strings[one(l, "str")] for l in s.get("label", [])])
                for s in p["sample"]]
        yield strings[one(t, "type")], strings[one(t, "unit")], rows

profiles = list({"pprof": pprof, "speedscope": speedscope}[sys.argv[1]](sys.argv[2]))
what = sys.argv[3] if len(sys.argv) > 3 else ""
for name, unit, rows in profiles:
    if what.startswith("by "):
        # sums of a weight by a label
        if name == what.split()[1]:
            sums = collections.Counter()
            for _, weight, labels in rows:
                sums[next((l.split("=", 1)[1] for l in labels if l.startswith(what.split()[2] + "=")), "-")] += weight
            print(*sorted(f"{label} {n}" for label, n in sums.items() if n), sep="\n")
    elif what == "names":
        print(name, unit, *sorted({l for r in rows for l in r[2]}))
    elif what and len(profiles) > 1 and name != what:
        continue
    elif len(profiles) > 1 and not what.endswith("_before"):
        # samples of one stack differ in labels; one that another weight has may have none of this
        sums = collections.Counter()
        for frames, weight, _ in rows:
            sums[";".join(frames)] += weight
        print(*sorted(f"{stack} {n}" for stack, n in sums.items() if n), sep="\n")
    else:
        print(*sorted(";".join(frames) + f" {weight}" for frames, weight, _ in rows), sep="\n")
END

declare -A what=([pprof]=time)
same() { # WHAT NAME INPUT OPTIONS...
	local form
	"$GRTRACE" flame "${@:3}" -o want.folded 2>/dev/null
	LC_ALL=C sort want.folded >want
	for form in pprof speedscope; do
		"$GRTRACE" flame "${@:3}" -o "$2.$form" 2>err
		output=$(cat err; python3 folded.py $form "$2.$form" "${what[$form]:-}" | LC_ALL=C sort | tee got | diff want - | head -n 5)
		check "$1: $form has the stacks of the folded ones" cmp -s want got
	done
}

"$GRTRACE_BUILD/tests/cli/stacks" stacks.grt && "$GRTRACE_BUILD/tests/golden/report_traces" || exit 1
# a frame with a line, one that only looks so, a weight of 0, quotes, and what would be a line of its own
cat >odd.folded <<'END'
app;train (my "file".py:46);forward (model.py:7);[GPU_Kernel]gemm 9000000000
app;train (my "file".py:46);odd (:3);x(y.py:1) 2
app;train (my "file".py:46);odd2 (a.py:) 3
app;späße\x0a;</script> 0
END
same "jobs" jobs stacks.grt
same "kernels" kernels rounds.grt
# Each weight of a profile is that of a flame graph of its own, and its labels divide it as those are divided.
for trace in stacks rounds ops ranks shares; do
	"$GRTRACE" flame $trace.grt -o $trace.pprof 2>err
	for weight in time launches bytes wall; do
		"$GRTRACE" flame --weight $weight $trace.grt 2>/dev/null | grep -v ' 0$' | LC_ALL=C sort >want
		python3 folded.py pprof $trace.pprof $weight | grep . | LC_ALL=C sort >got
		output=$(cat err; diff want got | head -n 5)
		check "$trace: $weight has the stacks and sums of flame --weight $weight" cmp -s want got
	done
	for label in device stream graph; do
		"$GRTRACE" flame --by $label $trace.grt 2>/dev/null | awk '{ n = $NF; sub(/;.*/, ""); sum[$0] += n }
			END { for (i in sum) if (sum[i]) print i, sum[i] }' >sums
		if [[ $label != stream ]]; then
			sed -i "s/^\[GPU $label \(.*\)\] /\1 /; s/^\[no $label\] /- /" sums
		fi
		LC_ALL=C sort sums >want
		python3 folded.py pprof $trace.pprof "by time $label" | LC_ALL=C sort >got
		output=$(diff want got | head -n 5)
		check "$trace: time by the label $label is that of flame --by $label" cmp -s want got
	done
done
"$GRTRACE" export -f pprof -o export.pprof rounds.grt 2>err
for weight in time launches wall; do
	check "export has the same $weight" test "$(python3 folded.py pprof export.pprof $weight)" = "$(python3 folded.py pprof rounds.pprof $weight)"
done
output=$(python3 folded.py pprof ranks.pprof names; python3 folded.py pprof shares.pprof names)
check "labels: ranks, control groups" says 'rank=0 rank=1.*'
check "the same: control groups" says 'cgroup=/'
cat >ranges.json <<'END'
{"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "epoch", "pid": 7, "tid": 8, "ts": 1, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "load", "pid": 7, "tid": 8, "ts": 2, "dur": 10},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 7, "tid": 8, "ts": 3, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 8, "ts": 20, "dur": 2, "args": {"correlation": 2}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 6, "dur": 30, "args": {"correlation": 1, "bytes": 4096, "stream": 7}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 96, "dur": 5, "args": {"stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 40, "dur": 50, "args": {"correlation": 2, "stream": 7}}]}
END
"$GRTRACE" flame ranges.json -o ranges.pprof 2>err
output=$(python3 folded.py pprof ranges.pprof "by time range"; python3 folded.py pprof ranges.pprof "by bytes range")
check "the label range has the names of ranges" test "$output" = "$(printf '%s\n' '- 5000' 'epoch 50000' 'epoch/load 30000' 'epoch/load 4096')"
run flame --weight bytes ranges.json
check "copies of unknown size have no weight, and a message says so" says 'the size of 1 copy or fill is unknown: it has no weight here'
run report --by copy ranges.json
check "report: their bytes are unknown" says '^DtoH +0 +- +1 +- '
check "the others' are those that are known" says '^HtoD +0 +4.00 KiB +0 '
check "a message names copies that no sum includes" says 'the size of 1 copy or fill is unknown: no sum of bytes includes it'
same "kernels by stream, launches" streams rounds.grt --by stream --weight launches
same "folded stacks" odd odd.folded
check "a frame's line is a field" grep -q '"name": "train", "file": "my \\"file\\".py", "line": 46' odd.speedscope
output=$(python3 folded.py pprof jobs.pprof names; python3 folded.py speedscope jobs.speedscope names)
check "of jobs: time of the processes" says '^time nanoseconds .*process=app process=other'
check "and how many they were" says '^launches count .*process=app process=other'
check "the same for speedscope" says '^time nanoseconds$'
output=$(python3 folded.py pprof streams.pprof names; python3 folded.py speedscope streams.speedscope names)
check "of launches: their number, by stream" says '^launches count stream='
check "speedscope has no unit for them" says '^launches none$'
"$GRTRACE" export -f pprof stacks.grt >export.pprof 2>err
"$GRTRACE" export -f speedscope stacks.grt >export.speedscope 2>>err
for form in pprof speedscope; do
	"$GRTRACE" flame odd.folded --diff odd.folded -o "two.$form" 2>err
	output=$(python3 folded.py $form two.$form names)
	check "$form: two that are compared" test "$(wc -l <<<"$output")" = 2
	check "export -f $form has the same stacks" test "$(python3 folded.py $form export.$form)" = \
		"$(python3 folded.py $form jobs.$form)"
done

# Lines that the recording has.
"$GRTRACE_BUILD/tests/cli/places" places.grt || exit 1
cat >want <<'END'
app;_start;main (draw.c:50);draw (draw.c:31);submit (draw.c:12);ioctl;[GPU gfx] 600000
app;draw (draw.c:35);submit (draw.c:14);ioctl;[GPU gfx] 400000
END
for form in pprof speedscope; do
	"$GRTRACE" flame places.grt -o places.$form 2>err
	output=$(python3 folded.py $form places.$form "${what[$form]:-}")
	check "$form: file and line of frames are fields" test "$output" = "$(cat want)"
	output=$("$GRTRACE" export -f $form places.grt | python3 folded.py $form /dev/stdin "${what[$form]:-}")
	check "export -f $form has the same" test "$output" = "$(cat want)"
done
run flame places.grt
expect "folded stacks have none" 0 '^app;_start;main;draw;submit;ioctl;\[GPU gfx\] 600000$'
run report places.grt
expect "report names the line" 0 'Of 1.00 ms idle, 700 us passed in submit \(draw.c:14\) before a submit, 300 us in the driver.s call in query \(draw.c:60\)'
check "it says where stacks end" says ' The stacks of 40.0 % of its work end before the program.s entry, most of them for this reason: code without an unwind table'
run report places.grt --by idle --json
check "with the whole stack" test "$(jq -c '.idle[0] | [.place, .function, .stack]' <<<"$output")" = \
	'["submit (draw.c:14)","submit","draw (draw.c:35);submit (draw.c:14);ioctl"]'

"$GRTRACE" export -o by_ending.speedscope.json stacks.grt 2>err
check "export: the longer ending counts" grep -q speedscope.app by_ending.speedscope.json
run flame stacks.grt -o out.png
expect "an ending that is none" 2 '\.png is unknown; there are \.folded and \.txt for folded stacks, .*pprof'
plan
