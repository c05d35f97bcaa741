#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that sends a bounded recorder anything but the packets of the library: the recorder goes on, its memory is
# bounded, and what another program sends beside it is whole.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
unset CUDA_INJECTION64_PATH
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3: tools/setup check" && exit; }

# The program under test beside the library that it looks for; both not under sanitizers, as it is installed.
readonly UNDER_TEST=$GRTRACE_PLAIN/grtrace

cat >hostile.py <<'END'
"""hostile.py many|large|damaged FILE...: connects to the recorder of this process's environment."""
import os, random, socket, struct, sys

kind, *files = sys.argv[1:]
EXTREMES = [0, 1, 7, 63, 64, 65, 0xFFFF, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 64 << 23]
random.seed(7)


def packets(data):
    while len(data) >= 48:
        size = struct.unpack_from("<Q", data, 40)[0] // 8
        yield data[:size]
        data = data[size:]


good = [p for name in files for p in packets(open(name, "rb").read())]
header = struct.unpack_from("<H", good[0], 10)[0]


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(2)
    s.connect(os.environ["GRTRACE_OUTPUT"] + "/.packets")
    return s


def damage(packet):
    p = bytearray(packet)
    for _ in range(random.randrange(1, 6)):
        if random.random() < 0.4:
            struct.pack_into("<Q", p, random.randrange(8, header, 8), random.choice(EXTREMES))
        elif len(p) > header:
            struct.pack_into("<B", p, random.randrange(header, len(p)), random.randrange(256))
    return bytes(p[: random.randrange(len(p))] if random.random() < 0.1 else p)


def try_to(send):
    try:
        send()
    except OSError:
        pass


held = []
for i in range({"many": 2000, "large": 100, "damaged": 200}[kind]):
    def send():
        s = connect()
        if kind == "large":
            held.append(s)
            first = bytearray(good[0][:header])
            struct.pack_into("<QQ", first, 32, 60 << 23, 60 << 23)
            s.sendall(first)
            s.sendall(bytes((60 << 20) - header - 4096))
        if kind == "damaged":
            for _ in range(random.randrange(1, 30)):
                s.sendall(damage(random.choice(good)))
        s.close() if kind != "large" else None
    try_to(send)
END

# The most memory of a command and of the programs in it, MiB.
cat >peak.py <<'END'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], timeout=300).returncode
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
sys.exit(status)
END

"$UNDER_TEST" record -e cuda -o good.grt "$MOCK/app" plain >/dev/null 2>&1
cp good.grt/cuda_*_[0-9]* .
check "there are packets to damage" test -s "$(ls -S cuda_* | head -n 1)"
peak() {
	sed -n 's/^peak //p' <<<"$output"
}

for kind in many large; do
	rm -rf log bounded.grt
	output=$(MOCK_LOG=$PWD/log python3 peak.py "$UNDER_TEST" record -e cuda --max-size 64M -o bounded.grt \
		sh -c "python3 hostile.py $kind cuda_* & '$MOCK/app' plain; wait" 2>&1)
	status=$?
	records bounded.grt
	exact "$kind: a program beside it is recorded"
	check "$kind: memory is bounded" test "$(peak)" -lt 700
done
check "the processes that were dropped are told" says 'not wholly, recorded: [1-9][0-9]* beyond 128 at once or without memory'

output=$(python3 peak.py "$UNDER_TEST" record -e cuda --max-size 64M -o damaged.grt \
	python3 hostile.py damaged cuda_* 2>&1)
check "damaged packets: the recorder ends" says '^grtrace record: .* in damaged.grt$'
check "damaged packets: memory is bounded" test "$(peak)" -lt 700
for command in report "report --by stack --json" timeline dump "flame -o d.svg" "export -f perfetto -o d.pftrace"; do
	# shellcheck disable=SC2086 # words of a command
	run $command damaged.grt
	check "damaged packets: ${command%% *} reads what is sound" test "$status" -le 1
done
plan
