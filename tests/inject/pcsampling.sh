#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --pc-sampling, with a mock of CUPTI's: what the GPU sampled is what reports show, to the sample, with the
# lines that NVIDIA's own function gives (cubin/lines.txt), and what cannot be had is said while the rest goes on.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
GRTRACE=$GRTRACE_PLAIN/grtrace
CUBIN=$GRTRACE_SRC/tests/inject/cubin

code=lines
sample() { # [NAME=VALUE...] [-- OPTION]
	local set=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do set+=("$1") && shift; done
	[ $# = 0 ] || shift
	rm -rf pc.grt
	env "${set[@]}" timeout 60 "$GRTRACE" record -e cuda "${1:---pc-sampling}" -o pc.grt "$MOCK/sampled" "$CUBIN/$code.cubin" >happened 2>said
	status=$?
	output=$(<said)
	"$GRTRACE" report --by stall --top 0 --json pc.grt >stall.json 2>&1
	"$GRTRACE" report --by line --top 0 --json pc.grt >line.json 2>&1
}

cat >compare.py <<'END'
import collections, json, sys
what = sys.argv[1]
lines = {tuple(l.split()[:2]): l.rstrip().split(" ", 2)[2] for l in open(sys.argv[2]) if l[0] != "#"}
lines = {at: int(l) for at, l in lines.items() if l.isdigit()}
reasons, idle, places = (collections.Counter() for i in range(3))
for l in open("happened"):
    w = l.split()
    if len(w) != 4: continue
    function, offset, reason, n = w[0], w[1], w[2], int(w[3])
    if reason.endswith("/idle"):
        idle[function, reason[:-5]] += n
        continue
    reasons[function, reason] += n
    # what no function of its own has no line
    places[function, lines.get((function, hex(int(offset, 16))))] += n
if what == "stall":
    rows = json.load(open("stall.json"))["stalls"]
    got = {(r["kernel"], r["reason"]): r["samples"] for r in rows}
    assert got == dict(reasons), (got, reasons)
    got = {(r["kernel"], r["reason"]): r["idle"] for r in rows if r["idle"]}
    assert got == dict(idle), (got, idle)
    assert all(r["meaning"] for r in rows), rows
elif what == "inlined":
    frames = {tuple(l.split()[:2]): l.rstrip().split(" ", 2)[2].split(" > ") for l in open(sys.argv[2]) if l[0] != "#"}
    want, got, ways, of = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter), {}
    for l in open("happened"):
        w = l.split()
        if len(w) != 4 or "/" in w[2]: continue
        chain = frames.get((w[0], hex(int(w[1], 16))), ["+" + hex(int(w[1], 16))])
        want[w[0], tuple(chain), w[2]] += int(w[3])
        *calls, last = chain
        function, _, place = last.rpartition(" ")
        ways[w[0], place][" > ".join(calls + [function]) if function else None] += int(w[3])
    for l in open("samples.folded"):
        stack, n = l.rstrip().rsplit(" ", 1)
        kernel, *chain, reason = stack[stack.index("[GPU_Kernel]") + 12:].split(";")
        got[kernel, tuple(chain), reason.strip("[]")] += int(n)
    assert got == want, (got, want)
    for r in json.load(open("line.json"))["lines"]:
        (most, n), *others = ways[r["kernel"], r["place"]].most_common()
        assert not any(x == n for _, x in others), "the test's numbers are of no use"
        text = most + (", and %d more" % len(others) if others else "") if most else None
        assert r["inlined"] == text, (r, text)
    assert max(len(c) for _, c, _ in got) == 3 and any(len(w) > 1 for w in ways.values()), ways
elif what == "flame":
    want, got, on = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for l in open("happened"):
        w = l.split()
        if len(w) == 4 and "/" not in w[2]:
            line = lines.get((w[0], hex(int(w[1], 16))))
            want[w[0], "lines.cu:%d" % line if line else "+" + hex(int(w[1], 16)), w[2]] += int(w[3])
    for l in open("samples.folded"):
        frames, n = l.rstrip().rsplit(" ", 1)
        stack, _, below = frames.partition(";[GPU_Kernel]")
        kernel, *calls, place, reason = below.split(";")
        on[kernel].add(stack.split(";")[-1])
        # one function was inlined: it stands in front of its line, below the line of its call
        assert calls == (["lines.cu:11"] if " " in place else []), frames
        got[kernel, place.split(" ")[-1], reason.strip("[]")] += int(n)
    assert got == want, (got, want)
    # there is a kernel of the one, under its launch, and none of the other
    assert on["barrier"] == {"[unmatched]"} and "[unmatched]" not in on["chain"], on
else:
    rows = json.load(open("line.json"))["lines"]
    got = {(r["kernel"], r["line"] or None): r["samples"] for r in rows}
    assert got == dict(places), (got, places)
    assert all(r["file"].endswith("/lines.cu") and r["place"] == "lines.cu:%d" % r["line"] for r in rows), rows
END
equal() { # stall|line
	python3 compare.py "$1" "$CUBIN/lines.txt"
}

# 20 is that of CUDA 12.2, which has a shorter record of an instruction
for version in 130000 20; do
	sample MOCK_VERSION=$version
	check "CUPTI $version: samples by kernel and reason, also those of idle cycles" equal stall
	check "CUPTI $version: samples by line, as NVIDIA's function gives it" equal line
done
# Of a microsecond, those of the time in which they were taken, although their records are written later.
read -r first total < <("$GRTRACE" dump --json -t PC_COUNT pc.grt | jq -r '"\(.begin) \(.total)"')
for by in stall line instruction; do
	check "--by $by: samples by when they were taken" test "$("$GRTRACE" report --by $by --top 0 --json --from "${first}ns" \
		--to $((first + 1000))ns pc.grt | jq '[.[] | arrays[] | objects.samples] | add')" = "$total"
done
check "flame: the same" test "$("$GRTRACE" flame --weight samples --from "${first}ns" --to $((first + 1000))ns pc.grt 2>said |
	awk '{ n += $NF } END { print n }')" = "$total"
"$GRTRACE" flame --weight samples -o samples.folded pc.grt 2>said
check "flame: every sample by line and reason on the stack that launched its kernel" equal flame
check "flame: what has no kernel is said" grep -q 'are in functions that are not kernels' said
check "flame: one stack alone has a kernel: nothing is inferred" sh -c '! grep -q inferred said'
"$GRTRACE" flame --weight stalls -o stalls.folded pc.grt 2>said
check "flame: all of these are stalls" cmp samples.folded stalls.folded
check "the code is kept once" test "$(find pc.grt -name '.cubin_*' | wc -l)" = 1
check "as it was" cmp -s pc.grt/.cubin_* "$CUBIN/lines.cubin"
check "kernels and launches are recorded as ever" test "$("$GRTRACE" dump --json pc.grt | grep -c '"type":"GPU_KERNEL"')" = 2

# functions that were inlined, one of them in two ways
code=inlined
sample
"$GRTRACE" flame --weight samples -o samples.folded pc.grt 2>said
output=$(python3 compare.py inlined "$CUBIN/inlined.txt" 2>&1)
status=$?
check "functions that were inlined are frames, and say where they were called, as the compiler's PTX does" exits 0
"$GRTRACE" report --by line pc.grt >text
check "the table has them" grep -qE 'inlined.cu:3 +inlined.cu:21 > inner, and [0-9] more ' text
code=lines

# Sampling ends while threads go on launching, and one is in a call that waits.
timeout 60 "$GRTRACE" record -e cuda --pc-sampling -d 0.5 -o ends.grt "$MOCK/sampled" "$CUBIN/lines.cubin" 1500 threads >ends 2>said
check "a recording that ends before the program: the program goes on to its end" test $? = 0
check "CUPTI is given back" grep -q '^finalized 1 times, 0 faults, 1 turns' ends

# Code from PTX without .loc has lines of the PTX; binutils read them from a copy in which the section has a name that they know.
python3 - "$CUBIN/ptx.cubin" <<'END'
import re, subprocess, sys
code = open(sys.argv[1], "rb").read()
code = code.replace(b"\0.debug_line\0", b"\0_debug_line\0").replace(b".nv_debug_line_sass\0", b".debug_line\0_sass__\0", 1)
open("renamed.cubin", "wb").write(code)
rows = subprocess.run(["objdump", "--dwarf=decodedline", "renamed.cubin"], stdout=subprocess.PIPE, text=True).stdout
rows = [(int(m[2], 0), int(m[1])) for m in re.finditer(r"^\S+ +(\d+) +(0x[0-9a-f]+|0)\b", rows, re.M)]
with open("ptx.want", "w") as f:
    for at in range(0, 16 * 1000, 16):
        if at <= rows[-1][0]:
            f.write(f"add {at:#x} PTX:{[line for offset, line in rows if offset <= at][-1]}\n")
END
# elfutils unpacks sections to a thousand times their size. Its seventh section says that it is packed.
python3 - "$CUBIN/lines.cubin" >packed.cubin <<'END'
import struct, sys
cubin = bytearray(open(sys.argv[1], "rb").read())
flags = struct.unpack_from("<Q", cubin, 0x28)[0] + 6 * 64 + 8
struct.pack_into("<Q", cubin, flags, struct.unpack_from("<Q", cubin, flags)[0] | 0x800)
sys.stdout.buffer.write(cubin)
END
output=$("$GRTRACE_BUILD/tests/inject/cubin_lines" packed.cubin 2>&1)
status=$?
check "a cubin with a packed section is not read" test $status = 2 -a -z "$output"
"$GRTRACE_BUILD/tests/inject/cubin_lines" "$CUBIN/ptx.cubin" | sed 's/ 0 / 0x0 /' >ptx.got
lines=$(wc -l <ptx.want)
head -n "$lines" ptx.got | diff ptx.want - >difference
check "code without source lines has those of its PTX, as binutils read them: $lines instructions" test $? = 0 -a "$lines" -gt 10
check "a line of the PTX is that of its instruction" grep -qx 'add 0x[0-9a-f]* PTX:19' ptx.got

sample MOCK_PC=lossy
dropped=$(awk '/^losses/ { print $2 }' happened)
other=$(awk '/^losses/ { print $3 }' happened)
check "lossy: what is there is exact" equal stall
# one more answer comes behind the program's end
check "dropped samples and those of other kernels are counted" grep -q \
	"$((other + 3)) in other kernels, $((dropped + 7)) dropped by the hardware" stall.json

sample MOCK_PC=full
check "full: the program and its recording end" test "$status" = 0
check "that its buffer was full is shown" grep -q "the hardware's buffer was full in 1 context" stall.json

refused() { # MOCK_PC TEXT
	sample MOCK_PC="$1"
	check "$1: it is said why, and what to do" grep -q "no PC samples: .*$2" said
	check "$1: the rest is recorded" test "$status:$("$GRTRACE" dump --json pc.grt | grep -c '"type":"GPU_KERNEL"')" = 0:2
}
refused refused 'NVreg_RestrictProfilingToAdminUsers=0'
refused busy 'another profiler uses the GPU.s counters'
refused unsupported 'does not support it'
sample GRTRACE_CUPTI="$MOCK/libcupti-old.so"
check "a CUPTI without it: it is said why, and what to do" grep -q 'no PC samples: this libcupti.so has no cuptiPCSamplingEnable(): name one' said

# Lines need no cubin afterwards; without one there are offsets.
mv pc.grt old.grt
sample
rm pc.grt/.cubin_*
"$GRTRACE" report --by line --top 0 --json pc.grt >line.json
check "reports need the recording's records only" equal line
rm pc.grt/names_0
"$GRTRACE" report --by line pc.grt >text
check "without lines: offsets, and a note" grep -q 'samples have no line' text
check "offsets" grep -qE 'barrier  *\+0x40 ' text

for bad in 4 32 x 5x; do
	run record -e cuda --pc-sampling=$bad -o bad.grt true
	check "--pc-sampling=$bad is refused" test "$status" = 2
done
run record -e cuda --pc-sampling -o bad.grt -p 1
check "a program that runs already: refused, with what to type" grep -q 'works only with a program that grtrace starts' <<<"$output"
plan
