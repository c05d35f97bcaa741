#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dkms with the modules' source as `make dkms` puts it there: it adds, builds,
# signs and installs every module of Kbuild, and removes them. In directories of
# its own, so that nothing of this machine is changed.

set -u -o pipefail
number=0
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		tail -n 30 said tree/grtrace/*/build/make.log 2>/dev/null | sed 's/^/# /'
		echo "not ok $number - $1"
		return 1
	fi
}
command -v dkms >/dev/null || { echo "1..0 # SKIP no dkms: tools/setup check" && exit; }
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP only root may use dkms: sudo tests/run package" && exit; }
kernel=$(ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
kernel=${kernel#/usr/src/linux-headers-}
[ -n "$kernel" ] || { echo "1..0 # SKIP no kernel headers: tools/setup check" && exit; }

version=$(sed -n 's/^#define GRT_VERSION "\(.*\)"/\1/p' "$GRTRACE_SRC/include/grtrace/version.h")
mapfile -t modules < <(sed -n 's/^obj-.*+= \(grtrace[a-z0-9_]*\)\.o$/\1/p' "$GRTRACE_SRC/kernel/Kbuild")
mkdir -p tree "installed/$kernel" # a kernel is there when its directory is

with_dkms() { # COMMAND [OPTIONS]
	dkms "$1" --dkmstree "$PWD/tree" --sourcetree "$PWD/dest/usr/src" --installtree "$PWD/installed" \
		-m grtrace -v "$version" "${@:2}" </dev/null
}

installed() {
	local module
	for module in "${modules[@]}"; do
		ls installed/*/updates/dkms/"$module".ko* || return
	done
}

as_many_as_built() {
	[ "$(find installed -name '*.ko*' | wc -l)" = "${#modules[@]}" ] || find installed -name '*.ko*' | grep -v .
}

check "make dkms puts the source in its place" env -u MAKEFLAGS make -s -C "$GRTRACE_SRC" DESTDIR="$PWD/dest" dkms &&
	check "dkms add" with_dkms add &&
	check "dkms build, for $kernel" with_dkms build -k "$kernel" &&
	check "dkms install" with_dkms install -k "$kernel" && {
	check "each of the ${#modules[@]} modules of Kbuild is installed" installed
	check "and nothing else" as_many_as_built
	check "dkms remove" with_dkms remove --all
	check "leaves no module" sh -c '! find installed -name "*.ko*" | grep .'
}
echo "1..$number"
