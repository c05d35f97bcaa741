#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# grtrace rocm: bad input, a log and a trace of other tools, and a recording of a
# program that logs as the runtime does. Real functions of KFD: tests/vm/rocm.sh.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

skip() { # COUNT REASON
	for ((i = 0; i < $1; i++)); do
		checks=$((checks + 1))
		echo "ok $checks # SKIP $2"
	done
}

printf ':3:hip_module.cpp :658 : 78415276418 us: 6: [tid:0x7f2c] hipModuleLaunchKernel ( 0x1 )\n' >one.log
run report one.log
expect "the summary of its log says where to look" 0 "^1 event of AMD's runtime and of kernel functions: rocm report$"

run rocm
expect "no action" 2 'record and report'
run rocm forget
expect "an unknown action" 2 "'forget': there are record and report"
run rocm report
expect "report of nothing" 2 'no input'
run rocm report -i a --ftrace b
expect "a recording and a file" 2 '-i, or --amd-log and --ftrace'
run rocm report -i a b
expect "too much" 2 "unexpected 'b'"
run rocm report --amd-log a --level 7 -o x
expect "options of record" 2 'for record'
run rocm report --amd-log one.log --folded -
expect "two outputs on one" 2 'standard output: the report is written there$'
check "the message says what to type" says 'try: --folded calls.folded'
run rocm report --bogus
expect "an unknown option" 2 'unknown option --bogus'
run rocm record
expect "no program" 2 'no program given'
run rocm record --level 9 -- true
expect "a level that there is not" 2 '1 to 5'
run rocm record --functions 'a;b' -- true
expect "a list that is none" 2 "--functions=a;b: it is not a list of names separated by commas"
run rocm record -i x -- true
expect "options of report" 2 'for report'
run rocm record -o out.rocm -- no-such-program
expect "a program that there is not" 127 'cannot run no-such-program'
run rocm report --amd-log none.log
expect "no such file" 1 'none.log: cannot open'
: >empty.log
run rocm report --amd-log empty.log
expect "an empty file" 1 'empty'
printf 'this is\nno log\n' >text.log
run rocm report --amd-log text.log
expect "text of no form" 1 'no events'
printf '[    1.000000] NVRM: Xid (PCI:0000:01:00): 79, gone\n' >other.log
run rocm report --amd-log other.log
expect "text of another form" 1 'nothing to report'

# A log, and a trace of what the kernel did for it, whose clock is 100 s ahead:
# three queues, 250 us apart from each other's beginnings by more and more.
make_texts() {
	local i t
	for i in 0 1 2; do
		t=$((5000000 + i * i * 7000 + i * 3000))
		printf ':3:%-25s:%-4d: %010d us: [pid:812   tid: 0x7f00aa11bb40] %s\n' \
			hip_stream.cpp 293 $t ' hipStreamCreate ( 0x1 ) ' \
			rocdevice.cpp 2967 $((t + 10)) 'Number of allocated hardware queues with low priority: 0, with normal priority: 0, with high priority: 0, maximum per priority is: 4' \
			rocdevice.cpp 3048 $((t + 210)) "Created SWq=0x10 to map on HWq=0x2$i with size 16384 with priority 1, cooperative: 0" \
			hip_stream.cpp 308 $((t + 220)) 'hipStreamCreate: Returned hipSuccess : ' >>amd.log
		printf '  gemm-812  [001] .....   %d.%06d: kfd_ioctl_create_queue: (kfd_ioctl_create_queue+0x0/0x3c0 [amdgpu]) gpu_id=7 queue_type=2\n' \
			$((100 + (t + 20) / 1000000)) $(((t + 20) % 1000000)) >>ftrace.txt
		printf '  gemm-812  [001] .....   %d.%06d: allocate_mqd <-create_queue_cpsch\n' \
			$((100 + (t + 50) / 1000000)) $(((t + 50) % 1000000)) >>ftrace.txt
		printf '  gemm-812  [001] .....   %d.%06d: ret: (kfd_ioctl+0x2d1/0x510 [amdgpu] <- kfd_ioctl_create_queue) ret=%d queue_id=%d doorbell_offset=0x1000\n' \
			$((100 + (t + 190) / 1000000)) $(((t + 190) % 1000000)) $((i == 2 ? -22 : 0)) "$i" >>ftrace.txt
	done
}
make_texts
run rocm report --amd-log amd.log --ftrace ftrace.txt
expect "two files" 0 'clock_offset_ns +1000000000[0-9]{2}|clock_offset_ns +(99999[0-9]{6}|10000[0-9]{7})'
check "the report has the largest error of the offset" says 'off by at most [0-9]+ ns: 3 of 3 queues and buffers fit'
check "a creation with its ids, durations and result" \
	says '^ +1 +105\.0000[0-9]+ +812 +0x20 +0 +compute AQL +7 +0x1000 +[0-9.]+ us\* +170 us +[0-9.]+ us\* +0 +made$'
check "a queue creation that failed" says ' -22 +failed$'
check "a function with only its calls" says '^allocate_mqd +allocate MQD +3 +3 +0 +0 +- '
check "the answer about the MQD" says 'mqd +In the kernel, by KFD: allocated 3 times'
check "the answer about doorbells" says 'doorbells +No\. A doorbell is written by the program'
{ cat amd.log; echo "loss 0.25"; } >talk.log
run rocm report --amd-log talk.log
expect "the program's own lines are skipped, and counted" 0 "^amd_log +\\(the program's own lines\\) +1$"
check "without the kernel's trace, the kernel has no counts" says '^ +kernel_submits +- '
run rocm report --amd-log amd.log --ftrace ftrace.txt --clock-offset 100000000000
expect "an offset that is given" 0 'clock_offset_ns +100000000000'
check "without the kernel's trace, the error of the offset is unknown" says 'clock_error_ns +- +unknown'
run rocm report --amd-log amd.log --ftrace ftrace.txt --clock-offset soon
expect "an offset that is none" 2 "'soon' is neither a number of ns nor auto"
run rocm report --amd-log amd.log --clock-offset 5
expect "an offset of one file" 2 'two files'
grep kfd_ioctl_x ftrace.txt >nothing.txt
printf '  gemm-812  [001] .....   5.000001: kfd_open <-do_dentry_open\n' >nothing.txt
run rocm report --amd-log amd.log --ftrace nothing.txt
expect "nothing in both" 0 'assumes that both clocks are equal, with an unknown error: they share no queue'
run rocm report --amd-log amd.log --ftrace nothing.txt --clock-offset auto
expect "which is a failure where it was asked for" 1 'cannot find the offset'
sed 's/ret: .*//; s/kfd_ioctl_create_queue: .*/kfd_ioctl_create_queue <-kfd_ioctl/; /^  gemm-812  \[001\] \.\.\.\.\.   [0-9.]*: $/d' ftrace.txt >calls.txt
run rocm report --ftrace calls.txt
expect "calls without returns" 0 'start only$'
run rocm report --amd-log amd.log --ftrace ftrace.txt --timeline --relative
check "--timeline --relative begins at 0" says '^ +0\.000000000 \| hip +\| 812 hipStreamCreate\(0x1\)$'
check "--timeline has the kernel's events" says '\| kfd +\| 812 enter +kfd_ioctl_create_queue gpu_id=7 queue_type=2$'
# The first event is what the first creation is measured from.
sed 1d amd.log >plan.log
run rocm report --amd-log plan.log --ftrace ftrace.txt --clock-offset 100000000000 --relative
expect "stamps count from the first event" 0 '^ +from +0\.000000000$'
check "an event at time 0 counts" says '^ +1 +0\.000010000 .* 10\.0 us\*'
"$GRTRACE" rocm report --amd-log amd.log --ftrace ftrace.txt --json --timeline >lines.json
check "JSON and a time line: an object per event, the report as the last one" test "$(
	jq -r 'select(.type=="FUNC" and .function=="kfd_ioctl_create_queue" and .step=="entered") | .text' lines.json |
		grep -c '^gpu_id=7 queue_type=2$'),$(jq -s '.[-1].creations | length' lines.json)" = 3,3
"$GRTRACE" rocm report --amd-log amd.log --ftrace ftrace.txt --json >out.json
if command -v python3 >/dev/null; then
	check "it is JSON" python3 -c '
import json
r = json.load(open("out.json", encoding="utf-8"))
assert [c["result"] for c in r["creations"]] == [0, 0, -22], r["creations"]
assert abs(r["input"]["clock_offset_ns"] - 100000000000) <= r["input"]["clock_error_ns"], r["input"]
assert len(r["queues"]) == 3 and set(r["answers"]) >= {"order", "mqd", "kernel_queues", "doorbells", "path", "latency"}'
fi

# Pictures: calls by time, a track for each layer.
run rocm report --amd-log amd.log --folded calls.folded
expect "folded stacks of calls" 0 '^hipStreamCreate '
check "folded calls have the time without nested calls" test "$(cat calls.folded)" = "process 812;hipStreamCreate 660000"
run flame -i calls.folded -o calls.svg --unit ns
expect "are drawn" 0 ''
check "folded calls can be drawn" grep -q hipStreamCreate calls.svg
for of in amd.log ftrace.txt; do
	"$GRTRACE" export -f chrome -o layers.json $of 2>/dev/null
	cat layers.json
done | tr '{' '\n' >layers
output=$(cat layers)
check "export: a track of the runtime's calls" says '"name":"HIP calls of thread 0x7f00aa11bb40"'
check "export: slices of the runtime's calls" says '"ph":"B","cat":"hip","name":"hipStreamCreate"'
check "export: a track of the runtime's messages" says '"name":"AMD runtime"'
check "export: a track of the kernel's functions" says '"name":"kernel functions of thread 812"'
check "export: slices of the kernel's functions" says '"ph":"E","cat":"func","name":"kfd_ioctl_create_queue"'

# KFD's debugfs before and after.
mkdir kfd
words() { # OF FIRST PLACE=VALUE...: rows as the kernel prints them
	local of=$1 at=$2 i one v
	shift 2
	for ((i = 0; i < of; i++)); do
		v=$((0x1000 + i))
		for one; do
			[ "${one%=*}" != "$i" ] || v=${one#*=}
		done
		((i % 8)) || printf '%s    %08x:' "$([ "$i" = 0 ] || echo x)" $((at + 4 * i)) | sed 's/^x/\n/'
		printf ' %08x' "$v"
	done
	echo
}
{
	echo "Process 812 PASID 32769:"
	echo "  Compute queue on device 1a2b"
	words 512 0 0=0xc0310800 131=8 136=0x20 137=0x7f 145=0x50d
	echo "  Compute queue on device 7"
	words 128 0 0=0xc0310800 54=9 59=0x30 60=0x7f 68=0x50b
	echo "  Compute queue on device 99"
	words 256 0 0=0xc0310800
	echo "  SDMA queue on device 1a2b"
	words 128 0 0=0xc0310800
} >kfd/kfd_mqds.after
sed 's/00001007/00001008/' kfd/kfd_mqds.after >kfd/kfd_mqds.before
{
	echo "Node 1, gpu_id 1a2b:"
	echo "  CP Pipe 0, Queue 2"
	words 56 $((0xc914)) 3=0xa 8=0x40 9=0x7f 17=0x50d
	echo "Node 2, gpu_id 1b:"
	echo "  CP Pipe 0, Queue 2"
	words 56 $((0xc824)) 3=0xb 8=0x50 9=0x7f 17=0x50d
	echo "Node 3, gpu_id 1c:"
	echo "  CP Pipe 0, Queue 2"
	words 56 $((0xd000)) 3=0xb
} >kfd/kfd_hqds.after
cp kfd/kfd_hqds.after kfd/kfd_hqds.before
run rocm report --amd-log amd.log --debugfs kfd
expect "debugfs before and after: a descriptor of GFX8 to 12" 0 \
	'^mqds +Process 812 PASID 32769, Compute queue on device 1a2b +changed +512 +1 +0x7f0000002000 +65536 +0x50d +8$'
check "debugfs: an MQD of GFX7" says 'Compute queue on device 7 +changed +128 +1 +0x7f0000003000 +16384 +0x50b +9$'
check "debugfs: an MQD of an unknown ASIC is shown as raw words" says 'Compute queue on device 99 +changed +256 +1 +- +- +- +-$'
check "debugfs: an MQD of SDMA is shown as raw words" says 'SDMA queue on device 1a2b +changed +128 +1 +- +- +- +-$'
check "debugfs: registers of GFX7 to 9" says '^hqds +Node 1, gpu_id 1a2b, CP Pipe 0, Queue 2 +same +56 +0 +0x7f0000004000 +65536 +0x50d +10$'
check "debugfs: registers of GFX10 and 11" says '^hqds +Node 2, gpu_id 1b, CP Pipe 0, Queue 2 +same +56 +0 +0x7f0000005000 +65536 +0x50d +11$'
check "debugfs: registers of other ASICs are shown as raw words" says '^hqds +Node 3, .* +same +56 +0 +- +- +- +-$'

# A process with several queues on a device: each with a descriptor for each of four XCC, 2,048 words. A queue is told
# from the others by its ring: what is the same is the same, and what is gone takes nothing with it.
queue() { # RING FIRST-WORD-OF-ALL-DESCRIPTORS... of which the last is at place 300
	echo "  Compute queue on device 1a2b"
	for xcc in 0 1 2 3; do
		words 512 0 0=0xc0310800 128=$((0x100 + xcc + $1)) 131=8 136="$1" 137=0x7f 145=0x50d 300="${2:-0}"
	done
}
mkdir same moved
{ echo "Process 812 PASID 32769:" && queue 0x20 && queue 0x30 && queue 0x40; } >same/kfd_mqds.before
cp same/kfd_mqds.before same/kfd_mqds.after
cp same/kfd_mqds.before moved/
{ echo "Process 812 PASID 32769:" && queue 0x30 && queue 0x40 7 && queue 0x50; } >moved/kfd_mqds.after
states() { # DIR: ring, state, words changed
	"$GRTRACE" rocm report --amd-log amd.log --debugfs "$1" | awk '$1 == "mqds" { print $14, $11, $12, $13 }' | xargs
}
check "debugfs: three queues of one title, all the same" test "$(states same)" = \
	"0x7f0000002000 same 2048 0 0x7f0000003000 same 2048 0 0x7f0000004000 same 2048 0"
check "debugfs: a queue that was removed, one changed in each descriptor, and a new one" test "$(states moved)" = \
	"0x7f0000003000 same 2048 0 0x7f0000004000 changed 2048 4 0x7f0000005000 new 2048 2048 0x7f0000002000 gone 2048 2048"

# What the log says of faults, and what is none.
cp "$GRTRACE_SRC/tests/golden/amdlog/faults.log" .
run rocm report --amd-log faults.log
expect "faults: of the queue, of memory, of the GPU" 0 '^ +faults +4 +HSA_STATUS_ERROR_EXCEPTION: An HSAIL .*\.\.\.$'
check "the kernel at which the queue was aborted" says '^ +aborted_at +3 +_Z9bad_kernelPfi$'
check "other records of levels 0 and 1 are not faults" says '^ +error_records +2 +All Unique FDs are closed$'
check "the answer about faults" says '^ +faults +4, the first: .* A queue was aborted before it had completed _Z9bad_kernelPfi, and others\.$'

# Names that guides use, trace points that they add, and the dispatcher of ioctls, which is no further ioctl.
old() { # LINES as TIME FUNCTION AND WHAT FOLLOWS
	sed 's/^/ python3-812   [005] ..... 175037.10/' >old.txt
	run rocm report --ftrace old.txt
}
old <<'END'
4830: kfd_create_queue <-kfd_ioctl
4835: kfd_init_mqd <-kfd_create_queue
4900: amdgpu_amdkfd_map_gtt_bo_to_kcq <-kfd_create_queue
8315: kfd_doorbell_interrupt <-amdgpu_irq_dispatch
END
expect "functions by the names that guides have" 0 'KFD got requests for 1 queue\.$'
check "an MQD" says 'mqd +In the kernel, by KFD: allocated 0 times, initialised 1,'
check "a queue of the kernel" says '^ +kernel_queues +The kernel sent 1 packet or call'
check "a signal" says '^ +gpu_signals +1 '
functions() { # OPTIONS: the time and name of each function that is left
	output=$("$GRTRACE" rocm report --ftrace old.txt --timeline "$@" 2>&1 | sed -nE 's/^[0-9]*\.10([0-9]*)000 .* called ([a-z_]*) .*/\1 \2/p')
}
functions --from 175037.104835 --to 175037.104900
check "--from and --to: what is between, both included" test "$output" = $'4835 kfd_init_mqd\n4900 amdgpu_amdkfd_map_gtt_bo_to_kcq'
functions --from +5us --to -3415us
check "they count from the first event and the last" test "$output" = $'4835 kfd_init_mqd\n4900 amdgpu_amdkfd_map_gtt_bo_to_kcq'
run rocm report --ftrace old.txt --from +1s
expect "a time after the end" 2 'the inputs go from 175037.104830000 to 175037.108315000'
run rocm record --to 1 -- true
expect "record has no part of a trace" 2 'are for report'
old <<'END'
4830: kfd_create_queue <-kfd_ioctl
4835: kfd_init_mqd <-kfd_create_queue
4900: amdgpu_amdkfd_map_gtt_bo_to_kcq <-kfd_create_queue
8315: kfd_doorbell_interrupt <-amdgpu_irq_dispatch
END
check "a doorbell interrupt is not a step of the creation" test "$(grep -cE '^ +1 +[0-9.]+ us +(kfd|amdgpu)_' <<<"$output")" = 2
old <<'END'
4830: kfd_create_queue_start: queue_id=1
4850: kfd_mqd_init: queue_id=1 mqd_addr=0x7f00
4860: kfd_kcq_alloc: ring=comp_1.0.0 id=3
4990: kfd_create_queue_end: queue_id=1 mqd_addr=0x7f00
END
expect "trace points: a creation, from one to the other" 0 '^ +1 +175037\.104830000 +812 +- +1 +- +- +- +- +160 us +- +- +returned$'
check "with its steps" says '^ +1 +20\.0 us +kfd_mqd_init +initialise MQD '
check "and the mean" says 'Queue creation in KFD: 160 us on average of 1\.'
{
	for t in 4100 4200 4300 4400 4500; do
		echo "$t: kfd_ioctl <-__x64_sys_ioctl"
	done
	echo "4110: kfd_ioctl_create_queue <-kfd_ioctl"
	echo "4210: kfd_ioctl_alloc_memory_of_gpu <-kfd_ioctl"
	echo "4310: kfd_ioctl_map_memory_to_gpu <-kfd_ioctl"
	echo "4311: kfd_map_memory_to_gpu_start: pasid =7"
	echo "4312: kfd_map_memory_to_gpu_end: pasid =7"
	echo "4410: kfd_ioctl_get_version <-kfd_ioctl"
	echo "4510: kfd_ioctl_get_clock_counters <-kfd_ioctl"
} >five
old <five
expect "five ioctls are five" 0 'In the kernel: 1 queue creation, 2 memory ioctls, 2 other ioctls\.$'

# 24 kernels and 24 barriers: 48 doorbells wherever they are counted, 2 for a kernel; what has no stamp has no duration.
record() { # US MESSAGE; "-": a record without a stamp
	if [ "$1" = - ]; then
		echo ":4:rocvirtual.cpp :100 : $2"
	else
		printf ':4:rocvirtual.cpp           :100 : %010d us: [pid:812   tid: 0x7f00aa11bb40] %s\n' "$1" "$2"
	fi
}
launches() { # US OF THE FIRST, or "-" for none, STEP
	for i in {1..24}; do
		t=$([ "$1" = - ] && echo - || echo $(($1 + i * 100)))
		record "$t" "Command (KernelExecution) enqueued: 0x5$i"
		[ "$t" = - ] || t=$((t + 7))
		record "$t" "SWq=0x10, HWq=0x20, id=1, Dispatch Header = 0x1402 (type=2, barrier=0, acquire=2, release=2), setup=2, grid=[64, 1, 1], workgroup=[64, 1, 1], private_seg_size=0, group_seg_size=0, kernel_obj=0x30, kernarg_address=0x40, completion_signal=0x0"
		record "$t" "SWq=0x10, HWq=0x20, id=1, BarrierAND Header = 0x1503 (type=3, barrier=1, acquire=2, release=2), dep_signal=[0x0, 0x0, 0x0, 0x0, 0x0], completion_signal=0x0"
		record "$t" "Command 0x5$i complete"
	done
}
launches 5000000 >timed.log
run rocm report --amd-log timed.log
expect "doorbells: of all packets" 0 '^ +doorbells +48 '
check "also on the way" says ' -> 24 kernels written into user queues -> 48 doorbells for these and other packets '
check "for a kernel" says '^ +doorbells_per_submit +2(\.00)? '
check "from enqueued to dispatched" says '^0x30 +24 .* 7\.00 us +0 ns '
{ record 5000000 "a first one"; launches -; } >untimed.log
run rocm report --amd-log untimed.log
expect "records without a stamp have no durations" 0 '^0x30 +24 .* 0x20 +- +- +-$'
check "nor has the whole" says 'Enqueued to dispatched: unknown\. Dispatched to complete: unknown\.'

# A program that logs.
cat >logs <<'END'
#!/bin/sh
echo "its own output"
echo "its own errors" >&2
[ "$AMD_LOG_LEVEL" = 3 ] || exit 9
line=':3:hip_memory.cpp            :770 : 0000123456 us: [pid:4321  tid: 0x7f00aa11bb40]  hipMalloc ( 0x7ffe, 4096 ) '
if [ -n "$AMD_LOG_LEVEL_FILE" ]; then
	echo "$line" >"$AMD_LOG_LEVEL_FILE"
else
	printf 'before it' >&2
	echo "$line" >&2
	echo "and after" >&2
fi
exit 5
END
chmod +x logs
"$GRTRACE" rocm record --level 3 -o new/rec -- ./logs >out 2>err </dev/null
status=$?
output=$(cat out err)
check "record returns the program's status" exits 5
check "the program's output is its own" test "$(cat out)" = "its own output"
check "so are its errors" says '^its own errors$'
check "the log is in the output directory" grep -q hipMalloc new/rec/logs_amd_log.txt
check "the report is in the output directory" grep -q '^hipMalloc' new/rec/report.txt
check "the report has the counts of the log's lines" grep -q '^ *hostlog_text *form=amd_log lines=1 events=1 bad=0' new/rec/report.txt
output=$(GRTRACE=$GRTRACE sh new/rec/analyze.sh --timeline 2>&1)
check "analyze.sh makes the report again" says 'hipMalloc\(0x7ffe, 4096\)$'
run dump new/rec/recording
expect "the recording is as any other" 0 'LOG_CALL .*hipMalloc'
whole=0 begun=0
for ((i = 0; i < 8; i++)); do
	rm -rf cut
	timeout 0.5 "$GRTRACE" rocm record -o cut -- sleep 5 >out 2>err </dev/null
	# a busy machine may not have begun by then
	[ -e cut/recording/metadata ] || continue
	begun=$((begun + 1))
	whole=$((whole + $(test -s cut/report.txt && echo 1 || echo 0)))
done
output=$(cat err)
check "timeout sends two signals, and the report is still made" test $whole = $begun -a $begun -gt 0
"$GRTRACE" rocm record --level 3 --capture-stderr -o rec2 -- ./logs >out 2>err </dev/null
output=$(cat err)
check "--capture-stderr passes on the program's errors" says '^its own errors$'
check "--capture-stderr passes on text on the line of a record" says '^before it(and after)?$'
check "--capture-stderr: the log has only records" test "$(wc -l <rec2/logs_amd_log.txt) $(grep -c hipMalloc rec2/logs_amd_log.txt)" = "1 1"
check "the variables are not set in the recorder's own environment" test -z "${AMD_LOG_LEVEL-}"
# Lines of ROCr have another clock. A program that writes them with both clocks read around them is recorded; and a
# file of somebody else, whose clock drifts by 18 ppm: its lines lie within the bound that is told.
if command -v python3 >/dev/null; then
	cat >rocr.py <<'END'
import os, random, sys, time

def runtime(us, thread, text):
    return ":3:hip_memory.cpp            :770 : %010d us: [pid:812   tid: 0x%x] %s\n" % (us, thread, text)

def rocr(us, thread, text):
    return "amd_gpu_agent.cpp        :12  : %010d us: [pid:812   tid:0x%x] [***rocr***] %s\n" % (us, thread, text)

def live():
    with open(os.environ["AMD_LOG_LEVEL_FILE"], "w", encoding="utf-8") as out:
        for _ in range(101):
            a = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            raw = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            b = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            out.write(runtime(a // 1000, 0x7f00, " hipMalloc ( 0x7ffe, 4096 ) "))
            out.write(rocr(raw // 1000, 0x7f00, f"alloc {a} {b}"))
            time.sleep(0.002)

def foreign(t=5 * 10**12, ahead=1234567891):
    random.seed(7)
    for _ in range(307):
        thread = random.choice((0x7f00, 0x7f01))
        print(end=runtime(t // 1000, thread, " hipMalloc ( 0x7ffe, 4096 ) "))
        t += random.randrange(3000, 60000)
        print(end=rocr((t - ahead - (t - 5 * 10**12) * 18 // 10**6) // 1000, thread, f"alloc {t} {t}"))
        t += random.randrange(3000, 60000)
        print(end=runtime(t // 1000, thread, "hipMalloc: Returned hipSuccess : "))
        t += 10**6 * random.randrange(1, 20)

# The program's word of when it was, against the record's time, and what that says that it may be off by.
def look(slack):
    n = 0
    for line in sys.stdin:
        if " alloc " not in line.replace('"', " "):
            continue
        word = dict(w.split("=", 1) for w in line.split() if "=" in w)
        a, b = map(int, line.split('text="alloc ')[1].split('"')[0].split())
        s, ns = line.split()[0].split(".")
        t = int(s) * 10**9 + int(ns)
        off = max(a - t, t - b, 0)
        assert off <= int(word["second"]) <= slack, (line, off)
        n += 1
    print(n)

{"live": live, "foreign": foreign, "look": lambda: look(int(sys.argv[2]))}[sys.argv[1]]()
END
	"$GRTRACE" rocm record --level 3 -o rec5 -- python3 rocr.py live >out 2>err </dev/null
	output=$("$GRTRACE" dump rec5/recording | python3 rocr.py look 5000 2>&1)
	check "lines of ROCr have their time, to the microsecond" test "$output" = 101
	output=$(cat rec5/report.txt)
	check "the report says that lines were converted with snapshots" says '^ *101 lines of ROCr.* were converted with snapshots of both clocks: off by at most [0-9]+ ns$'
	check "the log has the snapshots" grep -q '^# grtrace clocks: monotonic=' rec5/python3_amd_log.txt
	python3 rocr.py foreign >foreign.log
	output=$("$GRTRACE" dump foreign.log | python3 rocr.py look 50000 2>&1)
	check "without snapshots, the times of ROCr's lines are within the printed error" test "$output" = 307
	run rocm report --amd-log foreign.log
	expect "a note has the number of lines" 0 '307 lines of ROCr.* were converted so that they fit between the records before and after them in the log: off by at most [0-9]{4,5} ns'
	grep rocr foreign.log >alone.log
	run rocm report --amd-log alone.log
	expect "without the runtime's they are not moved" 0 '307 lines of ROCr.* is unknown'
fi

# A container, by a stand-in for docker which runs the program in a namespace of pids; /proc stays the host's.
mkdir bin
cat >bin/podman <<'END'
#!/bin/sh
[ "$1 $2 $3 $4 $6" = "exec -e AMD_LOG_LEVEL=3 -e box" ] || exit 7
export AMD_LOG_LEVEL=3 "$5"
shift 6
exec unshare --user --map-root-user --fork --pid "$@"
END
cat >in_box <<'END'
#!/bin/sh
read -r outside _ </proc/self/stat
echo "$outside $$"
line=':3:hip_memory.cpp            :770 : 0000123456 us: [pid:%-5d tid: 0x7f00aa11bb40]  hipMalloc ( 0x7ffe, 4096 ) \n'
printf "$line" $$ >&2
printf "$line" 7777 >&2
sleep 0.5
exit "$AMD_LOG_LEVEL"
END
chmod +x bin/podman in_box
if unshare --user --map-root-user --fork --pid true 2>/dev/null; then
	PATH=$PWD/bin:$PATH "$GRTRACE" rocm record --level 3 --container box -o rec4 -- ./in_box >out 2>err </dev/null
	status=$?
	read -r outside inside <out
	check "a container runs the program, with the variable" exits 3
	check "and its log comes out of standard error as it is" grep -q "pid:$inside " rec4/in_box_amd_log.txt
	output=$("$GRTRACE" dump rec4/recording)
	check "its processes are those of the host in the recording" says "LOG_CALL +pid=$outside/0 "
	output=$(cat err rec4/recording/metadata)
	check "processes that were not found have no pid, and are counted" says '1 record belongs to processes of the container that were not'
	check "the recording has the translation of pids" says "hostlog_pids = \"$inside=$outside,7777=\?\""
else
	skip 5 "no namespaces for users: sysctl kernel.unprivileged_userns_clone=1"
fi

# By sudo, which the recorder stops being root for: what it made belongs to who asked.
if [ "$(id -u)" = 0 ]; then
	# the user must be able to go there
	place=$(TMPDIR=/tmp mktemp -d)
	chmod 755 "$place"
	SUDO_UID=65534 SUDO_GID=65534 "$GRTRACE" rocm record --level 3 -o "$place/by/sudo" -- ./logs >out 2>err </dev/null
	status=$?
	output=$(cat err "$place/by/sudo/report.txt")
	check "by sudo it returns the program's status" exits 5
	check "and has the log in its report" says '^hipMalloc'
	check "with sudo, all files belong to the user" test -z "$(find "$place/by" ! -uid 65534)"
	PATH=$PWD/bin:$PATH SUDO_UID=65534 SUDO_GID=65534 \
		"$GRTRACE" rocm record --level 3 --container box -o "$place/by/box" -- ./in_box >out 2>err </dev/null
	output=$("$GRTRACE" dump "$place/by/box/recording")
	check "who is no longer root still finds processes of a container" says "LOG_CALL +pid=$(cut -d' ' -f1 out)/0 "
	mkdir "$place/roots"
	SUDO_UID=65534 SUDO_GID=65534 "$GRTRACE" rocm record -o "$place/roots" -- touch "$place/ran" >out 2>err </dev/null
	status=$?
	output=$(cat err)
	expect "a directory of root is refused" 1 'cannot write into .*/roots: it does not belong to the user'
	check "before the program runs, and stays empty" test ! -e "$place/ran" -a -z "$(ls -A "$place/roots")"
	rm -rf -- "$place"
else
	skip 6 "not root: sudo tests/run tests/cli/rocm.sh"
fi
run record -e hostlog -o x.grt -d 1
expect "hostlog without a program" 1 'needs a program'
"$GRTRACE" rocm record -o rec3 -- true >out 2>err </dev/null
status=$?
output=$(cat err)
check "an empty recording is not an error" exits 0
check "a message says that the program logged nothing" says 'no log was written'
check "the report of an empty recording has its tables" grep -q '^kernel queues, user queues and doorbells$' rec3/report.txt
"$GRTRACE" rocm record --json -o rec3 -- true >out 2>err </dev/null
status=$?
output=$(cat err)
expect "a place of an earlier one is taken again" 0 'nothing to report'
command -v python3 >/dev/null &&
	check "an empty report as JSON is JSON" python3 -c 'import json; json.load(open("rec3/report.json"))["use"]'

# Files of the user's that have our names.
mkdir project
for name in report.txt ftrace.txt analyze.sh logs_amd_log.txt; do
	echo "mine" >project/$name
done
cp -r project project.was
run rocm record -o project -- ./logs
expect "a place that is not ours is refused" 1 'project: it is not empty, and no earlier rocm record made it$'
check "with what is in it left alone" diff -r project project.was
run rocm record -o rec6 --capture-stderr -- no-such-program
run rocm record --level 3 -o rec6 -- ./logs
expect "one that came to nothing is no hindrance" 5 'everything is in'

# A log that cannot be written to its end: what is missing is counted and told, what is there is whole.
cat >flood <<'END'
#!/bin/sh
awk 'BEGIN { for (i = 0; i < 2000; i++) printf ":3:hip_memory.cpp            :770 : %010d us: " \
	"[pid:4321  tid: 0x7f00aa11bb40]  hipMalloc ( 0x7ffe, %1500d ) \n", 123456 + i, i }' >&2
END
# Its standard error is closed by who reads it, which is not its log's end.
cat >talks <<'END'
#!/bin/sh
sleep 0.3
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "its own"
	echo ":3:hip_memory.cpp            :770 : 000012345$i us: [pid:4321  tid: 0x7f00aa11bb40]  hipMalloc ( 0x7ffe, 4096 ) "
done >&2
END
chmod +x flood talks
output=$(ulimit -f 600 && "$GRTRACE" rocm record --capture-stderr -o rec7 -- ./flood 2>&1 </dev/null)
status=$?
expect "a log that cannot be written is an error" 1 'rec7/flood_amd_log.txt, and events are missing: File too large$'
check "and what to type" says 'try: ulimit -f unlimited$'
read -r events lost < <(sed -n 's/.*hostlog_text = .* events=\([0-9]*\) bad=0 .* lost=\([0-9]*\) .* failed=27".*/\1 \2/p' \
	rec7/recording/metadata)
check "a full disk: missing records are counted" test "$((events + lost))" = 2000
check "a full disk: written records are complete" test "$(grep -c ' ) $' rec7/flood_amd_log.txt) $(wc -l <rec7/flood_amd_log.txt)" = "$events $events"
(trap '' PIPE && exec "$GRTRACE" rocm record --capture-stderr -o rec8 -- ./talks >out 2> >(exit) </dev/null)
check "the log continues if standard error is not read" test "$(grep -c hipMalloc rec8/talks_amd_log.txt)" = 10

# ftrace, by a stand-in for tracefs: the recorder finds its instance there already, with what is traced in it.
cat >on_tracefs <<'END'
#!/bin/sh
mount --bind "$PWD/tracefs" /sys/kernel/tracing || exit 99
mine=$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)
mv traced "tracefs/instances/grtrace-$$-$mine-$(stat -L -c %i /proc/self/ns/pid)"
exec "$GRTRACE" "$@"
END
chmod +x on_tracefs
new_tracefs() { # EVENTS
	rm -rf tracefs traced && mkdir -p tracefs/events tracefs/instances traced
	touch tracefs/kprobe_events traced/{tracing_on,trace_clock,buffer_size_kb,set_ftrace_filter,current_tracer}
	echo "kfd_create_process [amdgpu]" >tracefs/available_filter_functions
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "%1000s-812  [001] .....   5.%06d: kfd_create_process <-kfd_open\n", "gemm", i }' >traced/trace_pipe
}
on_tracefs() { # ARGS...
	output=$(unshare --user --map-root-user --mount ./on_tracefs "$@" 2>&1 </dev/null)
	status=$?
}
if [ -d /sys/kernel/tracing ] && unshare --user --map-root-user --mount true 2>/dev/null; then
	new_tracefs 0
	# Seven calls after tracing was switched on, each at its time.
	rm traced/trace_pipe && mkfifo traced/trace_pipe
	exec 8<traced/tracing_on 9<>traced/trace_pipe
	python3 -c "
import time
on, pipe = open(8), open(9, 'w')
while not on.read().startswith('1'):
    time.sleep(0.01)
    on.seek(0)
time.sleep(0.2)
for i in range(7):
    print('%1000s-812  [001] ..... %12.6f: kfd_create_process <-kfd_open' % ('gemm', time.monotonic()), file=pipe, flush=True)" &
	exec 8<&- 9<&-
	namespace=$(stat -L -c %i /proc/self/ns/pid)
	sleep 60 &
	runs=$!-$(sed 's/.*) //' /proc/$!/stat | cut -d' ' -f20)
	mkdir tracefs/instances/{grtrace-$$-1-$namespace,grtrace-$$-1-1,"grtrace-$runs-$namespace",others}
	on_tracefs record -e ftrace -o traced.grt -d 2
	expect "ftrace records into an instance that has our namespace in its name" 0 '[78] events, 0 lost'
	check "leftovers of a killed recorder in the same namespace are removed" test ! -e tracefs/instances/grtrace-$$-1-"$namespace"
	check "a message reports the removed leftovers" says 'removed leftovers of 1 killed recorder'
	check "the instance of a running recorder is kept" test -d "tracefs/instances/grtrace-$runs-$namespace"
	check "the instance of a recorder in another namespace is kept" test -d tracefs/instances/grtrace-$$-1-1
	kill $!
	new_tracefs 2000
	ulimit -S -f 600
	on_tracefs record -e ftrace -o cut.grt -d 0.5
	ulimit -S -f unlimited
	expect "a trace that cannot be written is an error" 1 'cannot write .*, and events are missing: File too large$'
	read -r events lost < <(sed -n 's/.*ftrace_text = .* events=\([0-9]*\) bad=0 .* lost=\([0-9]*\) .*/\1 \2/p' cut.grt/metadata)
	check "and what is missing counted" test "$((events > 0)) $((events + lost))" = "1 2000"
else
	skip 7 "no namespaces for users: sysctl kernel.unprivileged_userns_clone=1"
fi
plan
