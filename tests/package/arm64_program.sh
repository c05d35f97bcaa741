#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The program for 64-bit Arm, built by a cross compiler: all of it, the BPF
# programs and the library for CUDA programs among it, without warnings; it reads
# recordings as the one for this machine does.
#
# The long form, with GRTRACE_SOAK=1, records in a guest with Debian's kernel for
# arm64: stacks at ioctls, at a function and of sleeping threads, of code without
# frame pointers and with signed return addresses, are those of glibc's
# backtrace(); stacks of a CUDA program reach main(). QEMU takes half a minute for
# it, and the kernel's package is one of 60 MB.

set -u -o pipefail
number=0
skip_all() { # REASON
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		tail -n 30 said | sed 's/^/# /'
		echo "not ok $number - $1"
		return 1
	fi
}

root=/usr/aarch64-linux-gnu
for program in aarch64-linux-gnu-gcc qemu-aarch64 clang; do
	command -v $program >/dev/null || skip_all "no $program: tools/setup check"
done
[ -e $root/include/stdio.h ] || skip_all "no libc6-dev-arm64-cross: tools/setup check"
# Stays from run to run, so that little is built again.
out=$GRTRACE_PLAIN/on-aarch64
cross() { # ARGUMENTS...
	"$GRTRACE_SRC/tools/cross" "$@"
}

# Without optimisation it takes half the time.
arguments=(WERROR=1 CFLAGS=-O0)
[ -z "${GRTRACE_SOAK:-}" ] || arguments=(WERROR=1 inject-tests)

build() {
	cross -o "$out" "${arguments[@]}" "$out/grtrace" "$out/libgrtrace-cuda.so" >log 2>&1
	built=$?
	cat log
	[ $built != 3 ] || skip_all "no build for arm64: $(tail -n 1 log)" >&3
	return $built
}

is_of_arm() { # FILE...
	local file
	for file; do
		aarch64-linux-gnu-readelf -h "$file" | grep -q 'Machine: *AArch64' || { echo "$file" && return 1; }
	done
}

arm() { # ARGUMENTS OF grtrace
	qemu-aarch64 -L $root "$out/grtrace" "$@"
}

# Whatever machine a recording is of, all that is said of it, faults and status among it.
said_of() { # RECORDING COMMAND...
	"${@:2}" report -i "$1"
	echo "report: $?"
	"${@:2}" dump "$1"
	echo "dump: $?"
}
reads_the_same() { # RECORDING
	said_of "$1" "$GRTRACE" >here 2>&1
	said_of "$1" arm >there 2>&1
	diff here there && grep -q '^dump: [01]$' here
}

check "the program and the library for CUDA programs are built, warnings are errors" build 3>&1 || {
	echo "1..$number"
	exit
}
check "they are for that machine" is_of_arm "$out/grtrace" "$out/libgrtrace-cuda.so"
check "BPF programs, and names of functions, are in it" grep -q 'GRT_HAVE_BPF.*GRT_HAVE_DW' "$out/flags"
"$GRTRACE_BUILD/tests/golden/report_traces" >made 2>&1
for recording in drm frames gap ops ranks sampled; do
	check "it reads $recording.grt as the program for this machine does" reads_the_same $recording.grt
done
[ -n "${GRTRACE_SOAK:-}" ] || { echo "1..$number" && exit; }

# ------------------------------------------------------------------ a guest

command -v qemu-system-aarch64 >/dev/null || {
	echo "ok $((number + 1)) - a guest # SKIP no qemu-system-aarch64: apt-get install qemu-system-arm"
	echo "1..$((number + 1))"
	exit
}

# What init runs there; what it says stands behind a line "== NAME".
guest_script() {
	cat <<-'EOF'
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
		mount -t tracefs tracefs /sys/kernel/tracing
		echo 0 >/proc/sys/kernel/randomize_va_space
		cd /tmp
		# a busy machine builds its tables later: until some stack is by them
		of_tables() { # NAME PROGRAM SOURCE [OPTION...]
			name=$1 program=$2 source=$3
			shift 3
			for rounds in 30 300 3000; do
				rm -rf run.grt
				grtrace record -e $source "$@" -o run.grt -- $program $rounds >theirs 2>messages
				grtrace dump run.grt >ours
				grep -qE ' STACK_END .* end=1 | NODE .* ip=0x0 module=0 function=0 ' ours && break
			done
			echo "== $name"
			sort -u theirs
			grep -E ' (FRAME|STACK_END|NODE|LAUNCH) ' ours
			cat messages
		}
		for program in unsigned signed; do
			of_tables ioctl-$program $program ioctl --stack=bpf
			of_tables uprobe-$program $program uprobe:/bin/$program:target
			of_tables sched-$program $program sched
		done
		for scene in plain threads; do
			echo "== cuda-$scene"
			LD_LIBRARY_PATH=/mock grtrace record -e cuda -o $scene.grt -- /mock/app $scene 20 2>&1 | cat
			grtrace dump $scene.grt | grep -c ' LAUNCH '
			grtrace flame -o $scene.folded $scene.grt
			cat $scene.folded
		done
		echo "== end"
		poweroff -f
	EOF
}

guest_tree() {
	local flags=(-O2 -fomit-frame-pointer) file
	mkdir -p tree/{bin,proc,sys,dev,tmp,lib,mock} && guest_script >tree/init && chmod 755 tree/init &&
		cp "$guest/bin/busybox" "$out/libgrtrace-cuda.so" tree/bin &&
		aarch64-linux-gnu-strip -o tree/bin/grtrace "$out/grtrace" && cp -a "$out/tests/inject/mock/." tree/mock &&
		aarch64-linux-gnu-gcc "${flags[@]}" -o tree/bin/unsigned "$GRTRACE_SRC/tests/package/arm64/ways.c" &&
		aarch64-linux-gnu-gcc "${flags[@]}" -mbranch-protection=standard -o tree/bin/signed "$GRTRACE_SRC/tests/package/arm64/ways.c" &&
		for file in ld-linux-aarch64.so.1 lib{c,m}.so.6 libgcc_s.so.1 libdl.so.2 libpthread.so.0 librt.so.1; do
			cp -L "$root/lib/$file" tree/lib || return
		done && (cd tree && find . | cpio -o -H newc -R 0:0 --quiet) >initramfs
}

boot() {
	timeout -k 5 900 qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -m 1024 -nographic -no-reboot \
		-kernel "$guest"/boot/vmlinuz-* -initrd initramfs -append "console=ttyAMA0 quiet panic=-1" \
		</dev/null | tr -d '\r' >console
	cat console
	grep -q '^== end' console
}
said_by() { # NAME
	sed -n "/^== $1\$/,/^== /p" console
}
same_stacks() { # NAME OWN-FRAMES
	said_by "$1" | python3 "$GRTRACE_SRC/tests/package/arm64/compare.py" "$2"
}
# Each has slept in main(); before its tables were there, stacks are by frame pointers (3).
sleeps_in_main() { # NAME
	said_by "$1" >said_here
	cat said_here
	awk '{ for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] } }
		$3 == "FRAME" && v["index"] == 0 { sleeps[v["stack"]] = v["symbol"] ~ /nanosleep/ }
		$3 == "FRAME" && v["symbol"] ~ /"main"/ { main[v["stack"]] = 1 }
		$3 == "STACK_END" && v["end"] == 1 && sleeps[v["stack"]] { n++; wrong += !main[v["stack"]] }
		$3 == "STACK_END" && v["end"] != 1 && v["end"] != 3 { wrong++ }
		END { exit !n || wrong }' said_here
}
stacks_are() { # NAME LAUNCHES PATTERN
	said_by "$1" >said_here
	cat said_here
	grep -qx "$2" said_here && grep -q '100.0 % of GPU time under a stack that reaches' said_here &&
		grep -q "^app;" said_here && ! grep '^app;' said_here | grep -v "$3"
}

guest=$(cross guest) || skip_all "no kernel for arm64: tools/cross guest"
check "a root file system for a guest" guest_tree
check "it boots, and records" boot
for program in unsigned signed; do
	# ioctl(), target() and act(); nobody else has their calls
	check "$program, at an ioctl: stacks as backtrace() has them" same_stacks ioctl-$program 3
	check "$program, at a function's entry: the same" same_stacks uprobe-$program 2
	check "$program, asleep: it sleeps in main()" sleeps_in_main sched-$program
done
check "a CUDA program's stacks have main() and all that it calls" \
	stacks_are cuda-plain 20 '^app;_start;.*;main;play;launches;launch;'
check "and those of its threads what these began with" stacks_are cuda-threads 1280 ';launch_some;launches;launch;'
echo "1..$number"
