#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda --pc-sampling on a machine with an NVIDIA GPU: kernels that are built to stall for one reason
# show it first, lines are those of NVIDIA's own function, and CUPTI's sums are those of the records.
#
# By hand, as root: GRTRACE_PLAIN=build tests/gpu/pcsampling.sh. Needs nvcc. GRTRACE_KEEP: a directory for recordings.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
ROUNDS=${ROUNDS:-10}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc: install CUDA's toolkit" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT
cp "$GRTRACE_SRC/tests/gpu/pcsampling.cu" . || exit 1
nvcc -lineinfo -O2 -arch=native -o stalls pcsampling.cu || exit 1
cuda=$(dirname -- "$(dirname -- "$(realpath -- "$(command -v nvcc)")")")
g++ -O1 -o sass "$GRTRACE_SRC/tests/gpu/pcsampling_lines.cc" -I"$cuda/include" -I"$cuda/extras/CUPTI/include" \
	-L"$cuda/lib" -L"$cuda/lib64" -L"$cuda/extras/CUPTI/lib64" -Wl,-rpath,"$cuda/lib:$cuda/lib64:$cuda/extras/CUPTI/lib64" -l:libcupti.so || rm -f sass

# The first reasons that fit each kernel.
cat >built <<'END'
stall_global long_scoreboard
stall_shared short_scoreboard|mio_throttle
stall_barrier barrier
stall_math math_pipe_throttle
stall_branch branch_resolving
stall_local long_scoreboard|lg_throttle
END

for ((i = 1; i <= ROUNDS; i++)); do
	rm -rf run.grt
	run record -e cuda --pc-sampling -o run.grt timeout -s KILL 60 ./stalls
	[ $i != 1 ] || { sed 's/^/# /' <<<"$output" && ls -la run.grt | sed 's/^/# /'; }
	"$GRTRACE" report --by stall --top 0 --json run.grt >stall.json
	"$GRTRACE" report --by line --top 0 --json run.grt >line.json
	python3 - "$i" <<'END'
import json, re, sys
rows = json.load(open("stall.json"))["stalls"]
for l in open("built"):
    kernel, want = l.split()
    own = [r for r in rows if r["kernel"] == kernel]
    n = sum(r["samples"] for r in own)
    # a warp that issues or could issue does not stall
    own = [r for r in own if r["reason"] not in ("selected", "not_selected")]
    first = own[0]["reason"] if own else "none"
    print("first" if re.fullmatch(want, first) else "other", sys.argv[1], kernel, first, n,
          " ".join("%s=%d" % (r["reason"], r["samples"]) for r in own[:4]))
END
done | tee rounds
while read -r kernel _; do
	check "$kernel: what it is built for is first, $ROUNDS times" test \
		"$(grep -c "^first .* $kernel " rounds)" = "$ROUNDS"
done <built

"$GRTRACE" report --by stall run.grt | cut -c1-220 | sed 's/^/# /'
"$GRTRACE" report --by line --top 20 run.grt | cut -c1-220 | sed 's/^/# /'
"$GRTRACE" dump --json run.grt >dump.json
python3 - >sums <<'END'
import json
total = dropped = other = listed = full = n = 0
names = {}
for l in open("dump.json"):
    try: e = json.loads(l)
    except ValueError: continue
    if e.get("type") == "PC_COUNT":
        n += 1
        total += e["total"]; dropped += e["dropped"]; other += e["other"]; full += e["full"]
    elif e.get("type") == "STALL_REASON":
        names[e["number"]] = e["name"]
    elif e.get("type") == "PC_SAMPLE" and not str(names.get(e["reason"], "")).endswith("_not_issued"):
        listed += e["samples"]
print(total, listed, dropped, other, full, n, len(names))
for k in sorted(names): print("#", k, names[k])
END
sed 's/^/# /' sums
check "CUPTI's samples are those of the records, other kernels' and dropped ones" \
	awk 'NR == 1 { exit !($1 > 0 && $1 == $2 + $3 + $4) }' sums

# Each instruction that was sampled, by NVIDIA's own function.
python3 - >pcs <<'END'
import json
strings = {}
seen, lines = set(), {}
for l in open("dump.json"):
    try: e = json.loads(l)
    except ValueError: continue
    if e.get("type") == "PC_SAMPLE": seen.add((e["cubin"], e["function"], e["offset"]))
    if e.get("type") == "PC_LINE": lines[(e["cubin"], e["function"], e["offset"])] = (e["file"], e["line"])
for k in sorted(seen, key=str):
    f, n = lines.get(k, ("-", 0))
    print(*k, f, n)
END
head -n 3 pcs | sed 's/^/# /'
[ ! -x sass ] || {
	./sass run.grt pcs >differ
	echo "# $(wc -l <pcs) instructions, $(wc -l <differ) differ"
	head -n 5 differ | sed 's/^/# /'
	check "the line of each instruction is that of cuptiGetSassToSourceCorrelation()" test -s pcs -a ! -s differ
}

# What it costs: the loop of launches, bare, recorded, and sampled.
echo "# bare: $(timeout -s KILL 30 ./stalls loop)"
for how in "" --pc-sampling --pc-sampling=20; do
	echo "# ${how:-recorded}: $("$GRTRACE" record -e cuda $how -o l.grt timeout -s KILL 30 ./stalls loop 2>/dev/null)"
done
# What CUPTI keeps of names: memory of a program that is sampled for 5 s, in MB every second.
"$GRTRACE" record -e cuda --pc-sampling -o l.grt ./stalls >/dev/null 2>&1 &
for ((i = 0; i < 8; i++)); do
	sleep 0.5
	pgrep -x stalls | while read -r p; do awk '/VmRSS/ { printf "# resident: %d MB\n", $2 / 1024 }' "/proc/$p/status"; done
done
wait
# A buffer that is full costs samples, and neither the program nor its time.
begun=$SECONDS
run record -e cuda --pc-sampling=5 -o full.grt timeout -s KILL 20 ./stalls math
sed 's/^/# /' <<<"$output"
"$GRTRACE" report --by stall full.grt | tail -n 6 | cut -c1-200 | sed 's/^/# /'
check "where samples are too many, the program ends, $((SECONDS - begun)) s" test "$status" = 0
[ -z "${GRTRACE_KEEP:-}" ] || tar czf "$GRTRACE_KEEP/pc.tar.gz" run.grt stall.json line.json pcs rounds sums
plan
