#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace export: every format, read by programs that know nothing of ours.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

make_trace() { # KIND
	"$GRTRACE_BUILD/tests/cli/export_traces" "$1" "$1.grt"
}

# What a timeline shows, by another reader of its format.
shown() { # FORMAT FILE
	python3 "$GRTRACE_SRC/tests/cli/_timeline.py" "$1" "$2"
}

# Its slices, instants and values alone.
items() { # FORMAT FILE
	shown "$@" | grep -E '^[0-9]|^counts'
}

has() { # LINE
	grep -qxF -- "$1" <<<"$output"
}

make_trace all
make_trace deep
make_trace cuda
make_trace gpu
"$GRTRACE_BUILD/tests/cli/traces" every every.grt
"$GRTRACE_BUILD/tests/golden/report_traces" .
"$GRTRACE_BUILD/tests/cli/stacks" stacks.grt
every=$("$GRTRACE" dump every.grt | wc -l)

# ---------------------------------------------------------------- timelines

for format in perfetto chrome; do
	run export -f $format -o all.$format all.grt
	expect "$format: written" 0 '^grtrace export: all.grt: 41 events: 3 jobs, 11 slices, 7 instants, 2 values of counters$'
	check "$format: prints how many jobs are not drawn" says '^  1 job is not drawn: its START or END is unknown$'
	check "$format: also ends" says '^  1 end is not drawn: '
	check "$format: and beginnings" says '^  3 slices have no end in the trace$'
	check "$format: and losses" says '^  13 events were lost in the recording$'
	output=$(items $format all.$format)
	status=$?
	check "$format: another reader takes it" exits 0
	check "$format: an ioctl, with what it returned" has \
		'000000001000+50        slice    [app 70/draw 71] DRM_IOCTL_AMDGPU_CS fd=5 ret=-11'
	check "$format: the submit in it, where an arrow begins" has \
		'000000001010+0         instant  [app 70/draw 71] SUBMIT ctx=9 seqno=1 >90000000001'
	check "$format: the job, where it ends" has \
		'000000001030+270       slice    [GPU renderD128 (amdgpu)/gfx] app ctx=9 pid=70 seqno=1 t_complete=10 t_queue=10 t_sched=10 wait_ns=290 waits=1 <90000000001'
	check "$format: a wait inside of an ioctl" has \
		'000000001110+290       slice    [app 70/draw 71] wait ctx=9 seqno=1'
	check "$format: jobs that overlap are both whole" has \
		"$(printf '000000001320+80        slice    [GPU renderD128 (amdgpu)/gfx] b\u20ac;\\x0ad ctx=10 pid=80 seqno=1 status=-5 t_complete=5 t_queue=180 t_sched=20 <a0000000001')"
	check "$format: a slice whose end was lost ends with the next" has \
		"$(printf '000000001500+100       slice    [b\u20ac;\\x0ad 80/bad\ufffd"\\\\x1b 80] ioctl 0x1234 end_not_in_trace=true fd=4')"
	check "$format: one that goes on stays open" says '^000000001600\+open      slice    .* ioctl 0x1234 fd=4$'
	check "$format: a channel group's life" says \
		'^000000001050\+350       slice    \[app 70/channel groups\] channel group .*cause=1 client=0xc1d0 .*timeslice=2000 tsg=0x3$'
	check "$format: another one beside it, which lives on" says '^000000001060\+open      slice    \[app 70/channel groups\] '
	check "$format: vertical blanks" says '^000000001100\+0         instant  \[GPU renderD128 \(amdgpu\)/CRTC 1\] VBLANK .*vseq=77$'
	check "$format: an Xid" says '^000000001200\+0         instant  \[Xid of 0000:01:00.0\] Xid 31 bus=0x100 code=31 meaning=.* text=pid=70, MMU Fault$'
	check "$format: interrupts, beside their ring" says \
		'^000000001350\+0         instant  \[GPU renderD128 \(amdgpu\)/gfx: events\] IRQ data=0x0 .*source=181'
	check "$format: a counter" has '000000001300+0         counter  [GPU renderD128 (amdgpu)/power [mW]]  value=-1'
	check "$format: where events were lost" has '000000001000+400       slice    [lost events/CPU 2] lost lost_events=13'
	check "$format: nothing else, and every arrow has two ends" has 'counts slices=11 instants=7 values=2 arrows=3 from_nowhere=0'
	output=$(shown $format all.$format)
	check "$format: the balance is in it" says '^balance .*emitted=54 delivered=41 .*lost=13 .*jobs_not_drawn=1 .*ends_without_beginning=1 without_end=3'

	run export -f $format -o every.$format every.grt
	expect "$format: every event there is" 0 "^grtrace export: every.grt: $every events: "
	run export -f $format -o whole.$format whole.grt
	run export -f $format -o deep.$format deep.grt
	expect "$format: more at a time than there are tracks for is counted" 0 '^  72 items are not drawn: '
	run export -f $format -o cuda.$format cuda.grt
	expect "$format: a kernel without stamps is not drawn" 0 '^  1 job is not drawn: its START or END is unknown$'
	output=$(items $format cuda.$format)
	check "$format: a launch" has \
		'000000001000+10        slice    [python3 70/CUDA calls of thread 71] cudaLaunchKernel correlation=5 >4000000000000005'
	check "$format: its kernel, by its name in the source" says \
		'^000000001100\+100 .*\[python3 70/CUDA device 1, stream 7\] (scale|_Z5scalePfi) context=2 correlation=5 device=1 grid_x=64 stream=7 <4000000000000005$'
	check "$format: a call that failed" says 'cudaMemcpy correlation=6 result=700 >4000000000000006$'
	check "$format: a copy that overlaps the kernel" says \
		'^000000001150\+100 .*\[python3 70/CUDA device 1, stream 7\] Memcpy HtoD bytes=4096 .*<4000000000000006$'
	check "$format: a graph's first kernel has the arrow" says '^000000001300\+10 .* plain .*graph=3 .*<4000000000000007$'
	check "$format: the others have not" says '^000000001310\+10 .* plain .*graph_node=2 stream=7$'
	check "$format: a wait" says '^000000001060\+270 .*\[python3 70/CUDA waits\] GPU_SYNC context=2 .*kind=4$'
	check "$format: nothing else" has 'counts slices=8 instants=0 values=0 arrows=3 from_nowhere=0'
	for kind in every deep whole; do
		output=$(shown $format $kind.$format 2>&1)
		status=$?
		check "$format: $kind, read by another reader" exits 0
	done
done
for kind in all deep cuda; do
	check "both timelines of $kind show the same" test "$(items perfetto $kind.perfetto)" = "$(items chrome $kind.chrome)"
done
output=$(shown perfetto all.perfetto)
check "perfetto: the clock" says '^clocks monotonic=[0-9]+ primary=monotonic$'
check "perfetto: the recording" says '^recording command=trace_maker$'
check "perfetto: protoc takes it apart" test "$(protoc --decode_raw <all.perfetto | grep -c '^1 {$')" -gt 30
check "perfetto: and nothing is left over" test -z "$(protoc --decode_raw <every.perfetto | grep -v '[{}:]')"

# What GPUs did, by protoc and the field numbers of Perfetto; the sums by hand, and by another part of this program.
counted() { # FILE
	output=$(python3 "$GRTRACE_SRC/tests/cli/_perfetto.py" "$1" 2>&1)
	status=$?
}
run export -f perfetto -o gpu.perfetto gpu.grt
counted gpu.perfetto
check "GPUs: another reader takes it" exits 0
check "GPUs: kernels" has 'work kernel n=2 ns=150'
check "GPUs: copies" has 'work gpu_memcpy n=1 ns=100'
check "GPUs: jobs" has 'work job n=2 ns=100'
check "GPUs: who had NVIDIA's GPU" has 'work context n=1 ns=900'
check "GPUs: an arrow for each launch and submit" has 'flows 5 of 5'
check "GPUs: a stream, a context and a job waited; a wait that later work hides is unknown" has 'waits 3 of 3'
check "GPUs: a sample for each stack" has 'samples n=3 ns=250'
check "GPUs: whose the work is" has \
	'queues CUDA device 0 (GPU-00112233), stream 9 of pid 70, gfx of pid 80, process on the GPU of pid 70'
check "GPUs: that of CUDA and of NVIDIA's slices is one" says \
	'^gpu 0 architecture=sm_89 model=NVIDIA L4 name=GPU nvidia0 0000:01:00.0 place=0000:01:00.0 uuid=.* vendor=NVIDIA$'
check "GPUs: the other one" has 'gpu 1 name=GPU renderD128 (amdgpu)'
check "GPUs: how a kernel was launched" says \
	'^kernel _Z4gemmPfi (gemm|_Z4gemmPfi) sm_89 8,4,2 128,2,1 correlation context registers_per_thread shared_mem_static device stream$'
check "GPUs: GPU time by stack, as flame has it" test \
	"$(sed -n 's/^stack //p' <<<"$output")" = "$("$GRTRACE" flame --pid 70 gpu.grt 2>err | sed 's/^app;//')"
for kind in ranks rounds; do
	run export -f perfetto -o $kind.perfetto $kind.grt
	counted $kind.perfetto
	check "GPUs: $kind: as much GPU time as flame has" test "$(sed -n 's/^samples .*ns=//p' <<<"$output")" = "$(
		"$GRTRACE" flame $kind.grt 2>err | awk '{ n += $NF } END { print n }')"
	check "GPUs: $kind: as many kernels as report counts" test "$(sed -n 's/^work kernel n=\([0-9]*\) .*/\1/p' <<<"$output")" = "$(
		"$GRTRACE" report --by kernel --json $kind.grt 2>err | jq '[.kernels[].calls] | add')"
done

# The reader itself: what it must refuse.
head -c 300 all.perfetto >cut.perfetto
output=$(shown perfetto cut.perfetto 2>&1)
check "the reader refuses a cut file" says 'Bad: a field is cut'
sed 's/"ph":"B"/"ph":"i","s":"t"/' all.chrome >ends
output=$(shown chrome ends 2>&1)
check "and ends without a beginning" says 'ends nothing'

# -------------------------------------------------------- tables and stacks

run export -f jsonl -o every.jsonl every.grt
expect "jsonl" 0 "^grtrace export: every.grt: $every events$"
check "jsonl: the same lines as dump --json" cmp -s every.jsonl <("$GRTRACE" dump --json every.grt)
run export -f csv -o every.csv every.grt
expect "csv" 0 "^grtrace export: every.grt: $every events$"
output=$(python3 - every.csv every.jsonl "$GRTRACE_SRC/include/grtrace/flags.def" 2>&1 <<'END'
import csv, json, re, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
lines = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
assert len(rows) == len(lines) > 500, (len(rows), len(lines))
flags = re.findall(r"^GRT_FLAG\(\w+, (\w+)", open(sys.argv[3]).read(), re.M)
none = {"0", "-1", "unknown", "65535", "4294967295", "18446744073709551615", "2147483647"}
# What says nothing by another field, the numbers of texts that are not there, and what is no value.
silent = {("COUNTER", "value"), ("TSG_TOKEN", "token"), ("GPU_COPY", "value"), ("GPU_COPY", "from_gpu"),
          ("GPU_COPY", "to_gpu"), ("FUNC", "known"), ("FUNC", "took"), ("FUNC", "ret"), ("PROCESS", "text"),
          ("NODE", "function"), ("NODE", "file"), ("MAPPING", "path"), ("GPU_KERNEL", "name"), ("DEVICE", "name"), ("CODE", "function"), ("CODE", "file"),
          ("PC_SAMPLE", "function"), ("STALL_REASON", "name"), ("PC_LINE", "function"), ("PC_LINE", "file"),
          ("PC_INLINED", "function"), ("PC_INLINED", "inlined"), ("PC_INLINED", "file"),
          ("RANK", "job"), ("COMMUNICATOR", "name"), ("COLLECTIVE", "function"), ("COLLECTIVE", "datatype"), ("COLLECTIVE", "algorithm"),
          ("COLLECTIVE", "protocol")}
words = {}
for row, line in zip(rows, lines):
    assert None not in row, "a row with too many fields"
    for key, value in line.items():
        if key == "flags":
            bits = int(row[key])
            named = [name for i, name in enumerate(flags) if bits >> i & 1]
            rest = bits >> len(flags) << len(flags)
            assert value == named + ([hex(rest)] if rest else []), (bits, value)
        elif key not in row: # what a number is called, and how long ago something was
            assert re.search("_name$|_ns$|^unit$|^fd$|^meaning$|^what_to_do$", key), key
        elif isinstance(value, bool):
            assert value == (row[key] != "0"), (key, row[key], value)
        elif isinstance(value, str) and re.fullmatch("-?[0-9]+", row[key]): # a word for a number
            assert words.setdefault((line["type"], key, row[key]), value) == value, (key, row[key], value)
        elif not isinstance(value, str) or not (set(value) & {"\ufffd", "\\"} or not value.isprintable()):
            assert row[key] == str(value), (key, row[key], value)
    for key, value in row.items():
        assert not value or key in line or value in none or key == "reserved" or (
            line["type"], key) in silent, (line["type"], key, value)
print("same")
END
)
check "csv: the same values, by Python's reader" says '^same$'
cat >unknown.txt <<'END'
[1.000001] SUBMIT ctx=1 ring=0 seq=1 pid=5 tid=5 comm==1+1
[1.000002] START ctx=1 ring=0 seq=1
[1.000003] END ctx=1 ring=0 seq=1
[1.000004] COMPLETE ctx=1 ring=0 seq=1
END
run export -f jsonl unknown.txt
check "jsonl: an error that is not known has no key" test "$(grep -c '"type":"COMPLETE"' <<<"$output"),$(
	grep -c '"status"' <<<"$output")" = 1,0
run export -f csv unknown.txt
check "csv: and empty" test "$(grep -c 2147483647 <<<"$output")" = 0
check "csv: text that looks like a formula is none" says ",'=1\\+1,"
for format in chrome perfetto; do
	run export -f $format -o unknown.$format unknown.txt
	output=$(shown $format unknown.$format)
	check "$format: an unknown error is not told" says 'ctx=1 pid=5 seqno=1 t_'
	check "$format: not as a number" test "$(grep -c status <<<"$output")" = 0
done
run export -f folded -o out.folded stacks.grt
expect "folded" 0 '^grtrace export: stacks.grt: '
check "folded: the same lines as flame" cmp -s out.folded <("$GRTRACE" flame stacks.grt 2>/dev/null)
# What has nothing of its kind: a file without a line would look as if the GPU had done nothing.
for format in extended_folded cupti_text; do
	rm -f nothing
	run export -f $format -o nothing stacks.grt
	expect "$format: of a trace without CUDA" 1 "stacks.grt: -f $format: the trace has no .*CUDA launch.*: nothing is written"
	check "$format: no file is left" test ! -e nothing
done
make_trace silent
run report silent.grt
expect "report: of no event it says what to do" 0 'there is no event in it: grtrace doctor shows what can be recorded'
for format in folded pprof speedscope; do
	rm -f nothing
	run export -f $format -o nothing silent.grt
	expect "$format: of a trace without work" 1 "silent.grt: -f $format: the trace has no GPU time of a job, kernel or copy: nothing is written"
	check "$format: no file is left" test ! -e nothing
done
for format in chrome csv jsonl; do
	run export -f $format -o nothing.$format silent.grt
	expect "$format: an empty document is one" 0 '0 events'
done

# ----------------------------------------------------------- the command line

run export all.grt -o trace.pftrace
expect "the format by the file's ending" 0 '3 jobs'
check "is that of -f" cmp -s trace.pftrace all.perfetto
check "the file is the user's alone" test "$(stat -c %a trace.pftrace)" = 600
check "standard output" test "$("$GRTRACE" export -f chrome all.grt 2>/dev/null | md5sum)" = "$(md5sum <all.chrome)"
run export all.grt
expect "no format" 2 '-f FORMAT is needed; there are: perfetto, chrome, folded, pprof, speedscope, extended_folded, cupti_text, csv, jsonl'
run export all.grt -o x.png
expect "an ending of none" 2 '--output x.png: no format has this ending'
run export -f svg all.grt
expect "an unknown one" 2 'no such format: svg; there are: '
run export -f chrome all.grt deep.grt
expect "two traces" 2 "more than one trace: 'deep.grt'"
run export -f chrome no.grt
expect "no such trace" 1 'no.grt: cannot open'
run export -f chrome
expect "no recording here" 1 'try: grtrace record'
run export -f chrome -o no/such/file all.grt
expect "an output that cannot be written" 1 'cannot create no/such/file'
run export -f jsonl --from 0.0000012 --to 0.000001299 all.grt -o part
check "--from and --to" test "$(grep -vc '"type":"NAME"' part)" = 1
run export -f chrome --from 0.000001290 --to 0.000001315 -o part all.grt
expect "a job that is partly in the time is drawn" 0 ': 3 jobs, '
output=$(shown chrome part)
check "as a whole, without an arrow from a SUBMIT outside of it" says '^000000001030\+270 .*/gfx\] app ctx=9 .* waits=1$'
for format in perfetto chrome; do
	run export -f $format --from 0.0000010 -o part.$format cuda.grt
	expect "$format: what was defined before --from is no event" 0 '^grtrace export: cuda.grt: 10 events'
	output=$(items $format part.$format)
	check "$format: it names what is drawn" test "$output" = "$(items $format cuda.$format)"
done
run export -f cupti-text --from 0.0000010 -o part cuda.grt
check "cupti-text: names from before --from" grep -q ' "_Z5scalePfi", correlationId' part
run export -f folded --from 0.000001010 -o part stacks.grt
check "folded: stacks from before --from" grep -qx 'app;main;draw:one;ioctl;\[GPU gfx\] 300' part
run export -f folded --to +34us -o part rounds.grt
check "folded: kernels by when they ran, as flame" cmp -s part <("$GRTRACE" flame --to +34us rounds.grt 2>err)
check "folded: there are some" test -s part
# The records of these kernels are written at 65 us.
for format in perfetto chrome cupti-text; do
	run export -f $format --from +11us --to +34us -o part.$format rounds.grt
done
for format in perfetto chrome; do
	output=$(items $format part.$format | grep -o '^[0-9+]* .*stream 7\] scale')
	check "$format: kernels by when they ran" test "${output//[^+]/}" = +++
	check "$format: each as a whole, none of later" test "$(cut -c6-17 <<<"$output" | xargs)" = "0012000+5000 0022000+5000 0032000+5000"
done
output=$(shown perfetto part.perfetto)
check "perfetto: their stacks, too" says ' stack_samples=3$'
check "cupti-text: kernels by when they ran, calls also where they returned later" \
	test "$(grep -c '^CONCURRENT_KERNEL' part.cupti-text) $(grep -c '^RUNTIME.*DeviceSync' part.cupti-text)" = "3 3"
run export -f jsonl --pid 70 -o part every.grt
check "jsonl: rows of the selected process alone" cmp -s part <("$GRTRACE" dump --json --pid 70 every.grt)
run export -f csv --pid 70 -o part.csv every.grt
check "csv: the same" test "$(python3 -c 'import csv,sys; print(sum(1 for r in csv.reader(open("part.csv", newline=""))) - 1)')" = "$(wc -l <part)"
for format in csv jsonl; do
	run export -f $format --from 0.0000010 -o part cuda.grt
	check "$format: no rows from before --from but names" test "$(grep -c 'STRING\|PROCESS' part)" = 0
done
python3 - >long.json <<'END'
import json
name = "void kernel<" + "int, " * 700 + "int>()"
print(json.dumps({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 5,
    "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1}}]}))
END
run export -f chrome long.json -o part
check "chrome: a long name of a kernel is whole" test "$(jq -r '.traceEvents[] | select(.cat == "kernel") | .name' part)" = \
	"$(jq -r '.traceEvents[0].name' long.json)"
run export -f chrome --from +1s --to +2s all.grt
expect "nothing in this time" 2 'no event is between --from and --to'
output=$("$GRTRACE" export -f csv every.grt 2>err | head -n 1)
check "a reader that has seen enough" says '^time,cpu,type,flags,engine,'
if [ -c /dev/full ]; then
	output=$("$GRTRACE" export -f perfetto all.grt 2>&1 >/dev/full)
	status=$?
	expect "a full disk" 1 'cannot write to standard output: No space left'
fi
mkdir whole
echo before >whole/file
for format in chrome jsonl; do
	output=$("$GRTRACE_BUILD/tests/cli/interrupt_at" write "$GRTRACE" export -f $format -o whole/file all.grt 2>&1)
	status=$?
	check "$format: interrupted in the middle" exits 130
	check "$format: the file is as it was" grep -qx before whole/file
	check "$format: and nothing is beside it" test "$(ls whole)" = file
done
truncate -s -20 all.grt/kmod_1
run export -f perfetto -o cut.pftrace all.grt
expect "a cut recording is an error" 1 'all.grt/kmod_1: .* the last packet is cut'
output=$(shown perfetto cut.pftrace)
status=$?
expect "after its intact part" 0 'DRM_IOCTL_AMDGPU_CS'
run export --help
while IFS='|' read -r -d '|' format; do
	check "--help has $format" says "[ |]$format([ |]|$)"
done < <(sed -n 's/^GRT_EXPORT(\([a-z_]*\),.*/\1/p' "$GRTRACE_SRC/lib/export/exports.def" | tr '\n' '|')
plan
