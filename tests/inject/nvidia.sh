#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda,nvsched,nvidia: a process's launches, its channel groups' lives, kernels and an Xid on one clock.
# alone
# shows: cuda library stand-in

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
export MOCK_LOG=$PWD/log
GRTRACE=$GRTRACE_PLAIN/grtrace
calls=$GRTRACE_BUILD/tests/cli/nv_calls
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3: tools/setup check" && exit 0; }

run record -e nvsched --include-failed -o x.grt -- true
need_bpf

# One process: it asks for its groups, keeps the file, and launches; then it is the culprit of an Xid, and launches
# again when the Xid is in the recording.
cat >program.sh <<'END'
until_there() { # COMMAND...
	for ((waited = 0; waited < 12000; waited++)); do
		! "$@" || return 0
		sleep 0.01
	done
	echo "not there after 120 s: $*"
}
launched() {
	[ "$(grep -c '^L' "$MOCK_LOG")" -ge 10 ]
}
xid_is_recorded() {
	"$GRTRACE" dump --type xid run.grt 2>/dev/null | grep -q "pid=$pid/"
}
NV_RUN="exec '$MOCK/app' gated 10" "$1" -c 0xc1d00019 -e run groups &
pid=$!
until_there launched
echo "NVRM: Xid (PCI:0000:c6:00): 31, pid=$pid, name=app, Ch 00000008, MMU Fault" >/dev/kmsg
echo $pid >pid
until_there xid_is_recorded
touch "$MOCK_GO"
wait
END
export MOCK GRTRACE MOCK_GO=$PWD/go
run record -e cuda,nvsched,nvidia --include-failed -o run.grt -- bash program.sh "$calls"
expect "three sources in one recording" 0 ' 0 lost in run.grt'
pid=$(cat pid)

count() { # TYPE [REGEX]
	"$GRTRACE" dump --type "$1" run.grt | grep -cE -- "${2:-}"
}
check "launches" test "$(count launch " pid=$pid/")" -ge 20
check "kernels" test "$(count gpu_kernel " pid=$pid/")" -ge 20
check "groups of the same process" test "$(count tsg_init " pid=$pid/") $(count tsg_destroy cause=4)" = "3 3"
check "one Xid, of it" test "$(count xid) $(count xid "pid=$pid/.* code=31 bus=0xc600")" = "1 1"
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'

cat >look.py <<'END'
import re, sys
pid, lines = sys.argv[1], sys.stdin.read().splitlines()
items = [m.groups() for m in (re.match(r"(\d+)\+(\d+) +(\w+) +\[([^]]*)\] (.*)", l) for l in lines) if m]
def of(kind, track, name):
    return [(int(t), int(t) + int(d)) for t, d, k, where, what in items
            if k == kind and re.search(track, where) and re.search(name, what)]
launches = of("slice", rf" {pid}/CUDA calls of thread", r"^cu\w*Launch")
lives = of("slice", rf" {pid}/channel groups", r"")
kernels = of("slice", rf" {pid}/CUDA device 0, stream", r"^kernel ")
xids = of("instant", r"Xid of 0000:c6:00.0", r"^Xid 31")
print(len(launches), len(lives), len(kernels), len(xids))
assert len(launches) >= 20 and len(lives) == 3 and len(xids) == 1
first, last = min(b for b, e in launches), max(e for b, e in launches)
assert all(b < first and e > last for b, e in lives), "the groups live as long as the process launches"
assert first < xids[0][0] < last, "the Xid is between launches"
assert len(kernels) >= 20 and all(first < b for b, e in kernels), "kernels begin after the first launch"
END
for format in perfetto chrome; do
	run export -f $format -o run.$format run.grt
	expect "$format" 0 '^grtrace export: run.grt: '
	output=$(python3 "$GRTRACE_SRC/tests/cli/_timeline.py" $format run.$format | tee shown.$format | python3 look.py "$pid" 2>&1)
	status=$?
	check "$format: another reader sees all on one clock" exits 0
done
plan
