# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# _pythons.sh: CPython of other suites: its packages with their own C library are unpacked into the cache, once, and run
# there by chroot. What is unpacked is what the archive's keys have signed; Ubuntu's are those of Debian's package.

pythons=${GRTRACE_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/grtrace/vm}/pythons
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

download() { # DIRECTORY ARCHIVE SUITE KEYRING PACKAGE...
	local at=$1 apt
	mkdir -p "$at/lists/partial"
	echo "deb [signed-by=$4] $2 $3 main" >"$at/sources.list"
	apt=(apt-get -q -o "Dir::Etc::sourcelist=$at/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::Lists=$at/lists"
		-o "Dir::Cache=$at" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
	"${apt[@]}" update && (cd "$at" && "${apt[@]}" download "${@:5}")
}

unpack() { # DIRECTORY PACKAGES
	local deb
	for deb in "$2"/*.deb; do
		dpkg-deb -x "$deb" "$1" || return 1
	done
}

# The suite's own interpreter in $pythons/SUITE-VERSION.
unpack_python() { # debian|ubuntu SUITE VERSION
	local root=$pythons/$2-$3 temp archive=http://deb.debian.org/debian keys=$keyring dir
	[ ! -e "$root/mnt" ] || return 0
	mkdir -p "$pythons" && temp=$(mktemp -d "$pythons/tmp.XXXXXX") || return 1
	if [ "$1" = ubuntu ]; then
		download "$temp/keys" "$archive" sid "$keyring" ubuntu-keyring && unpack "$temp/keys" "$temp/keys" || return 1
		archive=http://archive.ubuntu.com/ubuntu keys=$temp/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg
	fi
	download "$temp/debs" "$archive" "$2" "$keys" libc6 libexpat1 libffi8 zlib1g {libpython,python}"$3"-minimal libpython"$3"-stdlib &&
		unpack "$temp/root" "$temp/debs" || return 1
	for dir in lib lib64; do
		[ -e "$temp/root/$dir" ] || ln -s usr/$dir "$temp/root/$dir"
	done
	mkdir "$temp/root/mnt" && mv "$temp/root" "$root" && rm -rf "$temp"
}

# A program of this directory that runs it, with this directory as /mnt.
python_of() { # debian|ubuntu SUITE VERSION
	unpack_python "$@" >unpacked 2>&1 || return 1
	cat >"in-$2-$3" <<END
#!/bin/sh
exec unshare -m sh -c 'mount --bind "$PWD" "$pythons/$2-$3/mnt" && exec chroot "$pythons/$2-$3" /usr/bin/python$3 "\$@"' sh "\$@"
END
	chmod +x "in-$2-$3"
}
