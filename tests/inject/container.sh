#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A program in a container of podman, recorded from the host and from inside: where it began with the library, and where
# it gets it; with the filter of system calls that containers have, and others. The container's files are a copy of
# this system's.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"
GRTRACE=$GRTRACE_PLAIN/grtrace
unset MOCK_LOG
[ "$(id -u)" = 0 ] || skip_all "only root: sudo tests/run"
command -v podman >/dev/null || skip_all "no podman: apt-get install podman"

# A mount namespace of its own: crun does not run where control groups of both versions have controllers.
if [ -z "${CONTAINER_INSIDE:-}" ]; then
	CONTAINER_INSIDE=1 exec unshare -m bash "$0"
fi
umount /sys/fs/cgroup/unified 2>/dev/null
root=$PWD/root
mkdir -p space
lay() {
	mount -t tmpfs tmpfs space && mkdir -p space/upper space/work "$root" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/space/upper,workdir=$PWD/space/work" "$root"
}
lay 2>/dev/null || skip_all "no overlay can be mounted here"
name=grtrace-test-$$
pods() {
	podman --cgroup-manager=cgroupfs --root "$PWD/pods" --runroot "$PWD/run" "$@"
}
pods run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --rootfs "$root" true >said 2>&1 ||
	skip_all "podman cannot run a container here: $(tail -n 1 said)"

# The program in a container: $inner is its number here; `said` is its output, MOCK_GO a file in the container's /tmp.
begin_in() { # OPTIONS OF podman run... -- COMMAND...
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f said "$root/tmp/go"
	pods run --rm --name "$name" --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -e MOCK_GO=/tmp/go \
		"${options[@]}" --rootfs "$root" "$@" >said 2>&1 &
	pid=$!
	await 'grep -q ready said 2>/dev/null'
	inner=$(pods inspect --format '{{.State.Pid}}' "$name" 2>/dev/null)
}
finish_in() {
	pods exec "$name" touch /tmp/go
	wait $pid
	status=$?
	output=$(<said)
}
# Of the recording c.grt: kernels with their launches, and the container as the host knows it.
recorded() { # NAME [CONTAINER]
	check "$1: it is recorded" test "$status" = 0
	read -r kernels bad < <(whole c.grt)
	check "$1: kernels are there, none missing" test "${kernels:-0}" -gt 0 -a "${bad:-1}" = 0
	output=$("$GRTRACE_BUILD/tests/inject/joined" c.grt)
	check "$1: with launches and stacks" says '^launches=[1-9].* kernels=[1-9].* unknown=[0-4] .* with_stack=[1-9]'
	[ -z "${2:-}" ] || check "$1: in its container ($2)" test "$("$GRTRACE" dump -t owner c.grt | grep -c "libpod-$2")" = 1
}

begin_waiting "$MOCK/app" ask 1000
finish
sum=$(sed -n 's/^sum \([0-9a-f]*\),.*/\1/p' said)

# As podman runs containers: with a filter, and without the right to trace.
begin_in -e CUDA_INJECTION64_PATH="$LIBRARY" -- "$MOCK/app" ask 1000
check "a container runs" test -n "$inner"
check "it has a filter of system calls" grep -q '^Seccomp:.2' "/proc/$inner/status"
id=$(pods inspect --format '{{.Id}}' "$name")
run record -e cuda -p "$inner" -d 0.2 -o c.grt
recorded "it began with the library; from the host" "$id"
pods exec "$name" "$GRTRACE" record -e cuda -p 1 -d 0.2 -o /tmp/c.grt >inside 2>&1
status=$?
rm -rf c.grt
cp -r "/proc/$inner/root/tmp/c.grt" . 2>/dev/null
recorded "it began with the library; from inside"
finish_in
check "it ends as a program without a recorder" says "^sum $sum, 2 windows, 0 unclean, finalized 2 times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"

if [ "$(uname -m)" = x86_64 ]; then
	begin_in -- "$MOCK/app" ask 1000
	id=$(pods inspect --format '{{.Id}}' "$name")
	run record -e cuda -p "$inner" -d 0.2 -o c.grt
	recorded "it began without, under the filter of containers; from the host" "$id"
	finish_in
	check "it ends well" says "^sum $sum, 1 windows, 0 unclean, finalized 1 times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"

	# Inside, nobody may read a filter.
	begin_in --cap-add SYS_PTRACE -- "$MOCK/app" ask 1000
	output=$(pods exec "$name" "$GRTRACE" record -e cuda -p 1 -d 0.2 -o /tmp/refused.grt 2>&1)
	status=$?
	expect "from inside: refused" 3 'its seccomp filter may kill it, and only root outside of containers may read the filter'
	finish_in
	check "from inside: it was not touched" says "^sum $sum, 0 windows, .* 0 asked, 0 disturbed$"

	# A filter that podman makes: its program would be killed.
	echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["memfd_create"], "action": "SCMP_ACT_KILL_PROCESS"}]}' >profile.json
	begin_in --security-opt seccomp="$PWD/profile.json" -- "$MOCK/app" ask 1000
	run record -e cuda -p "$inner" -d 0.2 -o refused.grt
	expect "a filter that kills for a call that is needed: refused" 3 'its seccomp filter kills it for memfd_create, which recording needs'
	finish_in
	check "and it was not touched" says "^sum $sum, 0 windows, .* 0 asked, 0 disturbed$"

	begin_in --security-opt seccomp=unconfined --cap-add SYS_PTRACE -- "$MOCK/app" ask 1000
	id=$(pods inspect --format '{{.Id}}' "$name")
	run record -e cuda -p "$inner" -d 0.2 -o c.grt
	recorded "without a filter it gets it; from the host" "$id"
	finish_in
	check "and ends well" says "^sum $sum, 1 windows, 0 unclean, finalized 1 times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"

	begin_in --security-opt seccomp=unconfined --cap-add SYS_PTRACE -- "$MOCK/app" ask 1000
	pods exec "$name" "$GRTRACE" record -e cuda -p 1 -d 0.2 -o /tmp/c.grt >inside 2>&1
	status=$?
	rm -rf c.grt
	cp -r "/proc/$inner/root/tmp/c.grt" . 2>/dev/null
	recorded "without a filter it gets it; from inside"
	finish_in
	check "and ends well, too" says "^sum $sum, 1 windows, 0 unclean, finalized 1 times, 0 faults, [0-9]+ callbacks, 0 asked, 0 disturbed$"
fi
plan
