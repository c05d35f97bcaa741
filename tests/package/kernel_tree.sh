#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kernel/ in the source tree of a kernel, Debian 12's with Debian's settings: its
# options are under Graphics support, and it builds there without warnings, as
# modules and built in.
# long

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

headers=$(ls -d /usr/src/linux-headers-6.1*-amd64 2>/dev/null | sort -V | tail -n 1)
[ -n "$headers" ] || skip_all "no settings of Debian's kernel: apt-get install linux-headers-amd64"
for program in bc bison flex; do
	command -v $program >/dev/null || skip_all "no $program: tools/setup check"
done
linux=$("$GRTRACE_SRC/tools/linux-source" 2>said) || skip_all "no source of a kernel: $(tail -n 1 said)"
# Prepared once; our part of it is made again each time.
built=$linux.built
mkdir -p "$built" && exec {lock}>"$built/.grtrace-lock" && flock "$lock"

# Debian's sources have no version of their own, and its key is not here.
in_tree() { # ARGUMENTS OF make
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j"$(nproc)" -C "$linux" O="$built" \
		KCFLAGS=-Werror "$@"
}

options() {
	sed -n 's/^config //p' "$GRTRACE_SRC/kernel/Kconfig"
}

# Sets every option of ours, and what it depends on, to y or m.
configure() { # y|m
	local option settings=(--disable SYSTEM_TRUSTED_KEYRING --disable MODULE_SIG --disable DEBUG_INFO_BTF
		--set-str SYSTEM_TRUSTED_KEYS '' --set-val DRM "$1")
	for option in $(options); do
		settings+=(--set-val "$option" "$1")
	done
	cp "$headers/.config" "$built/.config" &&
		"$linux/scripts/config" --file "$built/.config" "${settings[@]}" &&
		in_tree olddefconfig || return
	for option in $(options); do
		grep -qx "CONFIG_$option=$1" "$built/.config" && continue
		echo "CONFIG_$option is not $1"
		return 1
	done
}

under_graphics_support() {
	awk '/^menu "Graphics support"/ { in_menu = 1 } /^source "drivers\/gpu\/grtrace\/Kconfig"/ { found = in_menu }
		/^endmenu/ { in_menu = 0 } END { exit !found }' "$linux/drivers/video/Kconfig"
}

build() {
	rm -rf "$built/drivers/gpu/grtrace"
	in_tree drivers/gpu/grtrace/
}

all_objects() {
	local name
	for name in $(sed -n 's/^obj-.*+= \(grtrace[a-z0-9_]*\.o\)$/\1/p' "$GRTRACE_SRC/kernel/Kbuild"); do
		[ -s "$built/drivers/gpu/grtrace/$name" ] || { echo "no $name" && return 1; }
	done
}

# Built in, all files share one name space.
link() {
	ld -r --whole-archive "$built/drivers/gpu/grtrace/built-in.a" -o linked.o
}

check "the sources go into the tree" "$GRTRACE_SRC/tools/kernel-tree" --into "$linux" &&
	check "a second time, too" "$GRTRACE_SRC/tools/kernel-tree" --into "$linux"
check "each list of the tree has its line once" test \
	"$(cat "$linux/drivers/gpu/Makefile" "$linux/drivers/video/Kconfig" | grep -c grtrace/)" = 2
check "the options are under Graphics support" under_graphics_support
for how in m y; do
	check "every option can be $how" configure $how &&
		check "the tree is prepared for it" in_tree prepare &&
		check "it builds with $how, without warnings" build || continue
	if [ $how = m ]; then
		check "each module is there" all_objects
	else
		check "what is built in does not define a name twice" link
	fi
done
echo "1..$number"
