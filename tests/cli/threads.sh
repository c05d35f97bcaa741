#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Threads on and off the CPU: a program that spends known times, against the clocks of the kernel that it asks itself.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

# Not under the sanitizers, which have locks of their own.
cc=${CC:-cc}
threads=$PWD/threads
"$cc" -O1 -g -fno-omit-frame-pointer -pthread -D_GNU_SOURCE -o "$threads" "$GRTRACE_SRC/tests/cli/threads.c" || not_ok "threads is built"

run record -e sched -o run.grt -- true
need_bpf
expect "record -e sched" 0 'events, 0 lost in run.grt'

# What the program said of a thread, in ns.
told() { # THREAD FIELD
	sed -nE "s/^$1 .*$2=([0-9]+).*/\1/p" told
}

# What the report says of a thread: a column, in ns.
seen() { # THREAD COLUMN
	python3 - "$1" "$2" <<-'PY'
		import json, sys
		rows = [r for r in json.load(open("threads.json"))["threads"] if r["thread"] == sys.argv[1]]
		print(rows[0][sys.argv[2]] if len(rows) == 1 else "no such thread")
	PY
}

# Whether a <= b + slack: of two clocks, and of what lies between two readings of one.
at_most() { # A B [SLACK NS]
	[ "$1" -le $(($2 + ${3:-2000000})) ] || {
		echo "# $1 is more than $2" >&2
		false
	}
}

# Every thread's states add up to its life, which nothing is missing of.
whole() {
	python3 - <<-'PY'
		import json, sys
		rows = json.load(open("threads.json"))["threads"]
		states = "running polling runnable gpu display io lock sleep child other unknown".split()
		assert rows
		for r in rows:
		    assert sum(r[s] for s in states) == r["life"], r
		    assert r["lost"] == 0 and r["unknown"] == 0, r
	PY
}

# The graph's weights add up to the threads' lives, in all and by thread.
graph_is_whole() {
	python3 - <<-'PY'
		import collections, json
		lives, pids = collections.Counter(), collections.defaultdict(set)
		rows = json.load(open("threads.json"))["threads"]
		for r in rows:
		    pids[r["process"]].add(r["pid"])
		for r in rows:
		    # of several processes of a name each has its pid
		    process = r["process"] if len(pids[r["process"]]) == 1 else "%s (%d)" % (r["process"], r["pid"])
		    lives["%s;%s (%d)" % (process, r["thread"], r["tid"])] += r["life"]
		graph = collections.Counter()
		for line in open("graph.folded"):
		    stack, weight = line.rsplit(" ", 1)
		    graph[";".join(stack.split(";")[:2])] += int(weight)
		assert graph == +lives, (graph, lives)
	PY
}

look() { # OPTIONS... -- PROGRAM...
	idle
	output=$("$GRTRACE" record -e sched -o run.grt "$@" 2>&1 >told)
	status=$?
	"$GRTRACE" report --by thread --json run.grt >threads.json
}

check_times() {
	local name wait
	check "the states of a thread add up to its life" whole
	for name in asleep spinning locked reading; do
		check "$name: it lives at least as long as it thinks" at_most "$(told $name wall)" "$(seen $name life)"
		check "$name: it runs at least as long as its CPU clock says" \
			at_most "$(told $name cpu)" "$(seen $name running)" 5000000
	done
	check "asleep: as long as it asked for" at_most 300000000 "$(seen asleep sleep)"
	check "asleep: not longer than the call took" at_most "$(seen asleep sleep)" "$(told asleep wait)"
	for name in locked:lock reading:io; do
		wait=$(told ${name%:*} wait)
		check "${name%:*}: no longer than the call took" at_most "$(seen ${name%:*} ${name#*:})" "$wait"
		check "${name%:*}: all of the call that it did not run, or wait for a CPU" \
			at_most "$wait" $(($(seen ${name%:*} ${name#*:}) + $(seen ${name%:*} runnable) + $(seen ${name%:*} running)))
	done
	# a page that comes late, or the memory map's own lock, is some microseconds
	check "reading: no other wait" at_most "$(seen reading sleep)" 1000000
	check "locked: no other wait" at_most "$(($(seen locked sleep) + $(seen locked io)))" 1000000
	wait=$(($(seen spinning running) + $(seen spinning runnable)))
	check "spinning: it was running or runnable" at_most "$(told spinning wait)" $wait
	check "spinning: it never slept" at_most "$(seen spinning sleep)" 1000000
}

look -- "$threads" 300
expect "a program with threads" 0 '0 lost'
check_times
"$GRTRACE" report -o run.html run.grt
check "the lanes of the page have each state to the ns" diff \
	<(python3 "$GRTRACE_SRC/tests/cli/_page.py" run.html lanes |
		awk -F'\t' '$1 == "thread" { for (i = 6; i <= NF; i++) print $5, $i }' | sort) \
	<(jq -r '.threads[] | . as $t | ["running", "polling", "runnable", "gpu", "display", "io", "lock", "sleep",
		"child", "other", "unknown"][] | select($t[.] > 0) | "\($t.tid) \(.)=\($t[.])"' threads.json | sort)
check "the graph of the page by time adds up to the whole" \
	test -z "$(python3 "$GRTRACE_SRC/tests/cli/_page.py" run.html slots wall 2>&1)"
"$GRTRACE" flame --weight wall -o graph.folded run.grt 2>err
check "the graph's weights are the threads' lives" graph_is_whole
check "the sleeper's stack" grep -qE ';asleep \([0-9]+\);.*nanosleep;\[sleep\] ' graph.folded
check "the reader's stack" grep -qE ';reading \([0-9]+\);.*read;\[io\] ' graph.folded
check "what the spinner ran" grep -qE ';spinning \([0-9]+\);.*\[running\] ' graph.folded
check "there are samples" test "$("$GRTRACE" dump --type sample run.grt | wc -l)" -gt 3
run flame --weight wall --by process -o sum.folded run.grt
expect "--by process" 0 'ms of their time'
check "--by process: the sum of the weights is the same" test "$(awk '{s += $NF} END {print s}' sum.folded)" = "$(awk '{s += $NF} END {print s}' graph.folded)"
run report run.grt
expect "the summary says where threads are" 0 '^[0-9]+ records of what threads did: report --by thread, '
check "and has no empty tables" test "$(grep -c '^  none' <<<"$output")" = 0
run report --by thread run.grt
expect "report --by thread" 0 'locked .* spinning|spinning .* [0-9]+ ms'
check "every event is accounted for" says 'every event is accounted for'
if command -v babeltrace2 >/dev/null; then
	dumped=$("$GRTRACE" dump run.grt | wc -l)
	check "babeltrace2 sees as many events" test "$(babeltrace2 run.grt | wc -l)" = "$dumped"
fi

look --kernel-stack -- "$threads" 300 fork
expect "a program that forks, with kernel stacks" 0 '0 lost'
check_times
"$GRTRACE" flame --weight wall run.grt >graph.folded 2>err
check "the graph's weights are the threads' lives" graph_is_whole
check "kernel stacks end in the scheduler" grep -qE 'nanosleep.*;(__)?schedule;(.*;)?\[sleep\] ' graph.folded

look -F 0 --stack=none -- "$threads" 50
check "--frequency 0 takes no samples" test "$("$GRTRACE" dump --type sample run.grt | wc -l)" = 0
check "--stack=none takes no stacks" test "$("$GRTRACE" dump --type frame run.grt | wc -l)" = 0
check "without stacks and samples, the times are complete" whole

look --comm spinning -- "$threads" 50
"$GRTRACE" dump --type off_cpu,asleep run.grt >dumped
check "--comm: only this thread" test "$(sed 's/.* pid=\([0-9/]*\).*/\1/' dumped | sort -u | wc -l)" = 1
check "--comm: the thread has this name" grep -q '(spinning)' dumped

# Every system call to wait in, by everything that ends one: state, waker, and what was behind it.
look -F 0 --stack=none -- "$GRTRACE_BUILD/tests/vm/wakers"
"$GRTRACE" report --by wait --json --top 0 run.grt >waits.json
"$GRTRACE" dump --json run.grt >waits.dump
output=$(python3 "$GRTRACE_SRC/tests/vm/_wakers.py" told waits.json waits.dump 2>&1)
check "waits are named by who ended them, as the program says ($output)" grep -qxE '(24|27) waits' <<<"$output"

# Records a process until one of its threads sleeps; `begun` is there once the recording has begun.
record_until_asleep() { # PID THREAD OPTIONS...
	local recorder
	rm -rf run.grt begun
	"$GRTRACE" record -e sched -p "$1" "${@:3}" -o run.grt >out 2>&1 &
	recorder=$!
	window_begun run.grt
	touch begun
	await "grep -qs '($2) S ' /proc/'$1'/task/*/stat"
	kill -TERM $recorder
	wait $recorder
	status=$?
	output=$(cat out)
	kill "$1"
	wait "$1" 2>/dev/null
}

# A process that is there already, and one that the recording ends before.
(while [ ! -e begun ]; do sleep 0.05; done; exec "$threads" 600000 >/dev/null) &
record_until_asleep $! locked
expect "-p: a process that is there already" 0 '0 lost'
"$GRTRACE" report --by thread --json run.grt >threads.json
check "its states add up to what was seen of it" whole
check "a thread that sleeps at the end has its wait" test "$(seen locked lock)" -gt 0
check "its end is not in the trace" test "$("$GRTRACE" dump --type off_cpu,asleep run.grt | grep -c 'over=0')" -ge 3
"$threads" 600000 >/dev/null &
record_until_asleep $! locked --comm locked
check "--comm and -p: only this thread, from its first to its last record" \
	test "$("$GRTRACE" dump --type off_cpu,asleep,thread run.grt | grep -oE '\([a-z]+\)' | sort -u)" = "(locked)"
sleep 60 &
run record -e sched -d 1 -p $! -o run.grt
"$GRTRACE" report --by thread --json run.grt >threads.json
check "-p: one that sleeps all the time" at_most 900000000 "$(seen sleep sleep)"
check "by the call that it was in when it began" test "$(seen sleep unknown)" = 0
kill %%

# More stacks than find a place at a time: those that have been read make room for others.
"$cc" -O2 -fno-omit-frame-pointer -pthread -o many_stacks "$GRTRACE_SRC/tests/cli/many_stacks.c" || not_ok "many_stacks is built"
run record -e sched -F 0 -o run.grt -- ./many_stacks 8000
expect "8,000 different stacks are recorded" 0 '0 lost in run.grt'
told=$(sed -n 's/.*sched: \([0-9]*\) stacks are missing from their events.*/\1/p' <<<"$output")
"$GRTRACE" dump --json run.grt >run.json
# A recorder that gets no CPU makes no room.
most=$(awk -v cpus="$(nproc)" '{ print ($1 > cpus ? 1 : 0.03) }' /proc/loadavg)
output=$(python3 - "${told:-0}" "$most" 2>&1 <<-'PY'
	import json, sys
	frames, stacks = {}, []
	for line in open("run.json"):
	    e = json.loads(line)
	    if "index" in e and "symbol" in e:
	        frames.setdefault(e["stack"], {})[e["index"]] = e["symbol"]
	    elif e.get("call") in ("nanosleep", "clock_nanosleep"):
	        stacks.append((e["tid"] != e["pid"], e["time"] - e["start"], e.get("user")))
	def number(stack):
	    names = [frames[stack][i] for i in sorted(frames[stack])]
	    bits = [name == "one" for name in reversed(names) if name in ("zero", "one")]
	    assert len(bits) == 17, names
	    return sum(bit << i for i, bit in enumerate(bits))
	main = [stack for other, ns, stack in stacks if not other]
	numbers = [number(stack) for stack in main if stack]
	assert numbers == sorted(set(numbers)), "stacks are of other sleeps"
	assert max(numbers) > 4000, max(numbers)
	lost = sum(not stack for other, ns, stack in stacks)
	assert len(main) > 4000 and lost <= len(main) * float(sys.argv[2]), (lost, len(main))
	assert lost <= int(sys.argv[1]), (lost, sys.argv[1])
	long = [stack for other, ns, stack in stacks if other and float(ns) > 0.9e9]
	assert len(long) == 1 and "sleeper" in frames[long[0]].values(), long
PY
)
check "each with its sleep, few without, and the end says how many" silent

# Somebody else's files are read apart, when all is over: what reads one may die of it, and the others have their names.
echo 'void NAME(void (*fn)(void)) { fn(); __asm__ volatile(""); }' >library.c
library() { # NAME FILE
	"$cc" -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC -w -DNAME="$1" -o "$2" library.c
}
"$cc" -O1 -fno-omit-frame-pointer -w -o hostile "$GRTRACE_SRC/tests/cli/hostile_objects.c" -ldl && library good_call good.so &&
	library bad_call bad.so || not_ok "a program with libraries is built"
# Its symbol tables have 30 million symbols, which are zeros in a hole of the file.
python3 - bad.so 30000000 <<-'PY'
	import struct, sys
	path, n = sys.argv[1], int(sys.argv[2])
	b = bytearray(open(path, "rb").read())
	sections, number, end = struct.unpack_from("<Q", b, 0x28)[0], struct.unpack_from("<H", b, 0x3c)[0], len(b) + 4095 & ~4095
	for at in range(sections, sections + 64 * number, 64):
	    if struct.unpack_from("<I", b, at + 4)[0] in (2, 11):
	        struct.pack_into("<QQ", b, at + 24, end, 24 * n)
	f = open(path, "r+b")
	f.write(b)
	f.truncate(end + 24 * n)
PY
chmod 755 . good.so bad.so hostile

# What reads its names: the recorder's child that may call next to nothing, and builds no unwind tables.
reader() { # RECORDER
	local i child
	for ((i = 0; i < 1000; i++)); do
		kill -0 "$1" 2>/dev/null || return
		for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
			grep -q '^Name:.*unwind' "/proc/$child/status" 2>/dev/null && continue
			grep -q '^Seccomp:.*2' "/proc/$child/status" 2>/dev/null && echo "$child" && return
		done
		sleep 0.02
	done
}

# Records it; COMMAND is done while its files are read, with the reader's number in $child.
hostile() { # MAP-BYTES COMMAND...
	local program recorder child
	"$alone" ./hostile ./good.so ./bad.so 10000 "$1" &
	program=$!
	while kill -0 $program && ! grep -qs bad.so /proc/$program/maps; do
		sleep 0.02
	done
	"$GRTRACE" record -e sched -F 0 -p $program -d 0.5 -o run.grt >out 2>&1 &
	recorder=$!
	child=$(reader $recorder)
	kill $program
	wait $program 2>/dev/null
	caps=$(sed -n 's/^Cap\(Prm\|Eff\):\s*//p' "/proc/$child/status" 2>/dev/null | sort -u)
	"${@:2}" "$child"
	wait $recorder
	status=$?
	output=$(cat out)
	"$GRTRACE" flame --weight wall run.grt >graph.folded 2>err
}
as_nobody() {
	exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
alone=as_nobody
# so that it is cut off while it is mapped
cut() { # CHILD
	[ -n "$1" ] || return
	while kill -0 "$1" 2>/dev/null && ! grep -qs bad.so "/proc/$1/maps"; do
		sleep 0.01
	done
	truncate -s 4096 bad.so
}
hostile 0 cut
expect "a library is cut off while it is read" 0 '0 lost in run.grt'
check "the process that reads the object file has no capabilities" test "$caps" = 0000000000000000
check "frames without names are counted" says 'sched: [0-9]+ frames? of stacks without names: [0-9]+ because reading'
check "frames without names have their offset in the file" grep -q 'main;bad.so+0x[0-9a-f]*;' graph.folded
check "frames of other files have names" grep -q 'main;good_call;' graph.folded
check "code made at run time has names" grep -q 'main;jitted_code;' graph.folded

run record -e sched -d 1 -o run.grt
expect "without a program or process" 1 'no threads to follow.*|record -e sched -- PROG'
run record -e sched -F 1000000 -o run.grt -- true
expect "too many samples" 2 'at most 100000'
run flame --weight wall --by device run.grt
check "values for GPU time are refused for threads" exits 2
run flame --by thread run.grt
expect "nor theirs for the GPU" 2 'weight wall'
plan
