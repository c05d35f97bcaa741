#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A recording that is bounded: what its directory takes while a stand-in for the module gives a known number of
# events, what is left of them, and that each segment can be read by itself.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# The most that the directory takes until a process has ended, as files have bytes and as the disk has blocks.
watch_size() { # DIR PID
	most=0
	while kill -0 "$2" 2>/dev/null; do
		for n in $(du -sb "$1" 2>/dev/null | cut -f1) $(du -s -B1 "$1" 2>/dev/null | cut -f1); do
			[ "$n" -gt "$most" ] && most=$n
		done
	done
	wait "$2"
	status=$?
}

# Runs a recording and watches its directory; `most` is the largest size.
watched() { # DIR ARGS...
	local dir=$1
	shift
	idle
	rm -rf "$dir"
	"$GRTRACE" record -o "$dir" "$@" >watched.out 2>&1 </dev/null &
	watch_size "$dir" $!
	output=$(<watched.out)
}

# Of a report in JSON: a field of the loss account.
account() { # DIR FIELD
	"$GRTRACE" report --json "$1" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["balance"]["'"$2"'"] or 0)'
}

# Deleted and kept are all that the module says it has delivered.
total_is_right() { # DIR
	[ $(($(account "$1" deleted) + $("$GRTRACE" dump "$1" 2>/dev/null | wc -l) + $(account "$1" after_end))) = \
		"$(sed -nE 's/.*kmod_balance = ".* delivered=([0-9]+) .*/\1/p' "$1/metadata")" ]
}

segments() { # DIR
	printf '%s\n' "$1"/segment_*
}

# babeltrace2 reads a segment, with as many events as dump.
agree_on() { # SEGMENT
	[ "$(babeltrace2 "$1" 2>/dev/null | wc -l)" = "$("$GRTRACE" dump "$1" 2>/dev/null | wc -l)" ]
}

# 2 CPUs of 130 packets with 1000 events each: at most 260000 events, 16.6 MB
fake_start 2 130 1000
watched run.grt -e kmod --max-size 4M sleep 1.5
expect "record --max-size" 0 '^grtrace record: [0-9.]+ MB, [0-9]+ events, 6 lost; [0-9.]+ MB kept in run.grt$'
check "the directory never passes the bound" test "$most" -le $((4 << 20))
check "the directory uses more than half of the bound" test "$(du -sb run.grt | cut -f1)" -gt $((2 << 20))
check "only the owner can read segments" test "$(stat -c %a run.grt/* run.grt/*/* | sort -u | tr '\n' ' ')" = '600 700 '
kept=$("$GRTRACE" dump run.grt | wc -l)
check "deleted and present events are all events of the module" total_is_right run.grt
check "the loss account includes deleted events" test "$(account run.grt closes) $(account run.grt lost)" = 'True 6'
run report run.grt
expect "so does report" 0 '^  deleted_segments +[0-9]+  segments that were deleted with them$'
sum=0
for s in $(segments run.grt); do
	sum=$((sum + $("$GRTRACE" dump "$s" | wc -l)))
done
check "the segments one by one have as many events as the whole recording" test $sum = "$kept"
run report "$(segments run.grt | head -n 1)"
expect "each is a complete recording" 0 '^every event is accounted for'
if command -v babeltrace2 >/dev/null; then
	check "babeltrace2 reads the oldest segment" agree_on "$(segments run.grt | head -n 1)"
	check "babeltrace2 reads the latest segment" agree_on "$(segments run.grt | tail -n 1)"
fi
first=$(sed -nE 's/.*kmod_window = "from=([0-9]+).*/\1/p' run.grt/metadata)
begin=$("$GRTRACE" dump --json run.grt 2>/dev/null | python3 -c 'import json, sys; print(min(json.loads(l)["time"] for l in sys.stdin))')
# an event may have the very stamp of the last one that was deleted, and then the next ns is whole
check "a message says since when the recording is complete" test "$first" -le $((begin + 1))

run record -e kmod -o run.grt sleep 0.2
check "the next recording replaces it" test "$status" = 0 -a -d run.grt.old/"$(basename "$(segments run.grt.old | head -n 1)")"
run record -e kmod -o run.grt sleep 0.2
check "the recording after that removes it with its segments" test "$status" = 0 -a -z "$(compgen -G 'run.grt.old/segment_*')"
mkdir -p run.grt/segment_000001 && touch run.grt/segment_000001/notes
run record -e kmod -o run.grt sleep 0.2
expect "a segment with other files is not removed" 1 'cannot replace run.grt'

fake_start 2 130 1000
watched packed.grt -e kmod --max-size 4M --compress sleep 1.5
expect "record --compress" 0 '[0-9]+ events, 6 lost'
check "a compressed recording stays below the bound, too" test "$most" -le $((4 << 20))
check "a compressed recording keeps more events" test "$("$GRTRACE" dump packed.grt | wc -l)" -gt "$kept"
check "compressed: deleted and present events are all events" total_is_right packed.grt
s=$(segments packed.grt | head -n 1)
if command -v zstd >/dev/null; then
	mkdir plain && cp "$s/metadata" plain/
	for f in "$s"/*.zst; do zstd -qdcf "$f" >"plain/$(basename "$f" .zst)" 2>/dev/null; done
	check "zstd decompresses a segment to an uncompressed segment" cmp <("$GRTRACE" dump "$s") <("$GRTRACE" dump plain)
fi
truncate -s -100 "$s/kmod_1.zst"
run report "$s"
expect "a packed file that is cut is read up to there, and reported" 1 'the last packed packet is cut after'
printf 'x%.0s' {1..4000} | dd of="$s/kmod_0.zst" bs=1 seek=600 conv=notrunc 2>/dev/null
run report "$s"
check "reading a damaged segment ends with an error" test "$status" = 1

# Killed while it writes.
fake_start 2 130 1000
rm -rf killed.grt
"$GRTRACE" record -e kmod --max-size 8M --segment 512K -o killed.grt >/dev/null 2>&1 </dev/null &
victim=$!
await '[ -d killed.grt/segment_000004 ]'
kill -9 $victim
wait $victim 2>/dev/null
run report killed.grt
# where it was killed in the middle of a packet, that one is cut, which is reported, and cut off on request
says 'the last packet is cut after .* its writer was killed' && { "$GRTRACE" mend killed.grt >/dev/null; run report killed.grt; }
expect "killed: what is there is a recording" 0 'the recorder did not finish this recording'
check "every event is accounted for" says '(accounted +yes|every event is accounted for)'
for s in $(segments killed.grt); do
	run report "$s"
	expect "killed: $(basename "$s") is one" 0 'accounted for'
done

# Read while its oldest segments are deleted, some ten a second. What a command has opened it reads to its end.
fake_start 2 1500 1000
rm -rf live.grt
"$GRTRACE" record -e kmod --max-size 4M --segment 256K -o live.grt >/dev/null 2>&1 </dev/null &
recorder=$!
for ((i = 0; i < 3000; i++)); do
	grep -q ' deleted=[1-9][0-9]* repeated' live.grt/metadata 2>/dev/null && break
	sleep 0.01
done
reads=0 moved=0 before=0
: >wrong
while [ $reads -lt 12 ]; do
	mkfifo slow
	"$GRTRACE" dump live.grt >slow 2>dump.err &
	reader=$!
	exec 8<slow
	rm slow
	for how in "report --json" "timeline" "export -f perfetto -o live.pftrace" "merge -o live.json"; do
		# shellcheck disable=SC2086
		"$GRTRACE" $how live.grt >live.out 2>live.err </dev/null || { echo "$how: $?" && cat live.err; } >>wrong
		[ "$how" != "report --json" ] || cp live.out account
	done
	wc -l <&8 >lines
	exec 8<&-
	wait $reader || cat dump.err >>wrong
	[ "$(($(<lines) % 1000))" = 0 ] || echo "dump: $(<lines) lines" >>wrong
	read -r closes deleted < <(python3 -c 'import json; b = json.load(open("account"))["balance"]; print(b["closes"], b["deleted_segments"])')
	[ "$closes" = True ] || echo "not every event is accounted for" >>wrong
	[ "$deleted" -le "$before" ] || moved=$((moved + 1))
	before=$deleted reads=$((reads + 1))
done
kill -INT $recorder
wait $recorder
output=$(<wrong)
check "a bounded recording is read while its segments are deleted" test ! -s wrong
check "segments were deleted meanwhile" test $moved -gt 3

fake_start 2 60 1000
run record -e kmod --compress -o whole.grt sleep 1
expect "record --compress without a bound" 0 '[0-9]+ events, 6 lost in whole.grt$'
check "--compress without a bound deletes no segment" test -e whole.grt/segment_000001
check "all events are in the recording" total_is_right whole.grt
check "compressed events take few bytes" test "$(cat whole.grt/segment_*/kmod_* | wc -c)" -lt $(("$("$GRTRACE" dump whole.grt | wc -l)" * 40))

fake_start 2 60 1000
run record -e kmod --max-time 0.2 -o aged.grt sleep 1
expect "record --max-time" 0 '[0-9]+ events, 6 lost; [0-9.]+ MB kept'
check "a bound by time: deleted and present events are all events" total_is_right aged.grt
fake_stop
unset GRTRACE_DEBUGFS

run record --max-size 1M true
expect "a bound that is too small" 2 '--max-size: at least 4M'
run record --max-size 8M --segment 4M true
expect "a segment of more than a quarter" 2 'a quarter of --max-size'
run record --compress --raw x true
expect "--compress has no raw form" 2 'segments need a directory'
run record --max-size 8M --raw x true
expect "--raw has no segments" 2 'segments need a directory'

# Names: each segment has the frames of the stacks in it.
run record -e sched -o probe.grt -- true
if [ "$status" = 0 ]; then
	# by the program as users have it: naming takes the sanitizers longer than a segment waits for it
	# threads of a busy machine sleep less often: more of it, then, until there are three segments
	for rounds in 6000 24000 96000; do
		# shellcheck disable=SC2034 # check() prints it
		output=$("$GRTRACE_PLAIN/grtrace" record -e sched --stack bpf --max-size 20M --segment 512K -o named.grt -- "$GRTRACE_BUILD/tests/cli/handoff" $rounds 500 2>&1)
		status=$?
		[ $status = 0 ] && [ "$(segments named.grt | wc -l)" -lt 3 ] || break
	done
	check "a bounded recording of threads" exits 0
	# a frame that is named later than a second has its name in the next segment
	mapfile -t list < <(segments named.grt)
	for i in 0 1 2; do
		for s in "${list[@]:i:2}"; do
			echo "segment $s"
			"$GRTRACE" dump "$s" 2>/dev/null
		done | python3 -c '
import re, sys
used, framed, n = set(), set(), 0
for line in sys.stdin:
    n += line.startswith("segment ")
    m = re.search(r" FRAME .* stack=(\d+) ", line)
    if m: framed.add(m[1])
    if n == 1: used.update(re.findall(r" user=(\d+)", line))
used.discard("0")
missing = sorted(used - framed)
sys.exit("without frames: %s" % missing[:5] if missing or not used else 0)' 2>named.err
		named=$?
		check "$(basename "${list[i]}") has the frames of its stacks" test $named = 0
		sed 's/^/# /' named.err
	done
fi

plan
