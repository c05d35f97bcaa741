#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/kernel/grtrace_wait in the virtual machine: real jobs, waits and a
# program on a GPU with 3D, real errors on one without; then what the report
# makes of the waits.
# shows: virtio_gpu module driver SUBMIT,END,COMPLETE,ERROR,COMMAND,SYNC_WAIT_ENTER,SYNC_WAIT_EXIT

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
program=/mnt/build/tests/kernel/grtrace_wait

# The time waited for each job, by the report, and by the records themselves.
report_waits() {
	local job
	echo "TAP version 13"
	"$GRTRACE_BUILD/grtrace" report -i "$work/out/waits.raw" --by job --top 0 --json >"$work/report.json" || {
		echo "not ok 1 - the packets can be reported"
		return
	}
	while read -r ctx seqno ns; do
		job=$(tr '{' '\n' <"$work/report.json" | grep "\"ctx\": *$ctx,.*\"seqno\": *$seqno,")
		case $job in
		*"\"t_gpu_wait_ns\": $ns,"*) ;;
		*) printf '# job %s:%s waits %s ns, the report has: %s\n' "$ctx" "$seqno" "$ns" "$job" && bad=1 ;;
		esac
	done <"$work/out/waits.txt"
	[ -n "${bad:-}" ] && printf 'not '
	echo "ok 1 - the report's t_gpu_wait of each job is the time from its ENTER to its EXIT"
	echo "1..1"
}

{
	guest --timeout 550 --out "$work/out" -- sh -c "echo 0 >/sys/class/graphics/fbcon/cursor_blink
		sh tests/vm/_guest.sh 'grtrace grtrace_virtio_gpu' '$program -o /out kmscube -c 300'"
	guest --no-3d --timeout 550 -- sh -c "echo 0 >/sys/class/graphics/fbcon/cursor_blink
		sh tests/vm/_guest.sh 'grtrace grtrace_virtio_gpu' '$program'"
	report_waits
} | join_tap
