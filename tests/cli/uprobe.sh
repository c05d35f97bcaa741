#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# -e uprobe:LIB:SYMBOL and a running program's launches, by uprobes on the running kernel: every call, with its stack.
# alone

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

cc=$(command -v "${CC:-gcc}") || cc=$(command -v clang) || {
	echo "1..0 # SKIP no compiler: apt-get install gcc"
	exit 0
}
build() { # FILE ARGS...
	local file=$1
	shift
	"$cc" -g -O2 -fno-omit-frame-pointer -fcf-protection -Wl,-rpath,"$PWD" -o "$file" \
		"$GRTRACE_SRC/tests/cli/uprobe/launches.c" "$@"
}
build libcuda.so.1 -shared -fPIC -DDRIVER &&
	build libcudart.so.13 -shared -fPIC -DRUNTIME ./libcuda.so.1 && build app ./libcudart.so.13 ./libcuda.so.1 || {
	echo "1..0 # SKIP $cc cannot build a program: apt-get install gcc libc6-dev"
	exit 0
}

# The calls under a stack.
calls() { # REGEX
	awk -v regex="$1" '{ n = $NF; sub(/ [0-9]+$/, "") } $0 ~ regex { sum += n } END { print sum + 0 }' u.folded
}

record() { # ARGS...
	rm -f u.folded
	run record -o u.grt "$@"
	"$GRTRACE" flame --weight launches -o u.folded u.grt 2>said
}

# The same of a program that runs already: it makes its calls when capture has begun.
attach() { # CALLS ARGS...
	local n=$1 recorder
	shift
	rm -rf go u.grt u.folded
	mkfifo go
	./app "$n" ${attach_end:-at-once} <go &
	local pid=$!
	exec 9>go
	await "grep -qs libcuda.so /proc/$pid/maps"
	${attach_after-}
	${attach_under:+"$GRTRACE_BUILD/tests/cli/$attach_under" $pid} "$GRTRACE" record -o u.grt -p $pid "$@" >log 2>&1 &
	recorder=$!
	await "grep -qs '_window = \"from=' u.grt/metadata || ! kill -0 $recorder 2>/dev/null"
	echo go >&9
	exec 9>&-
	wait $pid
	wait $recorder
	status=$?
	output=$(cat log)
	"$GRTRACE" flame --weight launches -o u.folded u.grt 2>said
}

record -e uprobe:./libcuda.so.1:cuLaunchKernel -- sh -c 'echo | ./app 997'
need_bpf
expect "a function of a library" 0 ', 0 lost in u.grt$'
check "every call" test "$(calls .)" = 1495
check "the caller of the function is in the stack" test "$(calls '^app;.*main;by_driver;cuLaunchKernel$')" = 498
check "and who called that" test "$(calls '^app;.*main;layer;cudaLaunchKernel;cuLaunchKernel$')" = 997
run report -i u.grt
expect "report: how many" 0 '^1495 calls of probed functions: see report --by stack'
run report -i u.grt --by stack --json
check "by stack: all of them" test "$(jq '[.stacks[].calls] | add' <<<"$output")" = 1495
check "without a time" jq -e 'all(.stacks[]; .total == null)' <<<"$output"
check "flame says what they are" grep -q '1495 calls of probed functions' said
# 1 MiB for each possible CPU, or 1/256 of the memory up to 128 MiB, which is more; a power of two from 4 MiB.
wanted=$(awk -v cpus="$(sed 's/.*-//' /sys/devices/system/cpu/possible)" '/^MemTotal:/ {
	share = $2 * 4; if (share > 2 ^ 27) share = 2 ^ 27
	for (size = 2 ^ 22; size * 2 <= share;) size *= 2
	while (size < (cpus + 1) * 2 ^ 20) size *= 2
	print size }' /proc/meminfo)
check "the buffer is as large as the machine's memory allows" grep -q "uprobe_buffer_size = \"$wanted\"" u.grt/metadata
for limit in 8 24; do
	output=$( (ulimit -Sn $limit && "$GRTRACE" record -e uprobe:./libcuda.so.1:cuLaunchKernel -o few.grt -- true) 2>&1)
	check "with $limit descriptors it says what is short" says "Too many open files \(the limit is $limit\)"
	check "and what to type" says '^  try: ulimit -n [0-9]{4,}'
done
check "the balance" grep -q 'uprobe_balance = "emitted=1495 filtered=0 lost=0 late=0 missed=0 unmatched=0 no_stack=0 unnumbered=0 packed=[0-9]*"' u.grt/metadata
run report -i u.grt
check "closes" says 'every event is accounted for'
address=$(nm libcuda.so.1 | awk '/ cuLaunchKernel$/ { print "0x" $1 }')
objdump -d libcuda.so.1 --start-address="$address" 2>/dev/null | grep -m 1 -q endbr64
offset=$((address + (PIPESTATUS[1] == 0 ? 5 : 1)))
bias=$("$GRTRACE" dump --type mapping --json u.grt | jq -r 'select(.build_id != "") | .bias' | sort -u)
found=no
while read -r ip; do
	for b in $bias; do
		[ $((ip - b)) = $offset ] && found=yes
	done
done < <("$GRTRACE" dump --type node --json u.grt | jq -r .ip | sort -u)
check "the probe follows a leading endbr64" test $found = yes

record -e uprobe:./app:layer,uprobe:./libcuda.so.1:cuGraphLaunch -- sh -c 'echo | ./app 101'
check "two functions, one of the program" test "$(calls 'main;layer$') $(calls 'main;graph;cuGraphLaunch$')" = "101 21"
for _ in 1 2 3; do echo | ./app 50000; done &
other=$!
record -e uprobe:./libcuda.so.1:cuLaunchKernel -- sh -c 'echo | ./app 997 & echo | ./app 10; wait'
wait $other
check "records children of the program, and no other process" test "$(calls .)" = 1510
check "others are filtered" test "$("$GRTRACE" dump --type launch u.grt | wc -l)" = 1510
LD_LIBRARY_PATH=$PWD run record -e uprobe:libcuda.so.1:cuGraphLaunch -o u.grt -- true
check "a library by its name" exits 0

run record -e uprobe:./libcuda.so.1:cuNothing -o no.grt -- true
expect "a function that is none" 3 'cannot put a uprobe at cuNothing of .*libcuda.so.1: it defines no such function'
check "what to type" says 'try: nm -D'
run record -e uprobe:libnone.so.1:f -o no.grt -- true
expect "a library that is none" 3 'cannot find libnone.so.1 for a uprobe'
run record -e uprobe:/etc/passwd:f -o no.grt -- true
check "no object file" says '/etc/passwd: it is not an ELF object file'
# A file that says it has 16 million sections, of which libelf makes gigabytes, and a program like it. In MB: what
# the largest process needed.
python3 - app huge.so <<'EOF'
import struct, sys
elf = bytearray(open(sys.argv[1], "rb").read())
elf += bytes(-len(elf) % 64)
struct.pack_into("<Q", elf, 40, len(elf))
struct.pack_into("<H", elf, 60, 0)
elf += struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 1 << 24, 0, 0, 0, 0)
open(sys.argv[2], "wb").write(elf)
open(sys.argv[2], "r+b").truncate(3 << 30)
EOF
chmod +x huge.so
largest() { # COMMAND...
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@" 2>&1
}
output=$(largest "$GRTRACE" record -e uprobe:./huge.so:f -o no.grt -- true)
check "a file made to need memory" says 'cannot put a uprobe into .*/huge.so'
check "gets none" test "$(tail -n 1 <<<"$output")" -lt 1500
output=$(largest "$GRTRACE" record -e uprobe:./libcuda.so.1:cuLaunchKernel -o u.grt -- sh -c 'echo | ./huge.so 997')
check "the same of a program that is recorded" test "$(tail -n 1 <<<"$output")" -lt 1500
rm -f u.folded
"$GRTRACE" flame --weight launches -o u.folded u.grt 2>said
check "every call" test "$(calls .)" = 1495
ids=$("$GRTRACE" dump --type mapping --json u.grt | jq -r .build_id | grep .)
check "build ids as readelf has them" grep -qxF "$(readelf -n libcuda.so.1 | sed -n 's/.*Build ID: //p')" <<<"$ids"
for word in uprobe uprobe: uprobe:./app uprobe::f; do
	run record -e $word -o no.grt -- true
	check "-e $word" says 'try: grtrace record -e uprobe:libc.so.6:malloc -- PROG'
done
check "nothing is written" test ! -e no.grt

attach 499 -e uprobe:libcuda:cuGraphLaunch,uprobe:app:layer
expect "a process that runs, by names of its files" 0 ', 0 lost in u.grt$'
check "every call" test "$(calls 'main;layer$') $(calls 'main;graph;cuGraphLaunch$')" = "499 100"
attach_end=stop attach_under=late_maps attach 499 -e uprobe:libcuda:cuGraphLaunch,uprobe:app:layer
check "the same if it ends while its mappings are read" grep -q 'uprobe_decoder = ".* unread=0 ended=1 ' u.grt/metadata
check "every call" test "$(calls 'main;layer$') $(calls 'main;graph;cuGraphLaunch$')" = "499 100"
attach 211 -e cuda --stack=bpf
expect "launches of a process that runs" 0 'grtrace records only launches and their stacks: no kernels'
check "a call of the runtime and that of the driver in it are one" test \
	"$(calls 'main;layer;cudaLaunchKernel;\[GPU_Launch_Pending\]$') $(calls .)" = "211 $((211 + 105 + 43))"
check "calls of the driver alone" test "$(calls 'main;by_driver;cuLaunchKernel;\[GPU')" = 105
check "graphs" test "$(calls 'main;graph;cuGraphLaunch;\[GPU')" = 43
check "flame says what is missing" grep -q '359 launches have no kernel in the trace' said
sleep 30 &
run record -e cuda --stack=bpf -p $! -o no.grt
expect "a process without CUDA" 3 'no launches to record: it has loaded neither libcuda.so'
run record -e cuda -p $! -o no.grt
expect "without --stack=bpf" 3 'cannot load the library into process [0-9]+: '
check "what to type" says 'try: .*grtrace start --cuda'
kill $!

# What a process has mapped is what is probed, whatever has its name when one looks.
mv libcuda.so.1 kept.so
build libcuda.so.1 -shared -fPIC -DDRIVER -O0
mv libcuda.so.1 other.so && mv kept.so libcuda.so.1
replace() { # the process has its libraries already
	ln libcuda.so.1 first.so && mv other.so libcuda.so.1
}
attach_after=replace attach 150 -e uprobe:libcuda:cuLaunchKernel
expect "a library that was replaced, and has another name" 0 ', 0 lost in u.grt$'
check "the mapped one is probed" test "$(calls .)" = 225
delete() {
	rm -f libcuda.so.1 first.so
	ln -s "$PWD/app" 'libcuda.so.1 (deleted)'
}
attach_after=delete attach 150 -e uprobe:libcuda:cuLaunchKernel
expect "a library that was deleted" 3 'cannot put a uprobe into .*/libcuda.so.1 \(deleted\) of process [0-9]+: it was deleted or replaced'
check "nothing else is probed for it" test ! -e u.grt
plan
