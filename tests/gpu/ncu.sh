#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# record -e cuda --pc-sampling beside Nsight Compute: the shares of lines of kernels that stall (pcsampling.cu), of
# examples/transformer.cu and of a kernel of Triton are those of ncu's own sampling, within 3 points.
#
# By hand, as root: GRTRACE_PLAIN=build tests/gpu/ncu.sh [stalls|transformer|triton]... Needs nvcc, ncu, and Triton. What is
# compared is copied to $KEEP.

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE_PLAIN=$(realpath -- "${GRTRACE_PLAIN:-$GRTRACE_SRC/build}")
GRTRACE=${GRTRACE:-$GRTRACE_PLAIN/grtrace}
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc: install CUDA's toolkit" && exit 4; }
command -v ncu >/dev/null || { echo "no ncu: install Nsight Compute" && exit 4; }
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT

# Sums by line of both, in percent of the kernel; instructions have the lines that the recording says. Under ncu, a kernel's
# code is not in the instruction cache when it begins: samples of warps that wait for instructions are left out on both
# sides. The longest kernels, which have SHARE percent of ncu's samples or more, are compared; what the shorter ones have is
# printed, since their first reads of memory, too, take longer there.
compare() { # CSV_OF_NCU ITS_RAW_CSV DUMP SHARE
	python3 - "$@" <<'END'
import collections, csv, json, re, sys

names, lines = {}, {}
ours, theirs = (collections.defaultdict(collections.Counter) for _ in range(2))
events = [json.loads(l) for l in open(sys.argv[3])]
for e in events:
    if e["type"] == "STALL_REASON":
        names[e["number"]] = e["name"]
    elif e["type"] == "PC_LINE":
        lines[e["function"], e["offset"]] = f'{e["file"].rsplit("/", 1)[-1]}:{e["line"]}'
for e in events:
    if e["type"] == "PC_SAMPLE" and not re.search("_not_issued$|_no_inst", names[e["reason"]]):
        ours[e["function"]][e["offset"]] += e["samples"]
# Where the hardware would drop samples, ncu doubles the time between them, launch by launch.
raw = list(csv.DictReader(l for l in open(sys.argv[2], errors="replace") if l.startswith('"')))[1:]
cycles = [float(r["smsp__pcsamp_interval_cycles"].replace(",", "")) for r in raw]
each_of = iter([c / min(cycles) for c in cycles])
kernel = head = base = None
for row in csv.reader(open(sys.argv[1], errors="replace")):
    if row[:1] == ["Kernel Name"]:
        kernel, head, each = row[1], None, next(each_of)
    elif "Address" in row:
        head, base = row, None
    elif head and len(row) == len(head):
        d = dict(zip(head, row))
        at = int(d["Address"], 0)
        base = at if base is None else base
        theirs[kernel][at - base] += each * (int(d["Warp Stall Sampling (All Samples)"]) - int(d["stall_no_inst"] or 0))


def shares(kernel, samples):
    total, by = sum(samples.values()), collections.Counter()
    for offset, n in samples.items():
        by[lines.get((kernel, offset), "?")] += 100 * n / total
    return by


def base_name(text):
    return re.split(r"[(<]", text)[0].split("::")[-1].split(" ")[-1]


worst, all_theirs = 0, sum(sum(v.values()) for v in theirs.values())
for kernel, samples in ours.items():
    other = next((v for k, v in theirs.items() if base_name(k) in kernel and sum(v.values())), None)
    if not other:
        continue
    a, b = shares(kernel, samples), shares(kernel, other)
    far = max(abs(a[l] - b[l]) for l in a.keys() | b.keys())
    long = 100 * sum(other.values()) >= float(sys.argv[4]) * all_theirs
    worst = max(worst, far) if long else worst
    print(f"# {'' if long else 'short: '}{kernel}: {sum(samples.values())} samples, ncu {sum(other.values()):.0f}; lines differ by {far:.2f} points at most:",
          ", ".join(f"{l} {a[l]:.1f} and {b[l]:.1f}" for l, _ in b.most_common(5)))
    print(kernel)
print("worst", worst)
# Of all kernels together, as a user reads them: the ten lines where ncu has most samples.
a, b = (collections.Counter() for _ in range(2))
for kernel, samples in ours.items():
    other = next((v for k, v in theirs.items() if base_name(k) in kernel and sum(v.values())), {})
    for to, of in (a, samples), (b, other):
        for offset, n in of.items():
            to[lines.get((kernel, offset), "?")] += n
for to in a, b:
    total = sum(to.values()) or 1
    for line in to:
        to[line] *= 100 / total
ten = [line for line, _ in b.most_common(10)]
print("# program:", ", ".join(f"{line} {a[line]:.2f} and {b[line]:.2f}" for line in ten))
print("top", len(ten), max(abs(a[line] - b[line]) for line in ten) if ten else 100)
END
}

# Both at the same program, for a while; how many of the launches ncu measures is its options'.
both() { # NAME KERNELS SHARE PERIOD OPTIONS_OF_NCU OF_NCU... -- OF_GRTRACE...
	local name=$1 kernels=$2 share=$3 period=$4 options=$5 of=()
	shift 5
	while [ "$1" != -- ]; do
		of+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2086
	timeout 100 ncu -f --section SourceCounters --clock-control none --cache-control none $options \
		-o "$name" "${of[@]}" >ncu.log 2>&1 || { sed 's/^/# /' ncu.log | tail -n 5; }
	timeout 60 ncu -i "$name.ncu-rep" --page source --csv --print-source sass >"$name.csv" 2>>ncu.log
	timeout 60 ncu -i "$name.ncu-rep" --page raw --csv >"$name.raw.csv" 2>>ncu.log
	run record -e cuda --pc-sampling="$period" -o "$name.grt" -- "$@"
	"$GRTRACE" dump --json -t PC_SAMPLE,PC_LINE,STALL_REASON "$name.grt" >"$name.json"
	compare "$name.csv" "$name.raw.csv" "$name.json" "$share" >"$name.txt"
	[ -z "${KEEP:-}" ] || cp "$name.csv" "$name.raw.csv" "$name.txt" "$KEEP"
	grep '^#' "$name.txt"
	check "$name: $kernels kernels are compared" test "$(grep -vc '^#\|^worst\|^top' "$name.txt")" = "$kernels"
	# shellcheck disable=SC2016
	check "$name: shares of lines are within 3 points of ncu's" awk '$1 == "worst" { exit !($2 > 0 && $2 < 3) }' "$name.txt"
	# shellcheck disable=SC2016
	check "$name: the ten lines with most samples of the program are within 3 points of ncu's" \
		awk '$1 == "top" { exit !($2 > 3 && $3 < 3) }' "$name.txt"
}

cat >softmax.py <<'END'
import sys, time, torch, triton, triton.language as tl


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + at, e / tl.sum(e, axis=0), mask=at < n)


x = torch.randn(8192, 1000, device="cuda")
out, n, end = torch.empty_like(x), 0, time.time() + float(sys.argv[1])
while n < 8 or time.time() < end:
    softmax_kernel[(8192,)](x, out, 1000, BLOCK=1024)
    n += 1
    if n % 20 == 0:
        torch.cuda.synchronize()
torch.cuda.synchronize()
END
for what in "${@:-stalls}"; do
	case $what in
	stalls)
		nvcc -lineinfo -O2 -arch=native -o stalls "$GRTRACE_SRC/tests/gpu/pcsampling.cu" || exit 1
		both stalls 6 1 17 "--warp-sampling-interval 0 --launch-count 60" ./stalls -- ./stalls
		;;
	transformer)
		nvcc -lineinfo -O2 -arch=native -o transformer "$GRTRACE_SRC/examples/transformer.cu" || exit 1
		# its kernels take some microseconds, and ncu runs them one by one: two whole steps, because the matrix
		# products of a step have several sizes. With 2^5 cycles between samples, the hardware drops some: 2^7, which
		# is ncu's interval 2.
		both transformer 5 15 serialized:7 \
			"--warp-sampling-interval 2 --warp-sampling-buffer-size 536870912 --replay-mode application --launch-skip 52 --launch-count 104" \
			./transformer 5 -- ./transformer "${STEPS:-20}"
		;;
	triton) both triton 1 1 12 "--warp-sampling-interval 0 -k softmax_kernel --launch-skip 3 --launch-count 3" python3 softmax.py 0 -- python3 softmax.py 3 ;;
	*) echo "not stalls, transformer or triton: $what" && exit 2 ;;
	esac
done
plan
