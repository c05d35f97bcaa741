#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of processes from NVIDIA's driver without it: a program asks /dev/null at random, and keeps its own account.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
memory=$GRTRACE_BUILD/tests/cli/nv_memory
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0

run record -e nvmem --any-file -o run.grt -- true
need_bpf


count() { # REGEX
	"$GRTRACE" dump --type nv_memory run.grt | grep -cE -- "$1"
}

cause_of() { # END
	case $1 in
	free) echo 1 ;;
	clients | devices) echo 2 ;;
	close) echo 3 ;;
	*) echo 4 ;;
	esac
}
# Each end is a process with clients of its own; what it has at moments, by itself and by the recording.
# shellcheck disable=SC2016 # the shell's own
run record -e nvmem --any-file -o run.grt -- bash -c 'i=0
	for end in free clients devices close exit kill; do
		i=$((i + 1))
		"$1" -s $i -e $end -c $((0xc1d00000 + 16 * i)) >>moments
	done
	exit 0' bash "$memory"
expect "processes that end in all ways" 0 ' 0 lost'
"$GRTRACE" dump --json run.grt >events
check "126 moments: live bytes and blocks" test "$(python3 "$GRTRACE_SRC/tests/cli/nvmem/live.py" moments events)" = "126 moments agree"
i=0
for end in free clients devices close exit kill; do
	i=$((i + 1))
	of="client=$(printf '0x%x' $((0xc1d00000 / 16 + i)))"
	check "$end: all memory is freed, with the right cause" test "$(count "$of.*what=1 ")" = "$(count "$of.*what=2 ")" -a \
		"$(count "$of.*what=2 .* cause=$(cause_of $end) ")" -gt 0
done
"$GRTRACE" record -e nvmem --any-file -o run.grt -- "$memory" -s 7 >moments 2>/dev/null
check "allocations are observed, frees at the end of the process are inferred" test "$(count 'what=1 .*inferred')" = 0 -a \
	"$(count 'what=2 .*cause=4 .*inferred')" = "$(count 'what=2 .*cause=4 ')"

# The table's sums against the program's own, at the program's last moment but one line.
read -r last _ gpu host blocks < <(tail -n 1 moments)
run report --by gpu-memory --csv --to "$(printf '%d.%09d' $((last / 1000000000)) $((last % 1000000000)))" run.grt
check "report --by gpu-memory: live bytes of the GPUs, of the host, blocks" test "$(
	awk -F, -v OFS=' ' '$1 == "pid" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		at["pid"] { live[$at["kind"] == "host"] += $at["live"]; blocks += $at["blocks"] }
		END { print live[0], live[1], blocks }' <<<"$output")" = "$gpu $host $blocks"
run flame --weight live --to "$(printf '%d.%09d' $((last / 1000000000)) $((last % 1000000000)))" -o live.folded run.grt
check "flame --weight live: the same bytes" test "$(awk '{ n += $NF } END { print n }' live.folded)" = "$((gpu + host))"
check "flame --weight live: the memory of each GPU" grep -q '\[0000:c7:00.0_Memory driver\] [0-9]*$' live.folded
run flame --weight peak -o peak.folded run.grt
check "flame --weight peak: the memory of each GPU at its maximum" test "$(
	awk '/0000:c6/ { n += $NF } END { print n }' peak.folded)" = "$(
	"$GRTRACE" report --by gpu-memory --csv run.grt | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		/0000:c6/ { print $at["peak"] }')"
run timeline --json run.grt
check "timeline: a row for each GPU and the host" python3 -c 'import json, sys
rows = json.loads(sys.argv[1])["gpu_memory"]
assert [r.get("gpu") for r in rows] == ["0000:c6:00.0", "0000:c7:00.0", None], rows
assert all(0 < max(r["columns"]) <= r["peak"] for r in rows)' "$output"
run report --by gpu-memory --json run.grt
"$GRTRACE" export -f chrome -o run.json run.grt 2>/dev/null
check "export: a counter of the process for each GPU and the host, with the peaks of the report" python3 -c 'import json, sys
peaks = sorted(r["peak"] for r in json.loads(sys.argv[1])["gpu_memory"])
values = {}
for e in json.load(open("run.json"))["traceEvents"]:
    if e["ph"] == "C":
        values.setdefault(e["name"], []).append(int(*e["args"].values()))
assert sorted(map(max, values.values())) == peaks, (peaks, {k: max(v) for k, v in values.items()})
assert not any(v[-1] for v in values.values())' "$(sed -n '/^{/,$p' <<<"$output")"

run record -e nvmem --any-file -o run.grt -- bash -c "$memory -e share >moments; sleep 1.5"
first=$(head -n 1 moments)
second=$(tail -n 1 moments)
check "memory with two owners is counted once" test "$(count 'what=1 ') $(count 'what=3 .* handles=2')" = "3 2"
check "shared memory passes on when the first owner frees its handle" test "$(count "pid=$first/.*bytes=2097152 .*owner=$second .*what=4 .*handles=1 cause=1")" = 1
check "shared memory passes on when the first owner ends" test "$(count "bytes=1048576 .*owner=$second .*what=4 .*handles=1 cause=4")" = 1
check "shared memory is freed with the second owner" test "$(count "pid=$second/.*owner=$second .*what=2 .*handles=0 cause=4")" = 2
run report --by gpu-memory --csv run.grt
check "the largest memory of each owner" test "$(cell "$first" peak) $(cell "$second" peak)" = "7340032 3145728"

# What was there before, by a stand-in for NVML: process 4001 has 3 GiB.
export GRTRACE_SYSROOT=$PWD/sys
mkdir -p sys/usr/lib sys/proc/driver/nvidia
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1' >sys/proc/driver/nvidia/version
if "${CC:-cc}" -shared -fPIC -o sys/usr/lib/libnvidia-ml.so.1 "$GRTRACE_SRC/tests/cli/power/nvml.c"; then
	run record -e nvmem --any-file -o run.grt -- true
	expect "a recording with NVML" 0 ' 0 lost'
	run report --by gpu-memory --csv run.grt
	check "the memory of a process from before the recording" test "$(grep -c '^4001,.*0000:c7:00.0,before,3221225472,3221225472,' <<<"$output")" = 1
	check "no other memory of this process" test "$(grep -c '^4001,.*,other,,0,' <<<"$output")" = 1
	run flame --weight live -o live.folded run.grt
	check "memory from before the recording is in flame graphs, too" grep -q '^pid 4001;\[0000:c7:00.0_Memory before\] 3221225472$' live.folded
else
	ok "NVML # SKIP no compiler: apt-get install gcc"
fi

# One GPU: its events are those among all, and the rest is counted.
for i in 0 1; do
	mkdir -p "sys/proc/driver/nvidia/gpus/0000:c$((6 + i)):00.0"
	printf 'GPU UUID: \t GPU-aaaa-%s\nDevice Minor: \t %s\n' $i $i >"sys/proc/driver/nvidia/gpus/0000:c$((6 + i)):00.0/information"
done
events_by_bus() { # in the order of the program, without what differs from run to run
	"$GRTRACE" dump --json --type nv_memory run.grt | python3 -c '
import collections, json, sys
n = collections.Counter((e["bus"], e["what"]) for e in map(json.loads, sys.stdin) if e.get("bus") and e.get("client"))
print(*(f"{bus} {what} {k}" for (bus, what), k in sorted(n.items())), sep=";")'
}
"$GRTRACE" record -e nvmem --any-file -o run.grt -- "$memory" -s 7 >/dev/null 2>&1
all=$(events_by_bus)
check "events of both GPUs" test "$(tr ';' '\n' <<<"$all" | grep -c c6:00.0)" -gt 0 -a "$(tr ';' '\n' <<<"$all" | grep -c c7:00.0)" -gt 0
for word in GPU-aaaa-1 nvidia1 1 c7:00.0; do
	"$GRTRACE" record -e nvmem --any-file --device "$word" -o run.grt -- "$memory" -s 7 >/dev/null 2>&1
	check "--device $word: its memory" test "$(events_by_bus)" = "$(tr ';' '\n' <<<"$all" | grep c7:00.0 | paste -sd';')"
	others=$(grep -oE 'of_other_gpus=[0-9]+' run.grt/metadata)
	check "--device $word: the rest is counted" test "${others#*=}" = \
		"$(tr ';' '\n' <<<"$all" | grep -v c7:00.0 | awk '{ n += $3 } END { print n }')"
done
unset GRTRACE_SYSROOT

run record -e nvmem -o run.grt -- "$memory" -n 100
check "without --any-file a file that is not NVIDIA's has no events" test "$(count .)" = 0
sleep 60 &
run record -e nvmem --any-file -p $! -d 0.5 -o run.grt
kill $!
check "-p: no allocations of another process" test "$(count 'what=1 ')" = 0
plan
