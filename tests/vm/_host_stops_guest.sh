#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/host_stops.sh runs in the guest: a program draws beside a black box; from "# now" to "# seen" the host stops for 4 s now and then.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
mkdir -p /tmp/run && mount -t tmpfs tmpfs /tmp/run && cd /tmp/run || exit 1
mkfifo input
"$GRTRACE" record -e drm --stack=bpf --last 20 --after 0.5 --on 'job>2s,signal' --pause 1 -o box.grt -- \
	sh -c 'exec kmscube -c 1000000 <>input >/dev/null 2>&1' >said 2>&1 &
recorder=$!
# Stacks reach the program as soon as its tables are there, for which a machine that is emulated takes some seconds: until
# they do for half of the last ones.
taken=0
for ((i = 0; i < 40; i++)); do
	sleep 4
	"$GRTRACE" snapshot box.grt >/dev/null 2>&1 && taken=$((taken + 1))
	"$GRTRACE" flame "box.grt/snapshot_$(printf %06d $taken)" -o folded >/dev/null 2>&1
	! awk '/kmscube\+0x/ { there += $NF } { all += $NF } END { exit !(there > all / 2) }' folded || break
done
next=box.grt/snapshot_$(printf %06d $((taken + 1)))
check "before, no job takes so long" test ! -e "$next"
echo "# now"
for ((i = 0; i < 600; i++)); do
	[ ! -e "$next.threads" ] || break
	sleep 0.2
done
echo "# seen"
sleep 2
pkill kmscube
wait $recorder
output=$(cat said)
# the recorder stood still, too: it may read the job's end with its submit
check "the job is reported" says '^grtrace record: job: a job (is not|was) complete ([3-9]|[1-9][0-9]+)(\.[0-9]+)? s after its submit, process [0-9]+ kmscube, job [0-9]+:[0-9]+$'
job=$(sed -nE 's/.*kmscube, job ([0-9:]+)$/\1/p' said)
run report --incident "$next"
expect "report --incident" 0 "^job $job on ring control "
check "it was complete when the host went on" says '^  complete +[0-9.]+ [mun]?s (before|after)$'
check "its process is that which draws" says '^  process +[0-9]+ kmscube, '
check "its stack reaches the program's own code" says '^ +[0-9]+ kmscube\+0x'
check "one snapshot" test "$(compgen -G 'box.grt/snapshot_??????' | sort | tail -n 1)" = "$next"
plan
