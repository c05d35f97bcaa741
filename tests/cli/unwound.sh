#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stacks of programs without frame pointers: their addresses are those that gdb has at the same system call and
# at the same function, to the program's entry.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
# shellcheck source=tests/cli/_pythons.sh
. "$GRTRACE_SRC/tests/cli/_pythons.sh"
run record -e sched -F 0 -o run.grt -- true
need_bpf
for program in g++ gdb setarch debuginfod curl; do
	command -v $program >/dev/null || skip_all "no $program: apt-get install g++ gdb util-linux debuginfod curl"
done
command -v addr2line >/dev/null || skip_all "no addr2line: apt-get install binutils"
g++ -g -O3 -fomit-frame-pointer -no-pie -o lined "$GRTRACE_SRC/tests/cli/unwound/ways.cc"
g++ -O3 -fomit-frame-pointer -o dynamic "$GRTRACE_SRC/tests/cli/unwound/ways.cc"
g++ -O2 -fomit-frame-pointer -static-pie -o static "$GRTRACE_SRC/tests/cli/unwound/ways.cc"
g++ -O2 -fomit-frame-pointer -static -o whole "$GRTRACE_SRC/tests/cli/unwound/ways.cc"

# Of a recording, each different stack; before the tables are there, they are by frame pointers.
ours() {
	"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/stacks.py" theirs | sort
}
theirs() { # PROGRAM WAY [FUNCTION]
	gdb -q -batch ${3:+-ex "set \$at = \"$3\""} -x "$GRTRACE_SRC/tests/cli/unwound/in_gdb.py" \
		--args ./"$1" "$2" $type 2>/dev/null </dev/null | sed -n 's/^STACK //p' | sort
}

type= # of ioctls that the program makes
compare() { # PROGRAM WAY SOURCE [FUNCTION]
	run record -e "$3" ${type:+--stack=bpf} -o run.grt -- setarch -R ./"$1" "$2" $type
	theirs "$1" "$2" ${4:+"$4"} >theirs
	ours >ours
	cmp -s ours theirs || output=$(diff ours theirs; "$GRTRACE" dump --type stack_end run.grt)
	check "$1, $2, $3: gdb has stacks" test -s theirs
	check "ours are these, with all $(wc -w <theirs) addresses" cmp ours theirs
}
for way in deep tail signal sort; do
	compare dynamic $way sched
done
# another program in the same file, whose number does not change
g++ -O1 -fomit-frame-pointer -o another "$GRTRACE_SRC/tests/cli/unwound/ways.cc"
cp another same
run record -e sched -F 0 -o run.grt -- setarch -R sh -c './same tail; cat dynamic >same; ./same sort'
ours >ours
check "a file that was replaced gets a new table" grep -qxFf theirs ours
compare lined throw sched
# On a busy machine the first stacks are taken before the tables are there, and the kernel may leave out that a thread
# returned to a CPU, so that a line has no time: again, then.
for _ in {1..5}; do
	"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/places.py" lined ours theirs
	lines=$(grep -o '\<deep ways.cc:[0-9]*' theirs | sed 's/.*://' | sort -nu | sed -n '1p;$p' | paste -sd-)
	"$GRTRACE" flame --weight wall -o lined.svg run.grt 2>/dev/null
	tip=$(tr '\n' ' ' <lined.svg | grep -o "<title>deep ways.cc:$lines ")
	"$GRTRACE" flame --weight wall -o lined.speedscope.json run.grt 2>/dev/null
	jq -r '.shared.frames[] | select(.file) | "\(.name) \(.file):\(.line)"' lined.speedscope.json | sed 's/(.*) / /' | sort -u >profile
	cut -d' ' -f2- theirs | sed 's/ < /\n/g' | grep -v '?' | sort -u >all
	output=$(comm -23 all profile)
	[ -z "$tip" ] || [ -n "$output" ] || break
	"$GRTRACE" record -e sched -o run.grt -- setarch -R ./lined throw >/dev/null 2>&1
done
check "functions, inlined functions and lines equal addr2line's" cmp ours theirs
check "the comparison has all functions that made calls" test "$(wc -l <ours)" -ge 7
check "a frame of a flame graph has its lines in the tooltip: $lines" test -n "$tip"
check "a profile has all lines that addr2line has" test -s all -a -z "$output"
# a path of more than 255 bytes
far=$PWD/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})
mkdir -p "$far"
cp lined "$far/lined"
places() { # NAME PROGRAM
	"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/places.py" "$2" ours theirs
	check "$1: functions and lines as addr2line has them" cmp ours theirs
	check "$1: the comparison has all functions that made calls" test "$(wc -l <ours)" -ge 7
}
run record -e sched -F 0 -o run.grt -- "$far/lined" throw
places "a path of ${#far} bytes and more" "$far/lined"
# debug info elsewhere, which is found by build id: of a server only where it is asked for
cp lined unstripped
id=$(readelf -n lined | sed -n 's/.*Build ID: //p')
mkdir site
objcopy --only-keep-debug lined site/lined.debug
strip lined
elsewhere() { # [VARIABLE=VALUE...]
	env "$@" "$GRTRACE" record -e sched -F 0 -o run.grt -- ./lined throw >said 2>&1
}
compared() { # NAME; the program has its debug info again
	cp lined stripped && cp unstripped lined
	places "$1" lined
	cp stripped lined
}
server=
serve() {
	until curl -sf -o /dev/null "$DEBUGINFOD_URLS/buildid/$id/debuginfo"; do
		[ -n "$server" ] && kill -0 "$server" 2>/dev/null || {
			port=$((20000 + RANDOM % 20000))
			export DEBUGINFOD_URLS=http://127.0.0.1:$port
			env -u DEBUGINFOD_URLS -u DEBUGINFOD_CACHE_PATH debuginfod -F -p "$port" -d :memory: -t 1 -c 1 site >server 2>&1 &
			server=$!
		}
		sleep 0.1
	done
}
export DEBUGINFOD_URLS=http://127.0.0.1:1 DEBUGINFOD_CACHE_PATH=$PWD/cache
serve
elsewhere
asked() {
	grep -c "UA:elfutils.* GET /buildid/$id/debuginfo 200" server
}
check "no debuginfod server is used by default" test ! -e cache -a "$(asked)" = 0 -a -z "$("$GRTRACE" dump run.grt | grep ways.cc)"
elsewhere GRTRACE_DEBUGINFOD=1
check "the server is used if GRTRACE_DEBUGINFOD is set" test -e "cache/$id/debuginfo"
compared "debug info of a server"
kill $server
unset DEBUGINFOD_URLS
# where no such directory is, it is made for as long as the test needs it
made=
[ -d /usr/lib/debug ] || { mkdir /usr/lib/debug && made=1; }
unshare -m sh -c "mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/${id:0:2} &&
	cp site/lined.debug /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug &&
	exec \"$GRTRACE\" record -e sched -F 0 -o run.grt -- ./lined throw" >said 2>&1
[ -z "$made" ] || rmdir /usr/lib/debug
compared "debug info in /usr/lib/debug"
mv unstripped lined
run record --no-symbols -e sched -F 0 -o run.grt -- sleep 0.1
check "--no-symbols: no frame of the program has a name" test -z \
	"$("$GRTRACE" dump --type frame --json run.grt | jq -r 'select(.symbol | test("[+]0x|^0x") | not) | .symbol')"
compare static signal sched
# linked statically: the table has no header
compare whole sort sched
check "the metadata says how stacks end" grep -q 'sched_stack_ends = "entry=[1-9]' run.grt/metadata
# a program that only it sees under this name, and one that has no name any more
mkdir jail
cp whole jail/inside
cp whole gone
for command in 'exec chroot jail /inside sort' 'exec 3<gone; rm gone; exec /proc/self/fd/3 sort'; do
	run record -e sched -F 0 -o run.grt -- setarch -R sh -c "$command"
	ours >ours
	check "$command: the same stacks" cmp ours theirs
	"$GRTRACE" dump run.grt >dump
	check "with names" grep -q ' symbol="sort"' dump
done
# a program of 32 bits is walked by the kernel, if it runs here at all
if gcc -m32 -O2 -ffreestanding -nostdlib -static -fno-pie -no-pie -o narrow "$GRTRACE_SRC/tests/cli/unwound/narrow.c" 2>said && ./narrow; then
	run record -e sched -F 0 -o run.grt -- ./narrow
	check "a program of 32 bits: the kernel walks, and does not say why it ends" grep -qE \
		'sched_stack_ends = "entry=0 .* frame_pointers=([2-9][0-9]|[0-9]{3,}) ' run.grt/metadata
fi
# tables for debuggers only, as they are, and compressed
for gz in none zlib; do
	gcc -g -gz=$gz -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -o bare "$GRTRACE_SRC/tests/cli/unwound/bare.c"
	compare bare $gz sched
done
# musl's own code has no tables: what calls from the program's code is as gdb has it, to where that was called
if command -v musl-gcc >/dev/null; then
	musl-gcc -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -o musl "$GRTRACE_SRC/tests/cli/unwound/bare.c"
	compare musl deep uprobe:./musl:nap nap
else
	ok "musl # SKIP no musl-gcc: apt-get install musl-tools"
fi
# other compilers, flags and languages, in the long form
others() { # COMPILER FLAGS... -- WAYS
	local compiler=$1 flags=()
	shift
	if ! command -v "$compiler" >/dev/null; then
		ok "$compiler # SKIP no $compiler: apt-get install clang rustc golang-go"
		return
	fi
	while [ "$1" != -- ]; do
		flags+=("$1") && shift
	done
	shift
	rm -f other
	GO111MODULE=off GOCACHE=$PWD/gocache "$compiler" "${flags[@]}"
	for way in "$@"; do
		echo "# ${compiler} ${flags[*]##*/}"
		compare other "$way" sched
	done
}
if [ -n "$GRTRACE_SOAK" ]; then
	ways=$GRTRACE_SRC/tests/cli/unwound/ways
	others g++ -Os -fomit-frame-pointer -o other "$ways.cc" -- sort tail
	others g++ -O1 -fno-omit-frame-pointer -o other "$ways.cc" -- deep
	others g++ -O3 -flto -fomit-frame-pointer -o other "$ways.cc" -- throw deep
	others g++ -O2 -static-pie -fomit-frame-pointer -o other "$ways.cc" -- throw
	others clang++ -O3 -fomit-frame-pointer -o other "$ways.cc" -- throw signal
	others clang++ -O2 -static-pie -fomit-frame-pointer -o other "$ways.cc" -- deep
	others rustc -C opt-level=3 -g -o other "$ways.rs" -- deep panic
	others rustc -C opt-level=3 -C target-feature=+crt-static -o other "$ways.rs" -- deep panic
	# Go has tables for debuggers only, compressed; a goroutine's stack ends where it began
	others go build -o other "$ways.go" -- deep main
fi
# a recording of calls has its names with it, too: the program is gone
for names in "" --no-symbols; do
	cp lined away
	# shellcheck disable=SC2086 # no option is one
	run record $names -e ioctl --stack=bpf -o run.grt -- ./away deep d
	rm away
	"$GRTRACE" dump run.grt >dump
	output="$(grep -c ' symbol="deep"' dump) $(grep -c ' symbol="away+0x' dump)"
	output="by name ${output% *}, by address ${output#* }"
	if [ -z "$names" ]; then
		check "stacks of ioctls have names: $output" grep -qE '^by name [1-9][0-9]+,' <<<"$output"
	else
		check "with $names they have none: $output" grep -qE '^by name 0, by address [1-9][0-9]+$' <<<"$output"
	fi
done
# NVIDIA's driver is stood in for by /dev/null
mkdir -p sys/proc
printf 'Character devices:\n  1 nvidia-null\n' >sys/proc/devices
type=d compare dynamic tail ioctl ioctl
# what was walked before is not walked again, and the other caller's stack is not taken for it
type=d compare dynamic turns ioctl ioctl
"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/turns.py" >output
check "each of two callers has every other call: $(cat output)" test $? = 0
type=F GRTRACE_SYSROOT=$PWD/sys compare lined throw nvidia ioctl
check "the metadata says how stacks of nvidia end" grep -q 'nvidia_stack_ends = "entry=[1-9]' run.grt/metadata
nap=_ZL3napv
for way in tail signal; do
	compare dynamic $way uprobe:./dynamic:$nap $nap
done
compare static deep uprobe:./static:$nap $nap
run record -e uprobe:./lined:$nap -o run.grt -- setarch -R ./lined deep
at=$(objdump -d --no-show-raw-insn lined | sed -n '/<_ZL4deep.*>:$/,/^$/s/^ *\([0-9a-f]*\):.*call.*<_ZL3napv>/\1/p')
line=$(addr2line -se lined $at | sort -u | paste -sd'|')
run report --by stack run.grt
expect "report names the line of the call: $line" 0 "nap \(ways.cc:[0-9]+\) < deep \(($line)\)"
check "the metadata says how stacks of uprobe end" grep -q 'uprobe_decoder = ".* entry=[1-9]' run.grt/metadata

# What the tables take is what the kernel has for their maps, where nobody else records; rows may still come.
run record -e sched -F 0 -o run.grt -- sh -c 'sleep 0.5; bpftool map show -j >maps'
if [ "$(jq '[.[] | select(.name == "unwind_slots")] | length' maps)" = 1 ]; then
	bytes=$(sed -n 's/.*sched_tables = ".* bytes=\([0-9]*\) .*/\1/p' run.grt/metadata)
	maps=$(jq '[.[] | select(.name | test("^(unwind_|python_(codes|news|unnamed))")).bytes_memlock] | add' maps)
	check "tables take $bytes bytes, their maps $maps" test "$bytes" -gt "$maps" -a "$bytes" -lt $((maps + (4 << 20)))
fi

# CPython's frames are those that the program itself has at each of its sleeps.
declare -A tried
cp "$GRTRACE_SRC/tests/cli/unwound/python.py" .
frames_of() { # PROGRAM [WHERE IT SEES THIS DIRECTORY]
	local version wait status at=${2:-.}
	version=$("$1" -c 'import os, sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || return 0
	[[ $version == 3.1[0-4] && -z ${tried[$version]:-} ]] || return 0
	tried[$version]=1
	# a busy machine builds its tables later: sleeps before that have no frames of Python, and none is wrong
	for wait in 0.8 4 15; do
		run record -e sched -F 0 -o run.grt -- "$1" "$at/python.py" "$at/truth" $wait
		"$GRTRACE" dump run.grt >dump
		output=$(python3 "$GRTRACE_SRC/tests/cli/unwound/python_stacks.py" truth <dump)
		status=$?
		[[ $status != 0 && $output =~ ([0-9]+)\ of\ [0-9]+\ sleeps\ seen,\ ([0-9]+)\ the\ same && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]] || break
	done
	check "Python $version${2:+ of ${1#./in-}}: its frames are those that it has: ${output##*$'\n'}" test $status = 0
}
for program in /usr/bin/python3 python3 python3.1{0,1,2,3,4}; do
	command -v "$program" >/dev/null && frames_of "$program"
done
# those of other suites
for suite in ${GRTRACE_SOAK:+ubuntu:jammy:3.10 ubuntu:noble:3.12 debian:trixie:3.13 debian:sid:3.13 debian:sid:3.14}; do
	IFS=: read -r archive name number <<<"$suite"
	if python_of "$archive" "$name" "$number"; then
		tried=()
		frames_of "./in-$name-$number" /mnt
	else
		ok "Python $number of $name # SKIP its packages cannot be had: $(tail -n 1 unpacked)"
	fi
done
# More code objects than have a name: no frame is left out, and those without are counted.
run record -e ioctl --stack=bpf -o run.grt -- /usr/bin/python3 "$GRTRACE_SRC/tests/cli/unwound/many_codes.py"
cp output told
"$GRTRACE" dump run.grt | python3 "$GRTRACE_SRC/tests/cli/unwound/many_stacks.py" "$(grep -oE 'unnamed=[0-9]+' run.grt/metadata)" told >output
check "frames of more code objects than have a name: $(cat output)" test $? = 0
# as above, for tables that are built late
for wait in 0.8 4 15; do
	run record -e sched -F 0 -o run.grt -- /usr/bin/python3 "$GRTRACE_SRC/tests/cli/unwound/python.py" truth $wait
	"$GRTRACE" flame --weight wall -o python.folded run.grt
	! grep -q ' (python.py:[0-9]*);' python.folded || break
done
check "a flame graph has them with their lines" grep -q ';main (python.py:[0-9]*);every (python.py:[0-9]*);' python.folded
for wait in 0.8 4 15; do
	run record -e uprobe:/lib/x86_64-linux-gnu/libc.so.6:clock_nanosleep -o run.grt -- /usr/bin/python3 "$GRTRACE_SRC/tests/cli/unwound/python.py" truth $wait
	run report --by stack run.grt
	! says '\(python.py:[0-9]+\)' || break
done
expect "a uprobe's stack has them" 0 'clock_nanosleep .*nap \(python.py:[0-9]+\)'
plan
