#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# libgrtrace-cuda.so loads with an old glibc: it asks for no version above 2.17. With GRTRACE_SOAK=1 the mock is built in
# a root of Ubuntu 16.04 (glibc 2.23) and recorded there by the library that was built here. The root stays in the cache of
# tools/vm.

# shellcheck source=tests/inject/_lib.sh
. "$GRTRACE_SRC/tests/inject/_lib.sh"

newest=2.17
versions() { # LIBRARY: its names with versions of glibc
	objdump -T "$1" | sed -nE 's/.*\*UND\*.*\(?GLIBC_([0-9.]+)\)? +([A-Za-z0-9_]+)$/\1 \2/p'
}
too_new() {
	versions "$1" | while read -r version name; do
		[ "$(printf '%s\n' "$version" $newest | sort -V | tail -n 1)" = $newest ] || echo "$name is of glibc $version"
	done
}

output=$(too_new "$LIBRARY")
check "it asks for nothing that is newer than glibc $newest" silent
check "it asks for something" test "$(versions "$LIBRARY" | wc -l)" -gt 50
output=$(too_new "$MOCK/libcuda.so.1")
check "what is newer would be seen" says ' is of glibc 2\.[23]'
output=$(readelf -d "$LIBRARY")
for needed in libdl.so.2 libpthread.so.0; do
	check "it has $needed loaded, in which an old glibc has some of them" says "NEEDED.*\[$needed\]"
done

# ---- the long form

in_root() { # COMMAND...
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mkdir -p "$0/here" &&
		mount --bind "$PWD" "$0/here" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$root" "$@"
}
make_root() {
	[ ! -d "$root" ] || return 0
	rm -rf --one-file-system "$root.new"
	debootstrap --variant=minbase --no-check-gpg --include=gcc,libc6-dev xenial "$root.new" http://archive.ubuntu.com/ubuntu && mv "$root.new" "$root"
}
build_mock() {
	mkdir -p mock && cp -r "$GRTRACE_SRC"/{tests,inject,include,lib} . && in_root sh -ec '
		cd /here
		flags="-std=gnu11 -D_GNU_SOURCE=1 -Iinclude -Ilib -Iinject -Itests/inject/mock -fPIC -fno-omit-frame-pointer -g -O2 -w -DSECCOMP_RET_KILL_PROCESS=0x80000000U -Wl,-rpath,\$ORIGIN"
		m=tests/inject/mock
		gcc $flags -shared -Wl,-soname,libcuda.so.1 -o mock/libcuda.so.1 $m/cuda.c $m/sampling.c -lpthread -ldl
		gcc $flags -shared -Wl,-soname,libcudart.so.13 -o mock/libcudart.so.13 $m/cudart.c
		gcc $flags -shared -Wl,-soname,libcupti.so.13 -o mock/libcupti.so.13 $m/cupti.c $m/pcsampling.c mock/libcuda.so.1
		gcc $flags -o mock/app $m/app.c mock/libcuda.so.1 mock/libcudart.so.13 -lpthread -lrt -ldl'
}
play_there() { # SCENE
	rm -rf out.grt log
	cp "$LIBRARY" .
	output=$(in_root env MOCK_LOG=/here/log CUDA_INJECTION64_PATH=/here/libgrtrace-cuda.so GRTRACE_OUTPUT=/here/out.grt \
		timeout 120 /here/mock/app "$@" 2>&1)
	status=$?
	records out.grt
}

if [ -n "${GRTRACE_SOAK:-}" ]; then
	[ "$(id -u)" = 0 ] || skip_all "only root can make a root of Ubuntu: sudo tests/run --soak tests/inject/glibc.sh"
	command -v debootstrap >/dev/null || skip_all "no debootstrap: apt-get install debootstrap"
	root=${GRTRACE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/grtrace/vm}/ubuntu-xenial
	make_root >root.log 2>&1 || skip_all "no root of Ubuntu 16.04: $(tail -n 1 root.log)"
	output=$(in_root ldd --version 2>&1)
	check "its glibc is old" says 'GLIBC 2\.23'
	output=$(build_mock 2>&1)
	status=$?
	check "the mock is built there" exits 0
	for scene in plain calls threads; do
		play_there "$scene"
		exact "$scene: every record is there, and no other"
	done
fi
plan
