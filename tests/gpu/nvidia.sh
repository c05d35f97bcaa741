#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nvidia on a machine with an NVIDIA GPU: calls on its device files, counted by a program that makes a known number.
#
# By hand, as root: GRTRACE=build/grtrace tests/gpu/nvidia.sh
# shows: nvidia BPF card

GRTRACE_SRC=${GRTRACE_SRC:-$(dirname -- "$(dirname -- "$(dirname -- "$(realpath -- "$0")")")")}
GRTRACE=$(realpath -- "${GRTRACE:-$GRTRACE_SRC/build/grtrace}")
# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
unset GRTRACE_SYSROOT GRTRACE_DEBUGFS

for tool in nvidia-smi python3; do
	command -v $tool >/dev/null || { echo "no $tool" && exit 4; }
done
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf -- "$dir"' EXIT

# 13 opens, 101 ioctls that the driver refuses, 7 polls, 13 closes.
cat >calls.py <<'EOF'
import fcntl, os, select
fds = [os.open("/dev/nvidiactl", os.O_RDWR) for _ in range(13)]
for i in range(101):
    try:
        fcntl.ioctl(fds[i % 13], 0x46ff, 0)
    except OSError:
        pass
p = select.poll()
p.register(fds[0], select.POLLIN)
for _ in range(7):
    p.poll(0)
for fd in fds:
    os.close(fd)
EOF

seen() { # TYPE
	"$GRTRACE" dump --type "$1" run.grt | grep -c 'python3'
}

run doctor nvidia
expect "doctor says that it works" 0 '^  nvidia +works'
run record -e nvidia -o run.grt -- python3 calls.py
expect "a recording" 0 'events, 0 lost'
for pair in open:13 ioctl_enter:101 ioctl_exit:101 poll:7 close:13; do
	check "${pair%:*}: ${pair#*:}" test "$(seen "${pair%:*}")" = "${pair#*:}"
done
run report -i run.grt
expect "the balance closes" 0 'every event is accounted for'
run monitor nvidia -q -i run.grt
expect "monitor shows the process" 0 'python3'

# With kprobes, interrupts and faults of the card; without, the reason.
sh -c 'while :; do python3 -c "import torch; torch.ones(9, device=\"cuda\").sum().item()" || sleep 1; done' 2>/dev/null &
run monitor nvidia --probes -q -d 8
kill $!
if [ -e /sys/kernel/tracing/kprobe_events ]; then
	expect "--probes: interrupts and their durations" 0 'nvidia_isr'
else
	expect "--probes: why there are none, and what to do" 3 'no kprobes \(CONFIG'
fi
while IFS= read -r line; do echo "# $line"; done < <(head -n 40 <<<"$output")

if python3 -c 'import torch; torch.cuda.init()' 2>/dev/null; then
	run record -e nvidia -o run.grt -- python3 -c 'import torch
a = torch.randn(2048, 2048, device="cuda")
for _ in range(100): a = (a @ a).clamp(-1, 1)
torch.cuda.synchronize()'
	expect "a PyTorch program" 0 'events, 0 lost'
	check "opens the control device" test "$(seen open)" -gt 0
	check "every ioctl that it entered it left" test "$(seen ioctl_enter)" = "$(seen ioctl_exit)"
	run monitor nvidia -q -i run.grt
	while IFS= read -r line; do echo "# $line"; done < <(head -n 40 <<<"$output")
fi
plan
