#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program that runs without the library gets it: it computes what it would have, and its waits do not end early.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace
unset MOCK_LOG

if [ "$(uname -m)" != x86_64 ] || { [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)" -gt 0 ]; }; then
	echo "1..0 # SKIP needs x86-64, and root or ptrace_scope 0"
	exit 4
fi

as=()
begin() { # PROGRAM...
	begin_waiting "${as[@]}" "$@"
}
# Files that a process has mapped, but for the library's and what it loads: CUPTI, and two of the C library, which are
# empty from glibc 2.34 on; and for the kernel's page for uprobes, which another tracer of the C library may have made.
mapped() { # PID
	awk '{ print $2, $6 }' "/proc/$1/maps" | grep -vE ' $|grtrace|libcupti|/libdl\.so|/libpthread\.so|\[uprobes\]' | sort
}

begin "$MOCK/app" ask 2000
finish
sum=$(sed -n 's/^sum \([0-9a-f]*\),.*/\1/p' said)

begin "$MOCK/app" ask 2000
mapped $pid >before
SECONDS=0
run record -e cuda -p $pid -d 0.2 -o c.grt
expect "a program that was started without it" 0 'the library was loaded into process [0-9]+, which stopped one of its threads for at most [0-9.]+ ms'
read -r kernels bad < <(whole c.grt)
check "its kernels are there" test "${kernels:-0}" -gt 10
check "none is missing between the first and the last" test "$bad" = 0
output=$("$GRTRACE_BUILD/tests/inject/joined" c.grt)
# What was launched while the window began has its kernel alone: one for each thread at most.
check "with launches and whole stacks" says 'unknown=[0-4] .* with_stack=[1-9]'
cycles=${GRTRACE_SOAK:+1000}
failed=0 missing=0 empty=0
for ((i = 0; i < ${cycles:=5}; i++)); do
	run record -e cuda -p $pid -d 0.05 -o c.grt
	[ $status = 0 ] || failed=$((failed + 1))
	read -r kernels bad < <(whole c.grt)
	missing=$((missing + ${bad:-1}))
	[ "${kernels:-0}" -gt 0 ] || empty=$((empty + 1))
done
check "$cycles times more: $failed failed, $missing kernels missing, $empty without a kernel" test "$failed $missing $empty" = "0 0 0"
mapped $pid >after
check "what it has mapped is as before, but for the library" cmp before after
check "memory that was needed to load it is gone" test -z "$(grep rwxp /proc/$pid/maps)"
finish
check "it ends well" exits 0
check "with what it computes, no wait that ended early, and CUPTI as before" says "^sum $sum, $((cycles + 1)) windows, 0 unclean, finalized $((cycles + 1)) times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"

# A recorder that is killed at any moment.
kills=${GRTRACE_SOAK:+200}
alive=0
for ((i = 0; i < ${kills:=6}; i++)); do
	begin "$MOCK/app" ask 1000
	"$GRTRACE" record -e cuda -p $pid -d 5 -o killed.grt >/dev/null 2>&1 &
	recorder=$!
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -KILL $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	sleep 0.5
	finish
	if [ $status = 0 ] && says ' 0 faults, .* 0 asked, 0 disturbed$'; then
		alive=$((alive + 1))
	else
		sed "s/^/# killed: status $status: /" said
	fi
done
check "the recorder is killed $kills times: the program ends as without it" test $alive = $kills

# A control group as container engines make them, which a process of another namespace of control groups does not see.
id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
group=$(findmnt -n -o TARGET -t cgroup2 2>/dev/null | head -n 1)
group=${group:+$group/docker-$id.scope}
enter='exec "$@"'
if [ -n "$group" ] && [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null; then
	enter='echo $$ >'"$group/cgroup.procs"' && exec unshare -C "$@"'
else
	group=
fi

# Another mount and PID namespace, in which the library is not.
if [ "$(id -u)" = 0 ] && unshare -mpf true 2>/dev/null; then
	as=(sh -c "$enter" enter unshare -mpf --mount-proc sh -c 'cat /proc/self/cgroup >seen; mount --bind /dev/null "$0" && exec "$@"' "$LIBRARY")
	begin "$MOCK/app" ask 1000
	as=()
	inner=$(pgrep -P $pid)
	run record -e cuda -p "$inner" -d 0.2 -o c.grt
	expect "a process of another mount and PID namespace" 0 'the library was loaded into'
	output=$("$GRTRACE_BUILD/tests/inject/joined" c.grt)
	check "its kernels have their launches" says '^launches=[1-9].* kernels=[1-9].* unknown=[0-4] '
	output=$("$GRTRACE" dump -t owner c.grt)
	if [ -n "$group" ]; then
		check "its control group is the recorder's view of it" says " cgroup=\"[^ ]*/docker-$id\.scope\"\$"
		check "which it does not see itself" test -s seen -a -z "$(grep docker seen)"
	else
		check "its control group is there" says ' cgroup="/'
	fi
	finish
	check "and it ends as without it" says ' 1 windows, 0 unclean, .* 0 disturbed$'
	[ -z "$group" ] || rmdir "$group"
else
	echo "# namespaces: needs root"
fi

# ------------------------------------------------------------- what is refused

refused() { # NAME WHY
	run record -e cuda -p $pid -d 1 -o refused.grt
	check "$1: refused" test $status != 0
	check "$1: why" says "$2"
	check "$1: what to type" says '^  try: '
	check "$1: it lives" kill -0 $pid
}
cat >traces.py <<-'END'
	import ctypes, os, sys, time
	libc = ctypes.CDLL(None)
	libc.ptrace(0x4206, int(sys.argv[1]), 0, 0)
	print("traced", flush=True)
	time.sleep(60)
END
begin "$MOCK/app" ask 1000
if command -v python3 >/dev/null; then
	python3 traces.py $pid >traced &
	tracer=$!
	await '[ -s traced ]'
	refused "a process that a debugger has" "process $tracer traces it already"
	kill $tracer
	wait $tracer 2>/dev/null
fi
if [ "$(id -u)" = 0 ]; then
	output=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$GRTRACE" record -e cuda -p $pid -d 1 -o "$(mktemp -u)" 2>&1)
	status=$?
	check "another user's process: refused" test $status = 3
fi
finish
check "and it was not touched" says ' 0 windows, .* 0 disturbed$'
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }\n' >static.c
if cc -static -o static static.c 2>/dev/null; then
	begin ./static
	refused "a static program" "static program"
	kill $pid
	wait $pid 2>/dev/null
fi

# Filters of seccomp: the process would be killed, get an error, or a signal, for a call that is added to its own.
number() { # CALL
	printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | cc -E -P - | tail -n 1
}
readonly KILL=0x80000000 TRAP=0x30000 ERRNO=0x50001 ENOSYS=0x50026 ALLOW=0x7fff0000 NOTIFY=0x7fc00000
# Refused for these reasons, and the program goes on to its end as if nobody had asked.
spared() { # WHAT REGEX
	expect "$1: refused" 3 "cannot load the library into process [0-9]+: .*$2"
	finish
	check "$1: the program goes on to its end" exits 0
	check "$1: it was not touched" says "^sum $sum, 0 windows, .* 0 disturbed$"
}
recorded() { # WHAT
	expect "$1: recorded" 0 'the library was loaded into process'
	finish
	check "$1: the program ends well" exits 0
	check "$1: with what it computes" says "^sum $sum, 1 windows, 0 unclean, .* 0 disturbed$"
}
# In its filter, the program itself may do what it does.
own="$(number access):$ALLOW,$(number exit_group):$ALLOW"
calls=$(sed -nE 's/^X\(([a-z0-9_]+),.*/\1/p' "$GRTRACE_SRC/sources/seccomp_calls.def" | sort -u)
allowed=$own
for call in $calls; do
	allowed+=",$(number "$call"):$ALLOW"
done
MOCK_CAGE="$allowed,*:$KILL" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
recorded "killed for each call but those that are known to be needed"
MOCK_CAGE="$(number openat):$KILL" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
spared "killed for openat" 'its seccomp filter kills it for openat, which recording needs'
# each call of the program's own would end it without a recorder, too
for call in mmap memfd_create ftruncate pipe2 getdents64 prctl clone process_vm_readv; do
	MOCK_CAGE="$(number $call):$KILL" begin "$MOCK/app" ask 2000
	run record -e cuda -p $pid -d 0.2 -o c.grt
	spared "killed for $call" "its seccomp filter kills it for $call, which recording needs"
done
MOCK_CAGE="$(number openat):$TRAP" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
spared "a signal for openat" 'its seccomp filter sends it SIGSYS for openat'
MOCK_CAGE="$(number openat):$ERRNO" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
spared "an error of openat" 'its seccomp filter makes openat fail'
MOCK_CAGE="$(number pipe2):$NOTIFY" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
spared "another process decides" 'its seccomp filter leaves pipe2 to another process'
MOCK_CAGE="$(number openat):$KILL" MOCK_CAGE_ALONE=1 begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
spared "only one thread is killed for openat" 'its seccomp filter kills it for openat'
# as those of containers: what they forbid is not needed, or there is another way
MOCK_CAGE="$(number ptrace):$KILL,$(number connect):$KILL,$(number bpf):$ERRNO,$(number clone3):$ENOSYS" begin "$MOCK/app" ask 2000
run record -e cuda -p $pid -d 0.2 -o c.grt
recorded "a filter without calls that are needed"
if [ "$(id -u)" = 0 ]; then
	MOCK_CAGE="$(number ptrace):$ERRNO" begin "$MOCK/app" ask 2000
	output=$(setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$GRTRACE" record -e cuda -p $pid -d 0.2 -o c.grt 2>&1)
	status=$?
	expect "a filter that may not be read" 3 'only root outside of containers may read the filter'
	finish
	check "its program was not touched" says ' 0 windows, .* 0 disturbed$'
fi
plan
