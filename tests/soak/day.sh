#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# day.sh BUILD DIR: recorders that are left on for a day, at low load, beside programs with a mock CUDA that take a step of
# 0.5 s after the other. `make soak` does not run it; HOURS says how long, 24 by default, and STEP_MS how long a step is: with
# HOURS=1 STEP_MS=20 there are as many steps as in a day. In DIR, which must not be there:
#
#   segments   a program that runs is recorded in segments of at most 4 MiB in all, which are deleted and made anew
#   attached   a program that runs is recorded into a black box
#   ranks      a black box starts two ranks, and keeps them from the first step to the last
#
# The recorders of the first two are killed and started again at random times, but for the last quarter. The triggers of
# the black boxes wait for steps and collectives that take 30 s, of which there are none: a snapshot is a fault. The ranks'
# end is an incident: what was dropped and what the snapshot has must be all that they did.
#
# Once a minute a line for each process is added to DIR/day.csv: resident memory, that of the library's file alone,
# descriptors, threads; for recorders what they have on disk, the events of the recording, lost ones, and snapshots. Every
# ten minutes the whole recording is read, and its oldest and newest closed segment by babeltrace2, too. Faults are in
# DIR/faults as soon as they are seen. At the end lines are fitted to the numbers of the CSV, with an offset for each
# process: what grew is a fault. Exit status 0: there was none.

set -u -o pipefail
usage="usage: [HOURS=24] [STEP_MS=500] day.sh BUILD DIR"
src=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
build=$(realpath -- "${1:?$usage}")
dir=$(realpath -m -- "${2:?$usage}")
seconds=$(awk -v hours="${HOURS:-24}" 'BEGIN { printf "%d", hours * 3600 }')
[ "$seconds" -ge 60 ] || { echo "day.sh: HOURS=${HOURS:-} is too short: at least 0.02" >&2 && exit 2; }
mkdir -- "$dir" && mkdir -- "$dir/home" "$dir/tmp" && cd "$dir" || exit 2
step=${STEP_MS:-500}
[[ "$step" =~ ^[1-9][0-9]*$ ]] || { echo "day.sh: STEP_MS=$step is not a number of milliseconds: at least 1" >&2 && exit 2; }
export HOME=$dir/home TMPDIR=$dir/tmp XDG_CONFIG_HOME=$dir/home XDG_CACHE_HOME=$dir/home LC_ALL=C.UTF-8
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GRTRACE_OUTPUT MOCK_LOG
export STEPS_NVTX="train step"
GRTRACE=$build/grtrace
library=$build/libgrtrace-cuda.so

at_most() { # NUMBER LIMIT
	echo $(($1 < $2 ? $1 : $2))
}
every=$(at_most 60 $((seconds / 60)))
look=$(at_most 600 $((seconds / 6)))
kept=$(at_most 60 $((seconds / 48 + 1)))
between=$((seconds / 20))
readonly BOUND=4194304

faults=0
fault() { # TEXT
	faults=$((faults + 1))
	echo "$(date -u '+%F %T'): $*" | tee -a faults >&2
}

# ---------------------------------------------------------------- processes

declare -A recorder=() program=() parent=()

begin_program() { # NAME
	local i
	STEPS_ALIKE=1 CUDA_INJECTION64_PATH=$library NVTX_INJECTION64_PATH=$library "$build/tests/inject/mock/steps" 1000000000 1 0 1 "$step" &
	parent[$1]=$!
	for ((i = 0; i < 3000; i++)); do
		program[$1]=$(pgrep -P ${parent[$1]} -x steps)
		[ -n "${program[$1]}" ] && "$GRTRACE" status --cuda | grep -q "^ *${program[$1]} .*asleep" && return
		sleep 0.1
	done
	fault "$1: the program does not begin"
}

begin_recorder() { # NAME
	local how=(-e cuda -o "$1.grt")
	case $1 in
	segments)
		how+=(-p "${program[$1]}" --max-size 4M --segment 256K)
		[ $((RANDOM % 2)) = 0 ] || how+=(--compress)
		;;
	attached) how+=(-p "${program[$1]}" --last "$kept" --on 'step>30s') ;;
	ranks)
		how+=(--last "$kept" --last-size 16M --on 'step>30s,collective>30s,exit-by-signal' --after 1)
		# shellcheck disable=SC2016 # of that shell
		how+=(sh -c 'STEPS_LOG=notes "$@"; kill -SEGV $$' sh "$build/tests/inject/mock/steps" $((seconds * 1000 / step)) 2 0 1 "$step")
		;;
	esac
	"$GRTRACE" record "${how[@]}" >>"$1.said" 2>&1 &
	recorder[$1]=$!
}

# What a recorder left is read; by babeltrace2, too, when the last packet has been mended.
end_recorder() { # NAME SIGNAL
	local left
	kill -"$2" ${recorder[$1]}
	wait ${recorder[$1]} 2>/dev/null
	[ "$1" = segments ] || return 0
	for left in "$1".grt/segment_*; do
		"$GRTRACE" mend "$left" >/dev/null 2>&1
	done
	read_all "$1 after SIG$2"
}

# --------------------------------------------------------------- recordings

has_names() { # RECORDING
	"$GRTRACE" flame "$1" 2>/dev/null | grep -q 'train_step.*forward'
}

# For babeltrace2, which does not know packed files.
unpack() { # DIR
	local file
	for file in "$1"/*_*; do
		[ "$(head -c 4 "$file" | od -An -tx1 | tr -d ' ')" = 572a4d18 ] || continue
		zstd -q -d -c "$file" >tmp/plain && mv tmp/plain "$file" || return
	done
}

read_all() { # WHAT
	local oldest newest
	"$GRTRACE" report segments.grt >report 2>&1 || fault "$1: report: $(tail -n 2 report | head -n 1)"
	grep -q 'is accounted for' report || fault "$1: not every event is accounted for"
	grep -q ' carried_lost=0"' segments.grt/metadata || fault "$1: definitions were dropped"
	# the last one may still be written, the first one may be deleted meanwhile
	oldest=$(compgen -G 'segments.grt/segment_*' | head -n 2 | tail -n 1)
	newest=$(compgen -G 'segments.grt/segment_*' | tail -n 2 | head -n 1)
	for segment in "$oldest" "$newest"; do
		cp -a "$segment" copy 2>/dev/null || continue
		"$GRTRACE" report copy >report 2>&1 || fault "$1: report of $segment: $(tail -n 2 report | head -n 1)"
		# what was defined hours ago
		has_names copy || fault "$1: $segment has no names"
		if [ -n "$babeltrace" ]; then
			unpack copy || fault "$1: zstd of $segment"
			babeltrace2 copy >text 2>report || fault "$1: babeltrace2 of $segment: $(tail -n 1 report)"
			[ "$(wc -l <text)" = "$("$GRTRACE" dump copy 2>/dev/null | wc -l)" ] || fault "$1: babeltrace2 sees other events of $segment"
		fi
		looks=$((looks + 1))
		rm -rf copy text
	done
}
looks=0
babeltrace=$(command -v babeltrace2)

# Events of a recording, and lost ones; `- -` where the report has no account, which is a fault by itself.
events_of() { # DIR
	local status
	"$GRTRACE" report --json "$1" >tmp/account 2>tmp/why
	status=$?
	python3 - tmp/account <<-'END' && return
		import json, sys
		try:
		    balance = json.load(open(sys.argv[1]))["balance"]
		except (ValueError, KeyError):
		    sys.exit(1)
		print(balance["emitted"], balance["lost"] + balance["missing"] + balance["unread"] + balance["unwritten"])
	END
	echo "- -"
	echo "$1: report --json ended with status $status after $(wc -c <tmp/account) bytes: $(head -n 1 tmp/why)" >tmp/no-account
}

# ------------------------------------------------------------------ numbers

# Resident memory, that of mappings of the library, descriptors and threads.
of_process() { # PID
	awk '/^[0-9a-f]+-[0-9a-f]+ / { mine = /libgrtrace-cuda/ } /^Rss:/ { all += $2; if (mine) library += $2 }
		END { printf "%d,%d,", all, library }' "/proc/$1/smaps" 2>/dev/null
	echo "$(find "/proc/$1/fd" -type l 2>/dev/null | wc -l),$(find "/proc/$1/task" -maxdepth 1 2>/dev/null | tail -n +2 | wc -l)"
}

tell() { # NAME PID [DISK EVENTS LOST SNAPSHOTS]
	kill -0 "$2" 2>/dev/null || return
	echo "$SECONDS,$1,$2,$(of_process "$2"),${3:-},${4:-},${5:-},${6:-}" >>day.csv
}

sample() {
	local name pid disk snapshots events lost
	for name in "${!recorder[@]}"; do
		kill -0 ${recorder[$name]} 2>/dev/null || continue
		disk=$(du -s -B1 $name.grt 2>/dev/null | cut -f1)
		snapshots=$(compgen -G "$name.grt/snapshot_*" | wc -l)
		events='' lost=''
		if [ $name = segments ] && [ -e segments.grt/metadata ]; then
			rm -f tmp/no-account
			read -r events lost <<<"$(events_of segments.grt)"
			[ ! -e tmp/no-account ] || fault "$(<tmp/no-account)"
			[ "${disk:-0}" -le $BOUND ] || fault "segments: $disk bytes on disk"
			[[ "$lost" =~ ^[0-]$ ]] || fault "segments: $lost events are lost"
		elif [ "$snapshots" != 0 ]; then
			fault "$name: a snapshot of no incident: $("$GRTRACE" report --incident $name.grt/snapshot_000001 2>&1 | head -n 1)"
			mv $name.grt/snapshot_* tmp/
		fi
		tell $name ${recorder[$name]} "$disk" "$events" "$lost" "$snapshots"
		for pid in $(pgrep -P ${recorder[$name]} -x grtrace-threads); do
			tell "$name: helper" $pid
		done
	done
	for pid in $(ranks); do
		tell "ranks: program" $pid
	done
	for name in "${!program[@]}"; do
		tell "$name: program" ${program[$name]}
	done
}

ranks() { # their pids
	local shell
	shell=$(pgrep -P ${recorder[ranks]} -x sh) && pgrep -P "$(pgrep -P "$shell" -x steps)" -x steps
}

# Each recorder that ended by itself is a fault.
all_run() {
	local name
	for name in "${!recorder[@]}"; do
		kill -0 ${recorder[$name]} 2>/dev/null && continue
		[ $name != ranks ] || { ranks_run='' && continue; }
		fault "$name: the recorder has ended: $(tail -n 2 $name.said | head -n 1)"
		begin_recorder $name
	done
}

# ---------------------------------------------------------------------- end

# All that the ranks did: in the last snapshot, and counted before it. A step has a copy, ten launches, one more in each
# seventh, and three ranges; before the first one there are 30 copies and a launch. A call is two records, its own and the GPU's.
ranks_whole() {
	local did have before
	did=$(awk '$1 == "step" { n += 2 * (11 + ($4 % 7 == 0)) + 3 } END { print n + 2 * 2 * 31 }' notes)
	have=$("$GRTRACE" dump -t launch,gpu_kernel,gpu_copy,range ranks.grt/snapshot_000001 2>/dev/null | wc -l)
	before=$(sed -nE 's/.*cuda_window = "[^"]* counted=([0-9]+).*/\1/p' ranks.grt/snapshot_000001/metadata)
	echo "ranks: $did records are due; $before are before the snapshot of their end, $have in it"
	has_names ranks.grt/snapshot_000001 || fault "ranks: the snapshot has no names"
	[ $((have + ${before:-0})) = "$did" ] || fault "ranks: $((have + ${before:-0})) records of $did"
}

finish() {
	local name
	wait ${recorder[ranks]}
	[ "$(compgen -G 'ranks.grt/snapshot_*')" = ranks.grt/snapshot_000001 ] || fault "ranks: $(compgen -G 'ranks.grt/snapshot_*' | wc -l) snapshots"
	[ ! -d ranks.grt/snapshot_000001 ] || ranks_whole
	"$GRTRACE" snapshot attached.grt >/dev/null || fault "attached: no snapshot when it was asked for one"
	"$GRTRACE" report attached.grt/snapshot_000001 2>&1 | grep -q 'every event is accounted for' || fault "attached: its snapshot is not whole"
	end_recorder attached INT
	end_recorder segments INT
	for name in segments attached; do
		kill ${program[$name]} || fault "$name: the program has ended"
		wait ${parent[$name]}
	done
	! grep -hE ', [1-9][0-9]* lost' ./*.said || fault "events were lost"
}

stop() {
	local programs
	mapfile -t programs < <(ranks)
	kill "${programs[@]}" "${recorder[@]}" "${program[@]}" "${parent[@]}" 2>/dev/null
}
trap stop EXIT
trap 'exit 1' INT TERM HUP
echo "seconds,what,pid,rss_kb,library_kb,descriptors,threads,disk,events,lost,snapshots" >day.csv
for name in segments attached; do
	begin_program $name
	begin_recorder $name
done
begin_recorder ranks

ranks_run=1 kills=0 now_look=$look now_kill=$((between / 2)) from=$SECONDS
while [ -n "$ranks_run" ]; do
	sleep "$every" &
	wait $!
	all_run
	sample
	if [ $((SECONDS - from)) -ge $now_look ]; then
		read_all "at $SECONDS s"
		now_look=$((now_look + look))
	fi
	if [ $((SECONDS - from)) -ge $now_kill ] && [ $((SECONDS - from)) -lt $((seconds * 3 / 4)) ]; then
		name=segments
		[ $((RANDOM % 2)) = 0 ] || name=attached
		signal=KILL
		[ $((RANDOM % 3)) != 0 ] || signal=INT
		end_recorder $name $signal
		begin_recorder $name
		kills=$((kills + 1))
		now_kill=$((SECONDS - from + between / 2 + RANDOM % (between + 1)))
	fi
done
finish
trap - EXIT
python3 "$src/_grew.py" day.csv $((seconds / 48)) "$step" || fault "something grew"
times >tmp/times
cpu=$(awk '{ gsub(/[ms]/, " "); s += $1 * 60 + $2 + $3 * 60 + $4 } END { print s }' tmp/times)
awk -v cpu="$cpu" -v s=$((SECONDS - from)) 'BEGIN { printf "%.1f h, %.2f %% of a processor\n", s / 3600, cpu / s * 100 }'
echo "$kills recorders were ended and started again, $looks segments were read, $faults faults"
[ $faults = 0 ]
