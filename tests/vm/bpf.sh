#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The BPF sources in the virtual machine: every program of every object loads
# with the real drivers' BTF; what they count is what the kernel module, ftrace
# and the test program count. Then displays on a kernel whose virtio-gpu has
# vertical blanks, and stacks on an old one, without the helpers of today.
# shows: virtio_gpu BPF driver SUBMIT,END,COMPLETE,COMMAND,IOCTL_ENTER,IOCTL_EXIT,SYNC_WAIT_ENTER,SYNC_WAIT_EXIT,VBLANK,VBLANK_QUEUED,VBLANK_DELIVERED
# shows: amdgpu BPF attach
# shows: i915 BPF attach
# shows: vgem BPF driver SUBMIT,COMPLETE
# shows: nvidia BPF stand-in OPEN,CLOSE,MMAP,POLL,XID
# long

# shellcheck source=tests/vm/_lib.sh
. "$(dirname -- "$0")/_lib.sh"
prepare
objects=("$GRTRACE_BUILD"/bpf/*.bpf.o)
[ -e "${objects[0]}" ] || skip_all "no BPF programs in $GRTRACE_BUILD: tools/setup check, then make"
command -v readelf >/dev/null || skip_all "no readelf: apt-get install binutils"

# OBJECT SECTION, for each program
mkdir "$work/lists"
for object in "${objects[@]}"; do
	readelf -SW "$object" | grep -oE ' ((raw_tp|tp|fentry|fexit)/[a-z0-9_/]*|perf_event\b)' |
		sed "s|^|$(basename "$object" .bpf.o)|"
done >"$work/lists/programs"

bpf_guest() { # KERNEL PART
	echo "TAP version 13"
	guest --kernel "$1" --timeout 400 --share "$work/lists=/mnt/lists" -- env GRTRACE_SRC=/mnt/host \
		GRTRACE_BUILD=/mnt/build GRTRACE=/mnt/build/grtrace bash /mnt/host/tests/vm/_bpf_guest.sh "$2"
}

newest=$(cd /usr/src && printf '%s\n' linux-headers-[0-9]*-amd64 | sort -V | tail -n 1)
{
	bpf_guest "${newest#linux-headers-}" all
	for suite in sid:vblank bullseye:old; do
		if "$GRTRACE_SRC/tools/vm" setup --kernel ${suite%:*} >"$work/setup" 2>&1; then
			bpf_guest ${suite%:*} ${suite#*:}
		else
			printf 'TAP version 13\n1..0 # SKIP no kernel of %s: %s\n' ${suite%:*} "$(tail -n 1 "$work/setup")"
		fi
	done
} | join_tap
