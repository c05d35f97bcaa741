#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# attach.sh BUILD [PYTHON]: a PyTorch loop that runs is recorded many times, with the library from its start
# (asleep) and without it (attached). It needs a card, CUPTI 12.6 or later, PyTorch, and root or ptrace_scope 0.
# Prints iterations/s before, in and after the windows, how long a thread stood still at most, and whether the
# results are bit-identical. Exit status 0: as they should be.
#
# LOOPS="sync item graph many": many attaches CYCLES times for WINDOW seconds (1) to a loop that waits for the device, and
# then lets it and a loop that was never attached run in turns on one processor, TURNS times (30) for 0.8 s each while the
# other is stopped. LOOPS=pairs, on two GPUs: PAIRS times (16), two loops run at once, each on its GPU, and one of them, in
# turns the one and the other, is attached for WINDOW seconds (1): how its steps/s after that compare with those before, by
# the other one's, which share the moods of the machine.

set -u
here=$(realpath -- "$(dirname -- "$0")")
build=$(realpath "${1:?attach.sh BUILD [PYTHON]}")
python=${2:-python3}
cycles=${CYCLES:-20}
dir=$(mktemp -d)
trap 'kill -CONT $pid 2>/dev/null; kill $pid 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
pid=
failed=0

cat >loop.py <<'END'
import os, sys, time, torch

# "sync" waits for the device in each step, "item" for a stream alone, "graph" replays a CUDA graph
how = sys.argv[1]
torch.manual_seed(1)
torch.use_deterministic_algorithms(True, warn_only=True)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)]).cuda()
x = torch.randn(64, 256, device="cuda")
y = torch.zeros_like(x)
if how == "graph":
    with torch.no_grad():
        for _ in range(3):
            net(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = net(x)
ends, n, first = open("steps", "w"), 0, None
while not os.path.exists("go"):
    if how == "graph":
        graph.replay()
    else:
        with torch.no_grad():
            y = net(x)
    if how == "item":
        y.sum().item()
    else:
        torch.cuda.synchronize()
    n += 1
    if n % 20 == 0:
        ends.write(f"{time.monotonic():.6f} {n}\n")
        ends.flush()
    if first is None:
        first = y.clone()
    elif n % 500 == 0 and not torch.equal(first, y):
        print("DIFFERENT at", n, flush=True)
        sys.exit(1)
print("same", n, y.double().sum().item().hex(), flush=True)
END

# Steps in a second between two moments of CLOCK_MONOTONIC, of the quickest tenth: a machine that others use
# is now and then slower by a third for many seconds.
rate() { # FROM TO
	awk -v a="$1" -v b="$2" '$1 >= a && $1 <= b { if (t) print $1 - t; t = $1 }' steps | sort -g |
		awk '{ s[NR] = $1 } END { n = int(NR / 10); for (i = 1; i <= n; i++) sum += s[i]; if (n) printf "%.1f", 20 * n / sum; else print "-" }'
}
now() { "$python" -c 'import time; print(time.monotonic())'; }

scene() { # HOW ASLEEP|ATTACHED
	local a b c d i before longest within after gone
	rm -f go steps out
	if [ "$2" = asleep ]; then
		CUDA_INJECTION64_PATH=$build/libgrtrace-cuda.so NVTX_INJECTION64_PATH=$build/libgrtrace-cuda.so "$python" loop.py "$1" >out 2>&1 &
	else
		env -u CUDA_INJECTION64_PATH "$python" loop.py "$1" >out 2>&1 &
	fi
	pid=$!
	until [ -s steps ] || ! kill -0 $pid; do sleep 0.1; done
	sleep 3
	a=$(now) && sleep 5 && b=$(now)
	before=$(rate "$a" "$b")
	awk '{ print $2, $6 }' /proc/$pid/maps | grep / | grep -vE 'grtrace|cupti|nvperf' | sort -u >maps.before
	for ((i = 0; i < cycles; i++)); do
		c=$(now)
		"$build/grtrace" record -e cuda -p $pid -d 2 -o c.grt >said 2>&1 || { cat said; failed=1; break; }
		d=$(now)
		[ $i = 0 ] && cat said && within=$(rate "$c" "$d")
		longest=$(sed -n 's/.*threads for at most \([0-9.]*\) ms.*/\1/p' said | head -n 1)
		[ -z "$longest" ] || echo "# longest stop: $longest ms"
	done
	grep -h 'CUPTI stays' said
	"$build/grtrace" report c.grt | head -n 3
	kernels=$("$build/grtrace" report --json c.grt | "$python" -c 'import json,sys; r = json.load(sys.stdin); print(r.get("balance", {}).get("lost"))')
	sleep 3
	a=$(now) && sleep 5 && b=$(now)
	after=$(rate "$a" "$b")
	awk '{ print $2, $6 }' /proc/$pid/maps | grep / | grep -vE 'grtrace|cupti|nvperf' | sort -u >maps.after
	touch go
	wait $pid || failed=1
	gone=$(awk -v a="$before" -v b="$after" 'BEGIN { printf "%.2f", b / a * 100 }')
	echo "$1 $2: $before it/s before, $within in the first window, $after after $cycles cycles: $gone %, lost events $kernels, $(cat out)"
	grep -q '^same' out || failed=1
	cmp -s maps.before maps.after || { echo "maps differ:"; diff maps.before maps.after; failed=1; }
	# what waits for a stream alone, and graphs, keep CUPTI: no limit for these
	[ "$1" != sync ] || awk -v g="$gone" 'BEGIN { exit g < 98 }' || { echo "FAILED: below 98 %"; failed=1; }
}

# Microseconds for a step of two loops in turns: median of all turns, and how many percent more the second one takes.
turns() {
	local i which
	: >windows
	kill -STOP "${two[@]}"
	for ((i = 0; i < ${TURNS:-30}; i++)); do
		for which in 0 1; do
			kill -CONT "${two[which]}"
			sleep 0.1
			a=$(now) && sleep 0.7 && b=$(now)
			kill -STOP "${two[which]}"
			echo "$([ $which = 0 ] && echo off || echo on) $i $a $b" >>windows
		done
	done
	kill -CONT "${two[@]}"
	awk 'FNR == 1 { t = 0 } t { print t, $1, ($1 - t) / 20 * 1e6 } { t = $1 }' 0/steps 1/steps >samples
	awk -f "$here/in_turns.awk" windows samples
}

# A loop that runs is attached to many times; see the head.
many() {
	local i before after longest=0 kernels=0 lost=0 stop n l rest
	two=()
	for i in 0 1; do
		mkdir -p $i && rm -f $i/*
		(cd $i && exec env -u CUDA_INJECTION64_PATH taskset -c 2 "$python" ../loop.py sync) >$i.out 2>&1 &
		two+=($!)
	done
	pid="${two[*]}"
	until [ -s 0/steps ] && [ -s 1/steps ]; do sleep 0.1; done
	sleep 3
	before=$(turns)
	awk '{ print $2, $6 }' "/proc/${two[1]}/maps" | grep / | grep -vE 'grtrace|cupti|nvperf' | sort -u >maps.before
	kill -STOP "${two[0]}"
	for ((i = 0; i < cycles; i++)); do
		rm -rf c.grt
		"$build/grtrace" record -e cuda -p "${two[1]}" -d "${WINDOW:-1}" -o c.grt >said 2>&1 || { cat said; failed=1; break; }
		stop=$(sed -n 's/.*threads for at most \([0-9.]*\) ms.*/\1/p' said | head -n 1)
		longest=$(awk -v a="$longest" -v b="${stop:-0}" 'BEGIN { print (b > a ? b : a) }')
		"$build/grtrace" dump --json -t launch,gpu_kernel c.grt >c.json
		read -r n l rest <<<"$("$python" "$here/attach_kernels.py" c.json)"
		kernels=$((kernels + n)) lost=$((lost + l))
		[ $((i % 40)) != 0 ] || { sed 's/^/# /' said && echo "# $n kernels, $l missing $rest"; }
	done
	kill -CONT "${two[0]}"
	echo "many: $i cycles of ${WINDOW:-1} s, a thread stood still for at most $longest ms, $kernels kernels, $lost missing between the first and the last of a window"
	[ $lost = 0 ] && [ $kernels -gt 0 ] || failed=1
	sleep 2
	after=$(turns)
	awk '{ print $2, $6 }' "/proc/${two[1]}/maps" | grep / | grep -vE 'grtrace|cupti|nvperf' | sort -u >maps.after
	touch 0/go 1/go
	for i in 0 1; do
		wait "${two[i]}" || failed=1
		cat $i.out
	done
	pid=
	cmp -s maps.before maps.after || { echo "maps differ:"; diff maps.before maps.after; failed=1; }
	echo "us a step, a loop without and one with what comes, % more +- error, samples: before $before; after $i cycles $after"
}

# The steps/s after a window, as a share of those before, and of the same of a loop beside it; see the head.
pairs() {
	local i gpu a b c d which
	: >pairs
	for ((i = 0; i < ${PAIRS:-16}; i++)); do
		two=()
		which=$((i % 2))
		rm -f [01]/go [01]/steps
		for gpu in 0 1; do
			mkdir -p $gpu
			(cd $gpu && exec env -u CUDA_INJECTION64_PATH CUDA_VISIBLE_DEVICES=$gpu taskset -c $((2 + gpu)) "$python" ../loop.py sync) >$gpu.out 2>&1 &
			two+=($!)
		done
		pid="${two[*]}"
		until [ -s 0/steps ] && [ -s 1/steps ]; do sleep 0.1; done
		sleep 2
		a=$(now) && sleep 3 && b=$(now)
		"$build/grtrace" record -e cuda -p "${two[which]}" -d "${WINDOW:-1}" -o c.grt >said 2>&1 || { cat said; failed=1; break; }
		! grep -q 'CUPTI stays' said || { grep 'CUPTI stays' said; failed=1; }
		rm -rf c.grt
		sleep 1
		c=$(now) && sleep 3 && d=$(now)
		touch 0/go 1/go
		wait "${two[@]}"
		pid=
		"$python" - "$which" "$a" "$b" "$c" "$d" >>pairs <<-'END'
			import statistics, sys
			which, spans = int(sys.argv[1]), [float(x) for x in sys.argv[2:]]
			def took(loop, begin, end):
			    t = [float(line.split()[0]) for line in open(f"{loop}/steps")]
			    # of the quickest tenth: the loops have moods of seconds in which they are slower by a third
			    each = sorted(y - x for x, y in zip(t, t[1:]) if begin <= x and y <= end)
			    return statistics.mean(each[:len(each) // 10])
			change = [took(loop, *spans[:2]) / took(loop, *spans[2:]) for loop in (which, 1 - which)]
			print(*(f"{100 * x:.2f}" for x in (*change, change[0] / change[1])), f"{20 / took(which, *spans[:2]):.0f}")
		END
	done
	sed 's/^/# after in percent of before, attached and not, ratio; steps\/s: /' pairs
	"$python" - <<-'END'
		import statistics
		r = [float(line.split()[2]) for line in open("pairs")]
		print(f"pairs: after a window, {statistics.mean(r):.2f} +- {statistics.stdev(r) / len(r) ** 0.5:.2f} % of the steps/s "
		      f"before it, median {statistics.median(r):.2f}, of {len(r)}")
	END
}

for how in ${LOOPS:-sync item graph}; do
	[ "$how" != many ] || { many; continue; }
	[ "$how" != pairs ] || { pairs; continue; }
	scene "$how" asleep
	scene "$how" attached
done
exit $failed
