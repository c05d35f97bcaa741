#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Traces for Perfetto as an input: those that this program writes, and ones that protoc writes by Perfetto's field
# numbers, with slices of another producer and events of ftrace.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/report_traces" .
for kind in all gpu; do
	"$GRTRACE_BUILD/tests/cli/export_traces" $kind $kind.grt
done

encode() { # FILE: what is on standard input, as packets
	protoc --proto_path "$GRTRACE_SRC/tests/cli" --encode=Trace "$GRTRACE_SRC/tests/cli/_perfetto.proto" >"$1"
}

told() { # FILE VIEW FILTER
	"$GRTRACE" report --by "$2" --top 0 --json "$1" 2>err | jq -S "$3"
}

# ------------------------------------------------------- what was exported

for kind in rounds ranks drm all gpu; do
	run export -o $kind.pftrace $kind.grt
done
same() { # KIND VIEW FILTER
	check "$1: the same $2" test "$(told "$1.pftrace" "$2" "$3")" = "$(told "$1.grt" "$2" "$3")"
	check "$1: there are some" test "$(told "$1.pftrace" "$2" "$3" | wc -l)" -gt 5
}
for kind in rounds ranks; do
	same $kind kernel .kernels
done
# whose GPU it is by its place is not in the file
same gpu kernel '[.kernels[] | {kernel, process, calls, total, min, p50, max, latency_avg, latency_max}]'
# a job that has not ended is no slice
done_jobs='[.rings[] | {name, engine, exec_sum, exec_p50, exec_max, queue_p50, queue_max}]'
same drm ring "$done_jobs"
same all ring "$done_jobs"
packed_alike gpu.pftrace drm.pftrace
run dump gpu.pftrace
check "who had NVIDIA's GPU" says ' GPU_SLICE +pid=70/70 start=1100 context=0x0 begin=0 over=0 mig_gpu=255 mig_compute=0$'
check "who submitted a job, and when" says '^ +0.000001100 \[000\] SUBMIT .* pid=80/80 ctx=10 seqno=1'
check "a copy, its direction and its bytes" says ' GPU_COPY .* start=1300 end=1400 correlation=8 .* bytes=4096 kind=1 '
check "how a kernel was launched" says ' GPU_KERNEL .* start=1200 .* grid_x=8 grid_y=4 grid_z=2 block_x=128 block_y=2 block_z=1 registers=40 shared_static=1024 '
check "a wait" says ' GPU_SYNC .* start=1060 end=1410 correlation=9 kind=3 context=3 cuda_stream=9 '
"$GRTRACE" dump gpu.pftrace >dumped 2>err
gzip -k gpu.pftrace
zstd -q gpu.pftrace
for packed in gz zst; do
	"$GRTRACE" dump gpu.pftrace.$packed >again 2>err
	check "packed as .$packed" cmp -s dumped again
done
# as Perfetto's service packs some packets at a time
python3 - gpu.pftrace deflated.pftrace <<'END_PY'
import sys, zlib
def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
data = zlib.compress(open(sys.argv[1], "rb").read())
inner = varint(50 << 3 | 2) + varint(len(data)) + data
open(sys.argv[2], "wb").write(b"\x0a" + varint(len(inner)) + inner)
END_PY
"$GRTRACE" dump deflated.pftrace >again 2>err
check "packed by packets" cmp -s dumped again
run export -f chrome -o gpu.json gpu.pftrace
expect "it is exported again" 0 'gpu.pftrace: .* 2 jobs'
run flame gpu.pftrace
check "its GPU time" says '\[GPU_Kernel\]gemm 150$'

# ------------------------------------------------------ of other producers

# A render pass with a draw in it, and one that follows, of a Vulkan program; boot time is 1 s before the other clock.
encode other.pftrace <<'END'
packet { sequence: 7 clock_snapshot { clocks { id: 6 time: 5000000000 } clocks { id: 3 time: 4000000000 } } }
packet { sequence: 9 flags: 1 first: true interned {
  specifications { iid: 1 text: "Binner; 1=2" category: 1 } specifications { iid: 2 text: "pass" } specifications { iid: 3 text: "draw" }
  contexts { iid: 5 pid: 321 api: 2 } } }
packet { sequence: 9 flags: 2 timestamp: 5000001000 work { number: 1 duration: 900 queue: 1 stage: 2 context: 5 gpu: 0 } }
packet { sequence: 9 flags: 2 timestamp: 5000001100 work { number: 2 duration: 300 queue: 1 stage: 3 context: 5 gpu: 0 } }
packet { sequence: 9 flags: 2 timestamp: 5000002000 work { number: 3 duration: 500 queue: 1 stage: 2 context: 5 gpu: 0 } }
packet { ftrace { cpu: 2
  events { time: 5000010000 pid: 71 queue { name: "gfx_0.0.0" dev: "0000:03:00.0" context: 142 seqno: 1 client: 14 } }
  events { time: 5000020000 pid: 90 run { name: "gfx_0.0.0" dev: "0000:03:00.0" hw_job_count: 1 context: 142 seqno: 1 client: 14 } }
  events { time: 5000025000 pid: 71 fence_wait_start { driver: "drm_sched" timeline: "gfx_0.0.0" context: 142 seqno: 1 } }
  events { time: 5000030000 done { context: 142 seqno: 1 } }
  events { time: 5000031000 pid: 71 fence_wait_end { driver: "drm_sched" timeline: "gfx_0.0.0" context: 142 seqno: 1 } } } }
END
cat >other.txt <<'END'
           <...>-71      [002] ..... 4.000010000: drm_sched_job_queue: dev=0000:03:00.0, fence=142:1, ring=gfx_0.0.0, job count:0, hw job count:0, client_id:14
           <...>-90      [002] ..... 4.000020000: drm_sched_job_run: dev=0000:03:00.0, fence=142:1, ring=gfx_0.0.0, job count:0, hw job count:1, client_id:14
           <...>-71      [002] ..... 4.000025000: dma_fence_wait_start: driver=drm_sched timeline=gfx_0.0.0 context=142 seqno=1
           <...>-0       [002] ..... 4.000030000: drm_sched_job_done: fence=142:1 signaled
           <...>-71      [002] ..... 4.000031000: dma_fence_wait_end: driver=drm_sched timeline=gfx_0.0.0 context=142 seqno=1
END
run dump other.pftrace
check "other: a slice of a GPU is a job" says '^ +4.000001000 \[000\] START +ring=1\(Binner; 1=2\) .*pid=321'
check "other: its end" says '^ +4.000001900 \[000\] END '
check "other: a slice within another one is not a job" test "$(grep -c ' START .*Binner' <<<"$output")" = 2
check "other: ftrace's events, as their text has them" test "$(grep -E '\[002\]' <<<"$output" | sed 's/ring=[0-9]*//')" = "$(
	"$GRTRACE" dump other.txt 2>err | grep -E '\[002\]' | sed 's/ring=[0-9]*//')"
check "other: there are some" test "$(grep -c '\[002\]' <<<"$output")" -ge 4
encode counters.pftrace <<'END'
packet { sequence: 1 flags: 1 track { uuid: 1 name: "nothing of a GPU" } }
END
run report counters.pftrace
expect "nothing of a GPU" 1 'counters.pftrace: nothing to read in a trace for Perfetto: it has no work of a GPU'

# ---------------------------------------------------------------- hostile

size=$(stat -c %s gpu.pftrace)
head -c $((size - 3)) gpu.pftrace >cut.pftrace
run report cut.pftrace
expect "a cut file" 1 "cut.pftrace: byte [0-9]+: cannot read the packet of Perfetto there: the file ends in it"
check "what to type" says 'try: head -c BYTE cut.pftrace > FILE'
# a field whose number is 0, in a packet of its own
{ cat gpu.pftrace && printf '\x0a\x04\x50\x01\x00\x00' && cat gpu.pftrace; } >spoilt.pftrace
run report spoilt.pftrace
expect "a spoilt one" 1 "spoilt.pftrace: byte $size: cannot read the packet of Perfetto there: a field of it is cut or damaged"
{ cat gpu.pftrace && printf 'text' && cat gpu.pftrace; } >mixed.pftrace
run report mixed.pftrace
expect "no packet" 1 "mixed.pftrace: byte $size: .* it is no packet of Perfetto"
printf '\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x50\x01' >huge.pftrace
run report huge.pftrace
expect "one that says it is huge" 1 'huge.pftrace: byte 0: .* the file ends in it'
encode names.pftrace <<'END'
packet { sequence: 9 flags: 2 timestamp: 1 clock: 3 work { number: 1 duration: 9 queue: 1 stage: 2 kernel: 5 context: 5 name_iid: 8 launch { args { name_iid: 3 uint_value: 4 } } } }
packet { sequence: 9 flags: 2 timestamp: 1 clock: 99 work { number: 1 duration: 9 queue: 1 kernel: 3 } }
END
run report names.pftrace
expect "names that are not there, and a clock" 0 ' bad +[1-9]'
plan
