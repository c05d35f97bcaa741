#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The filters that all reading commands have: the same events in each, and a reason where one cannot obey.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

if ! command -v jq >/dev/null; then
	echo "1..0 # SKIP no jq: apt-get install jq"
	exit
fi
"$GRTRACE_BUILD/tests/golden/report_traces" || exit 1
g=$GRTRACE

# Jobs of process 70, by hand: those of which an event names it (the SUBMIT of one is before the trace).
"$g" dump --json virtio.grt >all
jobs=$(jq -c 'select((.type | IN("SUBMIT", "START", "END")) and .pid == 70) | [.ctx, .seqno]' all | sort -u)
events=$(jq -c --argjson jobs "[$(paste -sd, <<<"$jobs")]" 'select(.ctx and ([.ctx, .seqno] as $j | $jobs | index([$j])) and
	(.type | IN("SUBMIT", "COMMIT", "START", "END", "COMPLETE"))) | [.time, .type, .ctx, .seqno]' all | sort)
check "there are some" test "$(wc -l <<<"$jobs") $(wc -l <<<"$events" | awk '{ print ($1 > 5) }')" = "4 1"

of_jobs() { # JSON LINES
	jq -c 'select(.type | IN("SUBMIT", "COMMIT", "START", "END", "COMPLETE")) | [.time, .type, .ctx, .seqno]' | sort
}
for command in "dump --json" "monitor drm --json -i" "annotate --all --json -i" "export -f jsonl"; do
	# shellcheck disable=SC2086
	check "${command%% *} --pid: the events of its jobs" test "$("$g" $command virtio.grt --pid 70 2>/dev/null | of_jobs)" = "$events"
done
check "report --pid: its jobs" test "$("$g" report --by job --json --pid 70 virtio.grt | jq -c '.jobs[] | [.ctx, .seqno]' | sort)" = "$jobs"
check "with the times that they have among all" test "$("$g" report --by job --json --pid 70 virtio.grt | jq -c '.jobs')" = \
	"$("$g" report --by job --json virtio.grt | jq -c '[.jobs[] | select(.pid == 70)]')"
check "timeline --pid: their time" test "$("$g" timeline --json --pid 70 virtio.grt | jq -c '[.processes[] | [.pid, .busy_ns]]')" = \
	"$("$g" timeline --json virtio.grt | jq -c '[.processes[] | select(.pid == 70) | [.pid, .busy_ns]]')"

# By name, of a thread or of its process, and by the ring's number or name.
for filter in "--comm game" "--comm render"; do
	# shellcheck disable=SC2086
	check "report $filter" test "$("$g" report --by job --json $filter virtio.grt | jq -c '.jobs[] | [.ctx, .seqno]' | sort)" = "$jobs"
done
for filter in "--ring 1" "--ring cursor"; do
	# shellcheck disable=SC2086
	for command in "dump --json" "export -f jsonl"; do
		check "${command%% *} $filter" test "$("$g" $command $filter virtio.grt 2>/dev/null |
			jq -c 'select(.type != "NAME") | [.time, .type]')" = "$(jq -c 'select(.ring == 1 and .type != "NAME") | [.time, .type]' all)"
	done
	# shellcheck disable=SC2086
	check "report $filter" test "$("$g" report --by ring --json $filter virtio.grt | jq -c '[.rings[].ring]')" = '[1]'
done

# What is not there: which are.
for command in report "report --by thread" "report --json" flame; do
	# shellcheck disable=SC2086
	run $command virtio.grt --ring gfx
	expect "$command --ring of no ring there is" 1 '^grtrace [a-z]*: virtio.grt: --ring gfx: the trace has no such ring; it has control \(0\), cursor \(1\)$'
done
run report virtio.grt --pid 75
expect "report --pid of no process there is" 1 ': --pid 75: the trace has no such process; it has game \(70\), desk \(80\)$'
run report virtio.grt --comm gam
expect "report --comm of none" 1 ': --comm gam: the trace has no such process; it has game'
run report virtio.grt --pid 75 -o nothing.html
check "and no page is written of nothing" test ! -e nothing.html

# By type and by time.
for command in "dump --json" "export -f jsonl" "annotate --all --json -i"; do
	# shellcheck disable=SC2086
	check "${command%% *} --type" test "$("$g" $command virtio.grt --type submit,complete 2>/dev/null | of_jobs)" = \
		"$(jq -c 'select(.type == "SUBMIT" or .type == "COMPLETE")' all | of_jobs)"
	# shellcheck disable=SC2086
	check "${command%% *} --from and --to" test "$("$g" $command virtio.grt --from +100us --to +500us 2>/dev/null | of_jobs)" = \
		"$(jq -c 'select(.time >= 10000100000 and .time <= 10000500000)' all | of_jobs)"
done
check "report --by type --type" test "$("$g" report --by type --csv --type submit virtio.grt | cut -d, -f1,3 | tr -d '\r' | xargs)" = \
	"type,events SUBMIT,$(jq -r 'select(.type == "SUBMIT") | .type' all | wc -l)"

# What is left out is counted.
run report --by type --pid 70 virtio.grt
check "the balance says how many were left out" test "$(awk '$1 == "left_out" { print $2 }' <<<"$output")" = \
	"$(($(wc -l <all) - $("$g" report --by type --pid 70 --csv virtio.grt | awk -F, 'NR > 1 { n += $3 } END { print n }')))"

# Who cannot obey says why.
refused() { # WHY COMMAND...
	run "${@:2}"
	expect "${*:2}: refused" 2 "$1"
}
refused '--type: jobs, threads and kernels are joined' report --type submit virtio.grt
refused '--type: bars show jobs' timeline --type submit virtio.grt
refused '--type: its weights are joined' flame --type submit virtio.grt
refused '--pid: an ioctl and its job are joined' merge --pid 70 virtio.grt
refused '--ring: channel groups are on runlists' sched --ring gfx -i virtio.grt
refused '--from: it works only with recordings' monitor drm --from 1
refused "'frob' is not an event type" monitor drm -i virtio.grt --type frob
run monitor drm --device 0000:09:00.0 -i virtio.grt
expect "monitor --device" 1 'no events of the GPU 0000:09:00.0'
run flame --device 0000:09:00.0 virtio.grt
expect "flame --device" 1 'no events of the GPU 0000:09:00.0'

# What threads did belongs to no GPU, and is why the only one of this recording was idle.
tar xf "$GRTRACE_SRC/examples/tutorials/late-frame.grt.tar.xz"
check "report --by idle --device" test "$("$g" report --by idle --csv --device 0 late-frame.grt)" = \
	"$("$g" report --by idle --csv late-frame.grt)"
check "with what threads did" test "$("$g" report --by idle --csv --device 0 late-frame.grt | grep -c ',runnable,')" -gt 0
for words in "" "--device 0"; do
	# shellcheck disable=SC2086 # words
	"$g" report $words -o "page$words.html" late-frame.grt && python3 "$GRTRACE_SRC/tests/cli/_page.py" "page$words.html" lanes >"lanes$words"
done
check "a page has the same lanes with --device of the only GPU" test "$(grep -c ^thread lanes)" -gt 1 -a "$(cat lanes)" = "$(cat "lanes--device 0")"
check "but dump --device leaves it out" test "$("$g" dump --device 0 late-frame.grt | grep -c OFF_CPU)" = 0
plan
