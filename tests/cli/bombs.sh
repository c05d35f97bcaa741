#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Small inputs that stand for much: reports, graphs and exports of them end soon, in bounded memory and with files
# of a bounded size.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v python3 >/dev/null || { echo "no python3: apt-get install python3" && exit 4; }

# Runs a command: seconds, its and its files' most MiB. Sanitizers and a busy machine take their part.
cat >within.py <<'END'
"""within.py SECONDS MIB COMMAND...: fails where COMMAND takes more time or memory, or is killed."""
import resource, subprocess, sys
seconds, mib, *command = sys.argv[1:]
size = 2048 << 20
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    done = subprocess.run(command, timeout=int(seconds), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
except subprocess.TimeoutExpired:
    sys.exit(f"not over after {seconds} s")
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if done.returncode not in (0, 1, 2, 3) or used > int(mib):
    sys.exit(f"status {done.returncode}, {used} MiB: {done.stderr[-300:]}")
END

within() { # NAME SECONDS MIB ARGS...
	local name=$1
	shift
	output=$(python3 within.py "$1" "$2" "$GRTRACE" "${@:3}" 2>&1)
	status=$?
	check "$name" exits 0
}

bombs="$GRTRACE_BUILD/tests/cli/bombs"

"$bombs" mangled m.grt 40
within "a C++ name of 2^40 bytes: report" 60 1024 report --by kernel m.grt
within "flame" 60 1024 flame -o m.svg m.grt
for form in perfetto folded; do
	within "export $form" 60 1024 export -f $form -o m.out m.grt
done
run report --by kernel --json m.grt
check "a name that grows too much stays a linkage name" grep -q '"kernel": "_Z1fI1A1BIS0_S0_ES1_IS2_S2_E' <<<"$output"

"$bombs" deep d.grt 300
within "stacks of 300 frames of 60000 bytes: report" 120 2048 report --by stack -t 5 d.grt
within "report, all of them" 120 2048 report --by stack --json d.grt
within "flame" 120 2048 flame -o d.svg d.grt
within "flame, folded" 120 2048 flame -o d.folded d.grt
check "left out frames are shown as [cut]" grep -q ';\[cut\] [0-9]*$' d.folded
within "what flame wrote is read" 120 2048 flame -o e.svg d.folded
run report --by stack --json d.grt
check "every stack is reported" test "$(grep -c '"frames": ' <<<"$output")" = 300

"$bombs" alt alt.raw 20
within "163,840 packets of 8,192 CPUs that take turns: report" 60 1024 report alt.raw
within "timeline" 60 1024 timeline alt.raw
run report --json alt.raw
check "every packet is read" says '"packets": 163840'

# Files that unpack to a thousand times their size, and more.
python3 - <<'END'
import struct, subprocess, zlib


def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])


def field(which, data):
    return number(which << 3 | 2) + number(len(data)) + data


packed = field(1, field(50, zlib.compress(field(1, b"") * (24 << 20), 9)))
open("empty.pftrace", "wb").write(field(1, b"\x40\x01\x50\x01") + packed * 20)
for tool, name in ("gzip", "zeros.gz"), ("zstd", "zeros.zst"):
    with subprocess.Popen([tool, "-c"], stdin=subprocess.PIPE, stdout=open(name, "wb")) as run:
        run.stdin.write(b"# tracer: nop\n")
        for i in range(1200):
            run.stdin.write(bytes(1 << 20))
        run.stdin.close()

# As `record --compress` writes packets, each with as many records as a packet can have.
raw = open("m.grt/kmod_0", "rb").read()
head = bytearray(raw[: struct.unpack_from("<H", raw, 10)[0]])
plain = bytes(head) + bytes((64 << 20) - len(head))
struct.pack_into("<QQ", head, 32, len(plain) * 8, len(plain) * 8)
plain = bytes(head) + plain[len(head):]
frame = subprocess.run(["zstd", "-c"], input=plain, stdout=subprocess.PIPE, check=True).stdout
packet = struct.pack("<IIII", 0x184D2A57, 8 + len(head), len(frame), 0) + bytes(head) + frame
open("packed_0", "wb").write(packet * 100)
END
for name in zeros.gz zeros.zst; do
	within "$name: report" 60 256 report $name
	run report $name
	expect "$name is not unpacked" 1 "$name: cannot unpack: it would be more than 256 times as large"
done
run report empty.pftrace
expect "nor are packets of Perfetto" 1 'cannot read the packet of Perfetto there: .*more than 256 times as large'
cp -r m.grt packed.grt && mv packed_0 packed.grt/kmod_0
within "packets of a recording: report" 60 256 report packed.grt

# A stream file that ends early is whole by itself: the source's own count tells.
mv m.grt/kmod_0 m.grt/drm_0
events=$("$GRTRACE" report --json m.grt | grep -o '"emitted": [0-9]*' | head -n 1 | tr -dc 0-9)
for more in 0 2; do
	rm -rf counted.grt
	cp -r m.grt counted.grt
	sed -i "s/state = \"complete\";/&\n\tdrm_balance = \"emitted=1 packed=$((events + more))\";/" counted.grt/metadata
	run report counted.grt
	if [ $more = 0 ]; then
		check "as many events as the source packed" exits 0
	else
		expect "two missing events are an error" 1 "drm counted $((events + 2)) events, its packets $events: "
	fi
done
check "lost events are in the counts" says '^  missing +2 '

# A last line without a newline that is longer than lines may be, in every command that reads text.
python3 - <<'END'
kinds = {"log": "[    1.000000] NVRM: Xid (PCI:0000:01:00): 31, pid=1, ", "ftrace": "# tracer: nop\n  a-1 [000] ..... 1.0: drm_run_job: "}
for name, text in kinds.items():
    for more in (0, 1):
        open(f"{name}{more}.txt", "w").write(text + "x" * ((4 << 20) + more * 12345))
END
for file in log1 ftrace1; do
	for args in "report" "timeline" "export -f csv -o x.csv" \
		"flame -o x.svg" "monitor all -i" "rocm report"; do
		# shellcheck disable=SC2086 # words of a command
		within "a last line of more than 4 MiB ($file): $args" 60 1024 $args $file.txt
	done
done
plan
