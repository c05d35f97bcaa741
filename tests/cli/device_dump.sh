#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Heads of device dumps, in the forms that the drivers of several kernels write (amdgpu_dev_coredump.c of 6.7 and 6.11,
# xe_devcoredump.c of 6.8 and 6.13, i915_gpu_error.c of 4.9 and 6.9, msm_gpu.c of 6.12).

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# The part of the ring that the kernel prints as text: lines without a head.
registers() {
	for i in $(seq 0 4 400); do printf '0x%x \t 0x%x\n' "$i" $((i * 2654435761 % 4294967296)); done
}

{
	printf '**** AMDGPU Device Coredump ****\nversion: 1\nkernel: 6.7.0-amd-staging-drm-next\nmodule: amdgpu\n'
	printf 'time: 29.725011811\nprocess_name: soft_recovery_p PID: 1720\n\nRing timed out details\n'
	printf 'IP Type: 0 Ring Name: gfx_0.0.0\n\n[gfxhub] Page fault observed\n'
	printf 'Faulty page starting at address: 0x0000000000000000\nProtection fault status register: 0x301031\n\n'
	printf 'VRAM is lost due to GPU reset!\nRing buffer information\nring name: gfx_0.0.0\nOffset \t Value\n'
	registers
} >amdgpu.txt
{
	printf '**** Xe Device Coredump ****\nReason: Timedout job - seqno=4294967170, lrc_seqno=4294967170, guc_id=13, flags=0x0\n'
	printf 'kernel: 6.13.0-rc4\nmodule: xe\nSnapshot time: 1734522700.338229456\nUptime: 201.587315421\nProcess: vkcube [4711]\n'
	printf 'PCI ID: 0x56a0\nPCI revision: 0x08\n\n**** GT #0 ****\n\tTile: 0\n\n**** GuC CT ****\nH2G CTB\n\n**** Contexts ****\n'
	printf 'GuC ID: 13\n\tName: rcs13\n\tClass: 0\n\tLogical mask: 0x1\n\tJob: seqno=4294967170, fence=0, finished=0\n'
	printf '\n**** Job ****\nbatch_addr[0]: 0x00007f0000001000\n\n**** HW Engines ****\nrcs0 (physical), logical instance=0\n\tName: other\n'
} >xe.txt
{
	printf 'GPU HANG: ecode 12:1:0x85dffffb, in Xorg [1234]\nKernel: 6.9.3 x86_64\nDriver: 20230929\n'
	printf 'Time: 1718000000 s 123456 us\nBoottime: 5025 s 654321 us\nUptime: 5020 s 1 us\nCapture: 4299693536 jiffies; 5 ms ago\n'
	printf 'Active process (on ring rcs0): Xorg [1234]\nActive process (on ring bcs0): kwin wl [99]\nReset count: 0\n'
	printf 'Platform: TIGERLAKE\nPCI ID: 0x9a49\nbcs0 command stream:\n  CCID:  0x0\n  hung: 0\nrcs0 command stream:\n  CCID:  0x1\n  hung: 1\n'
	printf 'rcs0 --- HW context = 0x00000000 00001000\n:Gb0C~ascii85 text\n'
} >i915.txt
{
	printf 'GPU HANG: ecode 7:0:0x85dffffb, in compiz [2060], reason: Ring hung, action: reset\nTime: 1402412345 s 5 us\n'
	printf 'Kernel: 4.9.0\nActive process (on ring render): compiz [2060], score 40 (banned)\nReset count: 1\n'
} >i915-old.txt
{
	printf '%s\nkernel: 6.12.0\nmodule: msm\ntime: 1700000123.000000001\ncomm: chrome: gpu\ncmdline: /usr/bin/chrome --type=gpu-process\n' ---
	printf 'revision: 660 (6.6.0.1)\nfault-info:\n  - ttbr0=0000000080000000\n  - iova=0000001000000000\n  - dir=WRITE\n  - type=TRANSLATION\n  - source=CP\n'
	printf 'rbbm-status: 0x00000000\nringbuffer:\n  - id: 0\n    iova: 0x0000000001000000\n    last-fence: 12\n    retired-fence: 12\n'
	printf '  - id: 1\n    iova: 0x0000000002000000\n    last-fence: 4294967295\n    retired-fence: 4294967290\n    data: !!ascii85 |\n     zzzz\nbos:\n'
} >msm.txt

cat >facts.py <<'END_PY'
import json, subprocess, sys
rows = [json.loads(line) for line in subprocess.run([sys.argv[1], "dump", "--json", sys.argv[2]], capture_output=True, text=True, check=True).stdout.splitlines()]
for r in rows:
    if r["type"] == "ERROR":
        print("error", r["time"], r.get("ring_name", "-"), r.get("pid", "-"), r.get("comm", "-"), r["code"], "inferred" if "inferred" in r.get("flags", []) else "observed")
    elif r["type"] == "DUMP":
        print(r["key"], r["value"])
END_PY
facts() { # FILE
	output=$(python3 facts.py "$GRTRACE" "$1" 2>&1)
	status=$?
}
has() { # FILE LINE...
	local file=$1 line
	facts "$file"
	for line in "${@:2}"; do
		check "$file: $line" grep -qxF -- "$line" <<<"$output"
	done
}

has amdgpu.txt "error 29725011811 gfx_0.0.0 1720 soft_recovery_p 0 observed" "kernel 6.7.0-amd-staging-drm-next" \
	"process soft_recovery_p PID: 1720" "ring gfx_0.0.0" "fault_status 0x301031" "vram_lost due to GPU reset!"
has xe.txt "error 201587315421 rcs13 4711 vkcube 0 observed" "reason Timedout job - seqno=4294967170, lrc_seqno=4294967170, guc_id=13, flags=0x0" \
	"guc_id 13" "queue rcs13" "job seqno=4294967170, fence=0, finished=0" "time 1734522700.338229456"
has i915.txt "error 5025654321000 rcs0 1234 Xorg 2246049787 observed" "ecode 12:1:0x85dffffb" "platform TIGERLAKE" "active bcs0: kwin wl [99]"
has i915-old.txt "error 1402412345000005000 render 2060 compiz 2246049787 inferred"
has msm.txt "error 1700000123000000001 ring1 - - 0 observed" "process chrome: gpu" "fault_address 0000001000000000" "revision 660 (6.6.0.1)"

for dump in amdgpu xe i915 i915-old msm; do
	run report $dump.txt
	expect "report of $dump" 0 'heads of device dumps'
	check "$dump: every line was understood or is state" says 'bad +0 '
done
run report xe.txt
check "a sentence comes first" grep -qF \
	'a device of xe failed at 201.587315421: its dump names ring rcs13 with work of vkcube (PID 4711); reason: Timedout job' <<<"${output%%$'\n'*}"
run report --by dump --json amdgpu.txt
expect "the table as JSON" 0 '"key": *"ring", *"value": *"gfx_0.0.0"'
packed_alike amdgpu.txt xe.txt i915.txt msm.txt

# Cut anywhere and damaged: no crash, no other output than what remains.
for dump in amdgpu xe i915 msm; do
	for bytes in 40 90 130 200 300; do
		head -c $bytes $dump.txt >cut.txt
		"$GRTRACE" report cut.txt >out 2>err </dev/null
		status=$?
		output=$(cat out err)
		check "$dump cut after $bytes bytes is read or refused" test $status -le 1
	done
done
{ cat xe.txt; printf '\0\xff\xfe\n'; cat amdgpu.txt; } >both.txt
facts both.txt
check "two dumps in one file" test "$(grep -c '^error' <<<"$output")" = 2
printf '**** Xe Device Coredump ****\n' >empty.txt
facts empty.txt
check "a dump without a time" grep -qxF 'error 0 - - - 0 inferred' <<<"$output"
printf '**** AMDGPU Device Coredump ****\nmodule: amdgpu\nprocess_name: \033[31mred PID: 7\ntime: 1.000000001\n' >escape.txt
run report escape.txt
check "control characters of a name are escaped" test "$(tr -d '\n\t -~' <<<"$output" | wc -c)" -le 1

plan
