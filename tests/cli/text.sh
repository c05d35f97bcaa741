#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What commands say of texts of other tools; the numbers are those that the texts have themselves.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# Whether the table or list under this title has a line that matches.
has() { # TITLE REGEX
	awk -v title="$1" '$0 == title { on = 1 } on && !NF { exit } on' <<<"$output" | grep -qE -- "$2"
}

# Whether no line matches.
lacks() { # REGEX
	! says "$1"
}

cat >nvidia.txt <<'END'
Attaching 18 probes...
Tracing NVIDIA GPU driver activity... Hit Ctrl-C to end.
TIME(ms)     EVENT              COMM             PID      GPU_ID   DETAILS
2627         IOCTL              monitor          759434   -        cmd=0xc020462a
38984        CLOSE              python           783815   -        GPU device closed
72427        OPEN               server           800150   -        GPU device opened
72427        CLOSE              server           800150   -        GPU device closed
72427        OPEN               server           800150   -        GPU device opened
72428        OPEN               server           800150   -        GPU device opened
72431        MMAP               server           800150   -        offset=0xffff968357d37140 size=...
72448        OPEN               server           800150   -        GPU device opened
72450        OPEN               server           800150   -        GPU device opened

========================================
  NVIDIA GPU Driver Statistics
========================================
Total ioctls:
@ioctl_count: 2779
Top ioctl callers:
@ioctls_per_process[monitor]: 2357
@poll_count: 24254
not of this
END
run monitor nvidia -i nvidia.txt
check "the first row is printed, with what it does not tell" \
	says '^ +2\.627000000 IOCTL +monitor +759434 .*cmd=0xc020462a fd=- arg=-$'
check "unknown values are not printed as numbers" lacks '2147483647|addr=0x0|length=0|flags=0x0'
check "the number of open files is opens minus closes" has "calls by process" '^800150 +server +5 +1 +4 '
check "monitor reports the line that it cannot use" \
	says '^1 line was not understood, the first is line 22: not of this$'
check "monitor says which command shows the script's sums" says '^3 values of counters: report$'
run report -i nvidia.txt
check "the script's sums" has counters 'ioctls_per_process\[monitor\] +1 +2357 .* 2357 *$'
check "and of polls, which have no row" has counters 'poll_count +1 +24254 '

cat >drm.txt <<'END'
 a-10 [000] ..... 10.000010: drm_sched_job_queue: dev=0000:01:00.0, fence=77:9, ring=gfx, job count:0, hw job count:0, client_id:4
 a-10 [000] ..... 10.000020: drm_sched_job_run: dev=0000:01:00.0, fence=77:9, ring=gfx, job count:0, hw job count:0, client_id:4
 b-11 [000] ..... 10.000031: drm_sched_job_queue: dev=0000:01:00.0, fence=99:1, ring=compute, job count:0, hw job count:0, client_id:5
 b-11 [000] ..... 10.000033: drm_sched_job_add_dep: fence=99:1 depends on fence=77:9
 i-0  [000] ..... 10.001040: drm_sched_job_done: fence=77:9 signaled
 i-0  [000] ..... 10.001041: dma_fence_signaled: driver=drm_sched timeline=gfx context=77 seqno=9
 w-12 [000] ..... 10.001050: drm_sched_job_run: dev=0000:01:00.0, fence=99:1, ring=compute, job count:0, hw job count:0, client_id:5
 i-0  [000] ..... 10.002050: drm_sched_job_done: fence=99:1 signaled
 i-0  [000] d.h1. 10.002060: ipi_entry: (Rescheduling interrupts)
END
run monitor drm -i drm.txt
check "a completion that is reported several times counts once" has "in total" '^  completions +2 '
check "a dependency is counted when it is added" has "in total" '^  dependencies +1 '
run dump drm.txt
check "words in brackets are not functions" lacks FUNC

cat >ibs.txt <<'END'
 a-10 [000] 812.000100001: amdgpu_cs_ioctl:      sched_job=17, timeline=gfx, context=105, seqno=1, ring_name=ffff91cb1ab1bdd0, num_ibs=3
 a-10 [000] 812.000200001: amdgpu_cs_ioctl:      sched_job=18, timeline=gfx, context=105, seqno=2, ring_name=ffff91cb1ab1bdd0, num_ibs=1
 a-10 [000] 812.000300001: amdgpu_cs_ioctl:      sched_job=19, timeline=gfx, context=105, seqno=3, ring_name=ffff91cb1ab1bdd0, num_ibs=3
END
run monitor amdgpu -i ibs.txt
check "three command buffers, twice" has "command buffers per submit" '^ +3 +2$'
check "one, once" has "command buffers per submit" '^ +1 +1$'

cat >both.txt <<'END'
 a-10 [000] 1.000001: i915_gem_object_create: obj=0xffff888100000001, size=0x3000
 a-10 [000] 1.000002: amdgpu_bo_create: bo=0xffff888100000002, pages=1, type=2, preferred=4, allowed=4, visible=0
 a-10 [000] 1.000003: i915_gem_object_create: obj=0xffff888100000003, size=0x1000
END
run monitor i915 -i both.txt
check "memory of i915 only" has "live memory objects" '^  created +2 '
check "its bytes" has "live memory objects" '^  created_bytes +16384 '
run monitor amdgpu -i both.txt
check "memory of amdgpu only" has "memory placement" '^  created_bytes +4096 '

cat >vblank.txt <<'END'
 <idle>-0 [003] d.h1. 100.010000: drm_vblank_event: crtc=0, seq=12345, time=100009990000, high-prec=true
 comp-400 [003] ..... 100.011000: drm_vblank_event_queued: file=0xffff888100000600, crtc=0, seq=12346
 <idle>-0 [003] d.h1. 100.028267: drm_vblank_event_delivered: file=0xffff888100000600, crtc=0, seq=12346
 <idle>-0 [003] d.h1. 100.028300: drm_vblank_event: crtc=0, seq=12346, time=100026660000, high-prec=true
END
run monitor vblank -i vblank.txt
# 100.028267 - 100.026660
check "an event may be delivered before its VBLANK is reported" \
	has "delivery of events" 'vblank-to-delivered +1 +1\.6[01]'

cat >start.log <<'END'
:3:rocdevice.cpp            :468 : 0123456789 us: [pid:4321  tid:0x7f00aa11bb40] Initializing HSA stack.
:3:rocdevice.cpp            :469 : 0123456790 us: [pid:4321  tid:0x7f00aa11bb40] Enumerated GPU agents = 1
END
run rocm report --amd-log start.log
expect "a log of the start only is one" 1 "of 2 lines, 2 are records of AMD's runtime"

yes '[  100.000000] usb 1-1: something else' | head -8201 >kern.log
run report -i kern.log
check "skipped messages are counted" says '^  skipped +8201 '
check "a message says that no line has an event" says 'none of the 8201 lines has an event'

cat >errors.log <<'END'
[  100.000000] amdgpu 0000:28:00.0: ring gfx_0.0.0 timeout, signaled seq=57638, emitted seq=57641
[  101.000001] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  102.000000] nvidia-nvswitch3: SXid (PCI:0000:89:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
END
run report -i errors.log
check "errors of a driver without jobs are reported beside the jobs of another driver" \
	says '^Xid 79 on GPU 0000:01:00.0 at 101.000001000: '
check "errors of an NVSwitch are reported" says '^SXid 20034 on 0000:89:00.0 at 102.000000000$'
run report --json -i errors.log
check "JSON has the sentence about the error, too" says '"Xid 79 on GPU 0000:01:00.0 at 101.000001000: '

# A recording of more files than the soft limit allows.
mkdir many.grt
"$GRTRACE_BUILD/tests/cli/traces" job one.grt
cp one.grt/metadata many.grt/
stream=$(find one.grt -type f -name '*_0' | head -n 1)
name=$(basename "${stream%_0}")
for i in $(seq 300); do
	cp "$stream" "many.grt/${name}_$i"
done
output=$( (ulimit -S -n 256 && "$GRTRACE" report -i many.grt) 2>&1)
status=$?
check "more files than the soft limit allows are read" exits 0

run report --by kernel "$GRTRACE_SRC/tests/golden/examples/cupti-sample.txt"
check "kernels of CUPTI text have demangled names" says '^demo +1 '

echo "1..$checks"
