#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Parts of a trace: what commands say of a time and of a process, compared with sums over the numbers of random inputs.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }
for kind in jobs cuda; do
	for seed in 1 2 3 4; do
		check "$kind, seed $seed: each number" python3 "$GRTRACE_SRC/tests/cli/_windows.py" "$GRTRACE" $kind $seed
	done
done

# A job that lasts longer than the time looked at: the only one there is then.
cat >long.txt <<'TEXT'
[10.000000000] GPU SUBMIT ctx_id=0x10, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=70, tid=70, comm=app
[10.000200000] GPU START ctx_id=0x10, engine=graphics, ring=0, seqno=1, pid=70, tid=70
[10.000600000] GPU END ctx_id=0x10, engine=graphics, ring=0, seqno=1, pid=70, tid=70
[10.000601000] GPU COMPLETE ctx_id=0x10, engine=graphics, ring=0, seqno=1, status=0, pid=70, tid=70
TEXT
run report --by job --csv --from 10.0003 --to 10.0005 long.txt
check "it is shown, with its own times" test "$(cell 16 pid) $(cell 16 t_exec_ns) $(cell 16 time)" = "70 400000 10000000000"
run report --by ring --csv --from 10.0003 --to 10.0005 long.txt
check "its ring was busy all the time" test "$(cell 0 busy) $(cell 0 exec_sum)" = "100.000 400000"
whole=$output
output=$(cat long.txt | "$GRTRACE" report --by ring --csv --from 10.0003 --to 10.0005 - 2>&1)
check "of a pipe it is the same" test "$output" = "$whole"
run report --by ring --csv --from 10.0007 --to 10.0008 long.txt
check "but not of a time after it" exits 2

# One that never ends is there to the end of the trace; one whose end was lost, as a later one of its ring shows, is not.
cat >hang.txt <<'TEXT'
[10.000000000] GPU SUBMIT ctx_id=0x10, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=70, tid=70, comm=app
[10.000000100] GPU COMMIT ctx_id=0x10, engine=graphics, ring=0, seqno=1, pid=70, tid=70
[10.000100000] GPU SUBMIT ctx_id=0x11, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=80, tid=80, comm=bpp
[10.000100100] GPU COMMIT ctx_id=0x11, engine=graphics, ring=0, seqno=1, pid=80, tid=80
[10.000200000] GPU END ctx_id=0x11, engine=graphics, ring=0, seqno=1, pid=80, tid=80
[10.000200100] GPU COMPLETE ctx_id=0x11, engine=graphics, ring=0, seqno=1, status=0, pid=80, tid=80
[10.000300000] GPU SUBMIT ctx_id=0x12, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=90, tid=90, comm=cpp
[10.000300100] GPU COMMIT ctx_id=0x12, engine=graphics, ring=0, seqno=1, pid=90, tid=90
[10.000900000] GPU SUBMIT ctx_id=0x13, engine=graphics, ring=0, ring_name=gfx, seqno=1, pid=90, tid=90, comm=cpp
TEXT
pids() { # ARGS...
	"$GRTRACE" report --by job --csv "$@" hang.txt 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "pid") at = i; next } { print $at }' | sort -n | xargs
}
check "in the whole trace there are all" test "$(pids)" = "70 80 90 90"
check "in its middle those that may have run" test "$(pids --from 10.00015 --to 10.0002)" = "80"
check "later the one that has not ended" test "$(pids --from 10.0004 --to 10.0005)" = "90"
plan
