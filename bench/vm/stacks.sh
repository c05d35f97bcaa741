#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of Debian in the guest with the virtio GPU, recorded with --stack=bpf: of how many of their submits the stack
# reaches the program's entry. Those of the first seconds do not: the emulated machine builds the unwind tables of the
# program's libraries meanwhile.
#
#	bench/vm/stacks.sh [BUILD DIRECTORY [SECONDS]]
#
# KERNEL: the guest's kernel, as for tools/vm --kernel. Needs what tools/vm needs, and /usr/bin/python3 of Debian 12, whose files the guest gets.

set -eu
root=$(realpath -- "$(dirname -- "$0")/../..")
build=$(realpath -- "${1:-build}")
seconds=${2:-60}
dir=$(mktemp -d "${TMPDIR:-/tmp}/grtrace-bench.XXXXXX")
trap 'rm -rf -- "$dir"' EXIT

# The guest has no Python.
python=$(basename "$(realpath /usr/bin/python3)")
mkdir -p "$dir/python/bin" "$dir/python/lib" "$dir/out"
cp "/usr/bin/$python" "$dir/python/bin/"
cp -r "/usr/lib/$python" "$dir/python/lib/"
ldd "/usr/bin/$python" "/usr/lib/$python/lib-dynload/"_ctypes.*.so | awk '/expat|ffi|libz/ { print $3 }' | sort -u |
	xargs -I{} cp -L {} "$dir/python/lib/"
cp "$root/bench/vm/draw.py" "$dir/"

cat >"$dir/guest.sh" <<-END
	mkdir -p /tmp/run && mount -t tmpfs tmpfs /tmp/run && cd /tmp/run
	export XDG_RUNTIME_DIR=/tmp/run
	mkfifo input
	printf '[core]\nrequire-input=false\n[input-method]\npath=/bin/false\n[shell]\npanel-position=none\nlocking=false\n' >weston.ini
	seatd >/dev/null 2>&1 &
	look() { # NAME COMMAND
		/mnt/build/grtrace record -e drm --stack=bpf -d $seconds -o \$1.grt -- sh -c "\$2" >\$1.log 2>&1 &
		recorder=\$!
		sleep $((seconds + 5))
		pkill -x "kmscube|glmark2-es2-drm|$python|weston"
		wait \$recorder
		tail -n 3 \$1.log
		/mnt/build/grtrace dump --json \$1.grt >/out/\$1.json 2>/dev/null
		rm -rf \$1.grt
	}
	look kmscube 'exec kmscube -c 1000000 <>input >/dev/null 2>&1'
	look glmark2 'exec glmark2-es2-drm -b build:duration=100000 >/dev/null 2>&1'
	look python 'PYTHONHOME=/mnt/bench/python LD_LIBRARY_PATH=/mnt/bench/python/lib exec /mnt/bench/python/bin/$python /mnt/bench/draw.py 1000000'
	look weston 'weston --backend=drm-backend.so --tty=1 --config=/tmp/run/weston.ini --idle-time=0 >/dev/null 2>&1 &
		while [ ! -S wayland-1 ]; do sleep 0.3; done
		WAYLAND_DISPLAY=wayland-1 weston-simple-egl >/dev/null 2>&1'
END
"$root/tools/vm" run ${KERNEL:+--kernel "$KERNEL"} --timeout $((seconds * 4 + 300)) --out "$dir/out" --share "$dir=/mnt/bench" --share "$build=/mnt/build" -- \
	bash /mnt/bench/guest.sh >"$dir/said" 2>&1 || { tail -n 5 "$dir/said" && exit 1; }
for name in kmscube glmark2 python weston; do
	python3 - "$dir/out/$name.json" <<-'END'
		import json, sys
		ends, stacks = {}, []
		for line in open(sys.argv[1]):
		    event = json.loads(line)
		    if event["type"] == "STACK_END":
		        ends[event["stack"]] = event["end"]
		    elif event["type"] == "STACK":
		        stacks.append((event["process"], event["user"]))
		for process in sorted({process for process, _ in stacks}):
		    mine = [ends.get(stack) == 1 for name, stack in stacks if name == process]
		    print(f"{process}: {len(mine)} submits, the stacks of {100 * sum(mine) / len(mine):.1f} % reach the program's entry")
	END
done
