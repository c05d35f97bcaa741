#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each allocation and each system call of a command fails in turn: no command crashes
# or hangs, one that says by its status that all went well printed what it prints
# without the failure, and a file of -o is whole or not there.
# Allocations fail by a library of this test, system calls by strace, which has that
# built in. The program is the one without sanitizers: they have an allocator of their own.
# long

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

command -v strace >/dev/null || { echo "no strace: apt-get install strace" && exit 4; }
program=$GRTRACE_PLAIN/grtrace
make --no-print-directory -s -C "$GRTRACE_SRC" O="$GRTRACE_PLAIN" "$program" || exit 1
${CC:-cc} -O1 -shared -fPIC -o memory.so "$GRTRACE_SRC/tests/cli/faults/memory.c" || exit 1
command -v busybox >/dev/null || { echo "no busybox: apt-get install busybox-static" && exit 4; }
strace -qq -o /dev/null true || { echo "strace cannot trace here: is ptrace allowed?" && exit 4; }

# System calls that read and write, and the error that each can meet. Not close: strace would keep the
# file open, and who waits for its end would wait for ever.
readonly calls="openat:EMFILE read:EIO pread64:EIO newfstatat:EACCES fstat:EIO mmap:ENOMEM
	getdents64:EIO lseek:EIO write:ENOSPC writev:ENOSPC pwrite64:ENOSPC ftruncate:EIO renameat:EIO
	rename:EIO renameat2:EIO unlinkat:EIO mkdir:ENOSPC mkdirat:ENOSPC fchmod:EIO fdatasync:EIO pipe2:EMFILE poll:EINTR"

"$GRTRACE_BUILD/tests/cli/traces" every every.grt
"$GRTRACE_BUILD/tests/cli/traces" job job.grt
text=$GRTRACE_SRC/tests/golden/ftrace/amdgpu.report
amd=$GRTRACE_SRC/tests/golden/amdlog/era-57.log
bpftrace=$GRTRACE_SRC/tests/golden/bpftrace/nvidia.txt

# Of allocations, every one in the long form, else every third.
step=3
[ -z "$GRTRACE_SOAK" ] || step=1

# Runs a command as it is, then judges what the same command does with a failure.
reference() { # ARGS...
	rm -rf made.*
	timeout -k 5 120 "$program" "$@" >whole.out 2>whole.err </dev/null
	whole=$?
	made=$(cat made.* 2>/dev/null | cksum)
	rm -rf made.*
}

# Whether what is printed otherwise is a value that is said to be unknown: percentiles without room are.
only_unknown() {
	awk -F '[][ \t,:{}]+' 'NR == FNR { for (i = 1; i <= NF; i++) known[$i]; next }
		{ for (i = 1; i <= NF; i++) if (!($i in known) && $i != "-" && $i != "null") exit 1 }' whole.out fault.out
}

judge() { # WHAT STATUS
	local state=$2 now

	if [ "$state" -gt 3 ]; then
		bad+="$1: status $state: $(tail -c 200 fault.err)"$'\n'
	elif [ "$state" = 0 ] && [ "$whole" = 0 ] && ! cmp -s whole.out fault.out && ! only_unknown; then
		bad+="$1: status 0, but another output"$'\n'
	elif [ "$state" != 0 ] && ! [ -s fault.err ]; then
		bad+="$1: status $state without a word"$'\n'
	fi
	now=$(cat made.* 2>/dev/null | cksum)
	[ "$now" = "$made" ] || [ -z "$(ls made.* 2>/dev/null)" ] ||
		bad+="$1: half of the output file is left"$'\n'
	rm -rf made.*
}

try_memory() { # ON ARGS...
	local on=$1 n i
	shift
	FAULT_LOG=count LD_PRELOAD=./memory.so "$program" "$@" >/dev/null 2>&1 </dev/null
	n=$(cat count)
	rm -rf made.*
	for ((i = on + 1; i <= n; i += step)); do
		FAULT_AT=$i FAULT_ON=$on LD_PRELOAD=./memory.so timeout -k 5 120 "$program" "$@" >fault.out 2>fault.err </dev/null
		judge "allocation $i of $n (on: $on)" $?
	done
	tried=$((tried + n / step))
}

try_call() { # NAME ERROR ARGS...
	local name=$1 error=$2 i
	shift 2
	strace -f -qq -y -e "trace=openat,$name" -o trace.log "$program" "$@" >/dev/null 2>&1 </dev/null
	rm -rf made.*
	# strace counts the calls of each thread; here are those of the first one. The program begins with
	# /dev/null, the calls before it are the loader's. Between its own processes and threads nothing fails so,
	# and nobody can be told that standard error cannot be written.
	for i in $(awk -v name=" $name(" 'NR == 1 { pid = $1 } $1 == pid && /"\/dev\/null"/ { begun = 1 }
		$1 == pid && index($0, name) && ++n && begun && !/<pipe:|<anon_inode:|write\(2</ { print n }' trace.log); do
		timeout -k 5 120 strace -f -qq -e "trace=$name" -e "inject=$name:error=$error:when=$i" -o trace.log \
			"$program" "$@" >fault.out 2>fault.err </dev/null
		judge "$name $i ($error)" $?
		tried=$((tried + 1))
	done
}

try() { # ARGS...
	local row on bad='' tried=0
	reference "$@"
	for on in 0 1; do
		try_memory "$on" "$@"
	done
	for row in $calls; do
		try_call "${row%:*}" "${row#*:}" "$@"
	done
	output=$bad status=
	check "grtrace ${*##*/}: $tried failures, one at a time" test -z "$bad" -a "$tried" -gt 40
}

try report every.grt
try report --json --by job job.grt
try report --json "$text"
try report "$bpftrace"
try dump --json every.grt
# bars as the C locale has them: where memory for a locale is missing, they are the same
try timeline --ascii job.grt
try flame --weight wall -o made.svg every.grt
try export -f perfetto -o made.pftrace every.grt
try export -f chrome -o made.json every.grt
try export -f csv every.grt
try merge --cpu "$text" --gpu job.grt -o made.txt
try rocm report --amd-log "$amd"
try monitor all -i job.grt

# A recording during which something failed is readable as far as it goes, or there is none. A program that
# was started keeps its status; the recorder's own are 1 to 3.
judge() { # WHAT STATUS
	local read=0

	[ "$2" -le 3 ] || bad+="$1: status $2: $(tail -c 200 fault.err)"$'\n'
	[ "$2" = 0 ] || [ -s fault.err ] || bad+="$1: status $2 without a word"$'\n'
	if [ -d made.grt ]; then
		"$program" dump made.grt >read.out 2>read.err
		read=$?
		[ $read -le 1 ] || bad+="$1: dump of what is left: status $read: $(head -c 200 read.err)"$'\n'
		[ "$2" != 0 ] || [ $read = 0 ] || bad+="$1: status 0, but dump fails: $(head -c 200 read.err)"$'\n'
	elif [ "$2" = 0 ]; then
		bad+="$1: status 0 without a recording"$'\n'
	fi
	rm -rf made.grt
}

# The program has no loader and hardly allocates, so that the failures are the recorder's.
try record -e hostlog -o made.grt busybox sh -c 'echo ":3:a.cpp:1: 0000000001 us: 1: [tid:0x7f00] hipInit ( 0 )" >&2'

echo "1..$checks"
