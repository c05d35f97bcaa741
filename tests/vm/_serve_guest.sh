#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What tests/vm/softgpu.sh runs in the guest: grtrace serve without root, beside the software GPU. The truth is what
# the GPU wrote of itself.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
player=$GRTRACE_BUILD/tools/softgpu-run
cd /tmp || exit 1
insmod "$GRTRACE_MODULES/grtrace_softgpu.ko" 2>/dev/null ||
	insmod "$GRTRACE_BUILD/kernel/grtrace_softgpu.ko" || skip_all "no grtrace_softgpu.ko"

page() { # FILE
	exec 3<>/dev/tcp/127.0.0.1/9738
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	sed '1,/^\r$/d' <&3 >"$1"
	exec 3>&-
}
value() { # NAME{LABELS}
	sed -n "s/^$1.* //p" page | head -1
}
# A user with the capabilities of the unit.
caps=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$GRTRACE_SRC/packaging/grtrace.service" | tr '[:upper:] ' '[:lower:]\n' |
	sed 's/^cap_/,+/' | tr -d '\n')
LD_LIBRARY_PATH=$GRTRACE_BUILD/tests/vm/lib setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
	--inh-caps="$caps" --ambient-caps="$caps" --bounding-set="$caps" "$GRTRACE" serve -e drm >said 2>&1 &
service=$!
for ((i = 0; i < 600; i++)); do
	! grep -q 'http://' said || break
	sleep 0.1
done
output=$(<said)
check "serve runs without root" says '^grtrace serve: http://127.0.0.1:9738/metrics$'
check "and keeps no capability" grep -qE '^CapPrm:.0000000000000000$' /proc/$service/status
printf '%s\n' '0 gfx 300us count=200 every=5ms' >workload
"$player" -q -o truth.csv workload
for ((i = 0; i < 1200; i++)); do
	page page
	[ "$(value 'grtrace_gpu_jobs_total{')" != 200 ] || break
	sleep 0.1
done
check "all jobs of the truth are counted" test "$(value 'grtrace_gpu_jobs_total{')" = 200 -a "$(wc -l <truth.csv)" = 201
check "by their process" test "$(value "grtrace_process_jobs_total{gpu=\"grtrace_softgpu\",pid=\"$(awk -F, 'NR == 2 { print $7 }' truth.csv)\",comm=\"softgpu-run\"}")" = 200
check "none failed" test "$(value 'grtrace_gpu_failed_jobs_total{')" = 0
# other programs take time away from the guest between the two
check "their time is the truth's but for a tenth" awk -F, -v got="$(value grtrace_gpu_job_exec_seconds_sum)" \
	'NR > 1 { sum += $15 - $14 } END { off = got * 1e9 - sum; print "# off by", off, "ns of", sum; exit !(off < sum / 10 && off > -sum / 10) }' truth.csv
kill $service
wait $service
check "and it ends" test $? = 0
rmmod grtrace_softgpu
plan
