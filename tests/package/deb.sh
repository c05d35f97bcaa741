#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# debian/: packages that are built twice, in two directories, by users with other
# settings, are equal; so are objects of each kind that `make` compiles.
#
# The short form builds the packages without compiled code. With GRTRACE_SOAK=1
# all of them are built in a root of Debian 12, looked at by lintian, and
# installed, upgraded from an older version, removed and purged in roots of each
# suite, where dkms builds the modules for that suite's kernel: nothing is left.
# GRTRACE_SUITES: which (bookworm trixie sid). GRTRACE_OLDER: a tree of an older version to upgrade from, for files that
# moved between packages (default: this tree, with another number). Roots stay in the cache of tools/vm.

set -u -o pipefail
number=0
check() { # TITLE COMMAND...
	number=$((number + 1))
	if "${@:2}" >said 2>&1; then
		echo "ok $number - $1"
	else
		tail -n 40 said | sed 's/^/# /'
		echo "not ok $number - $1"
		return 1
	fi
}
skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit
}
here=$PWD
version=$(sed -n 's/^#define GRT_VERSION "\(.*\)"/\1/p' "$GRTRACE_SRC/include/grtrace/version.h")
packages=(grtrace grtrace-cuda grtrace-dkms grtrace-doc libgrtrace-dev libgrtrace0)

copy_source() { # DIR [TREE]
	mkdir -p "$1" && tar -C "${2:-$GRTRACE_SRC}" -c --exclude=./build --exclude=./.git --exclude=./demo . | tar -C "$1" -x
}
# As two users build: the directory, umask, locale, time zone, home and time differ.
as_first() { # DIR COMMAND...
	(umask 022 && cd "$1" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u WERROR LC_ALL=C.UTF-8 TZ=UTC "${@:2}")
}
as_second() {
	(umask 027 && cd "$1" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u WERROR LC_ALL=C TZ=Asia/Tokyo HOME=/nonexistent CCACHE_DISABLE=1 "${@:2}")
}
equal() { # DIR DIR PATTERN LEAST: as many files at least, each as in the other directory
	local file count=0
	for file in "$1"/$3; do
		cmp "$file" "$2/${file#"$1/"}" || return
		count=$((count + 1))
	done
	[ "$(ls -d "$2"/$3 | wc -l)" = $count ] && [ $count -ge "$4" ] || { echo "$count files" && return 1; }
}
has_files() { # DEB FILE...
	local file
	dpkg-deb -c "$1" >listed || return
	for file in "${@:2}"; do
		grep -q " \./$file\( -> .*\)\?$" listed || { echo "$1: no $file" && return 1; }
	done
}

# ---- the short form

command -v dh >/dev/null && [ -x /usr/bin/dh_dkms ] || skip_all "no debhelper: tools/setup check"
copy_source one/grtrace
copy_source another/directory/grt
independent=(dpkg-buildpackage -d -us -uc -A)
check "packages without compiled code are built" as_first one/grtrace "${independent[@]}"
check "and by somebody else" as_second another/directory/grt "${independent[@]}"
check "they are equal" equal one another/directory '*.deb' 2
check "the documents are in one" has_files "one/grtrace-doc_${version}_all.deb" usr/share/doc/grtrace/{README.md,docs/install.md,docs/page-cuda.png,examples/follow.c,examples/transformer.cu}
check "the source of the modules in the other" has_files "one/grtrace-dkms_${version}_all.deb" \
	"usr/src/grtrace-$version/"{dkms.conf,Kbuild,core/main.c,include/grtrace/version.h}
check "dkms gets the version" grep -qx "PACKAGE_VERSION=\"$version\"" one/grtrace/debian/dkms.conf

# An object of the library, the program, the injected library and the BPF programs; one that has a generated header.
objects=(obj/lib/base/error.o obj/cmds/main.o obj/lib/page/page_web.o inject/inject/stack.o inject/lib/base/error.o)
! command -v clang >/dev/null || ! command -v bpftool >/dev/null && [ ! -x /usr/sbin/bpftool ] || objects+=(bpf/dma_fence.bpf.o)
make_objects() { # WHO DIR O
	local all
	mapfile -t all < <(printf "$3/%s\n" "${objects[@]}")
	CCACHE_DISABLE=1 "$1" "$2" make -s O="$3" KDIR= "${all[@]}"
}
check "make" make_objects as_first one/grtrace "$here/one/grtrace/build"
check "make in another directory, O= outside of it" make_objects as_second another/directory/grt "$here/out"
for object in "${objects[@]}"; do
	check "$object is equal" cmp "one/grtrace/build/$object" "out/$object"
done
[ -n "${GRTRACE_SOAK:-}" ] || { echo "1..$number" && exit; }

# ---- the long form

[ "$(id -u)" = 0 ] || skip_all "only root can make roots of Debian: sudo tests/run --soak tests/package/deb.sh"
command -v debootstrap >/dev/null || skip_all "no debootstrap: apt-get install debootstrap"
cache=${GRTRACE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/grtrace/vm}
mirror=http://deb.debian.org/debian
build_packages=$(sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([a-z0-9-]*\).*/\1/p' "$GRTRACE_SRC/debian/control" | sed 's/dh-sequence-dkms/dh-dkms/; s/debhelper-compat/debhelper/')

# shellcheck disable=SC2016 # for the shell inside
in_root() { # ROOT COMMAND...: in a mount name space of its own, so that nothing stays mounted
	unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
		exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' "$@"
}
# A mirror may be behind.
apt_get() { # ROOT ARGUMENTS...
	in_root "$1" apt-get -q -y --no-install-recommends -o Acquire::Check-Valid-Until=false "${@:2}"
}
# A copy of the suite's root with packages as they are today; what was downloaded stays in the cache.
make_root() { # SUITE DIR PACKAGES...
	local base=$cache/debian-$1
	if [ ! -d "$base" ]; then
		rm -rf --one-file-system "$base.new"
		debootstrap --variant=minbase "$1" "$base.new" "$mirror" && mv "$base.new" "$base" || return
	fi
	printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d" && chmod 755 "$base/usr/sbin/policy-rc.d"
	apt_get "$base" update && apt_get "$base" dist-upgrade && apt_get "$base" install "${@:3}" && cp -a "$base" "$2"
}

build() { # WHO DIR; in $build_root
	# shellcheck disable=SC2016 # for the shell inside
	case $1 in
	as_first) in_root "$build_root" sh -c 'cd "/$0" && DEB_BUILD_OPTIONS=parallel=2 dpkg-buildpackage -us -uc -b' "$2" ;;
	as_second) in_root "$build_root" sh -c 'umask 027; cd "/$0" && LC_ALL=C TZ=Asia/Tokyo HOME=/nonexistent DEB_BUILD_OPTIONS="parallel=3 nocheck" dpkg-buildpackage -us -uc -b' "$2" ;;
	esac
}
build_root=$here/build_root
# shellcheck disable=SC2086 # words
check "a root of Debian 12 to build in" make_root bookworm "$build_root" build-essential fakeroot lintian $build_packages || { echo "1..$number" && exit; }
copy_source "$build_root/one/grtrace"
copy_source "$build_root/another/grt"
copy_source "$build_root/old/grtrace" "${GRTRACE_OLDER:-$GRTRACE_SRC}"
sed -i '/define GRT_VERSION /s/".*"/"0.0.1"/' "$build_root/old/grtrace/include/grtrace/version.h"
sed -i '1s/([^)]*)/(0.0.1)/' "$build_root/old/grtrace/debian/changelog"
check "all packages are built, unit tests pass" build as_first one/grtrace
check "and by somebody else" build as_second another/grt
check "they are equal, debug information too" equal "$build_root/one" "$build_root/another" '*.deb' 9
check "an older version" build as_second old/grtrace
lintian_says_nothing() {
	in_root "$build_root" sh -c "cd /one && lintian --allow-root --fail-on error,warning --pedantic *.changes"
}
check "lintian finds no error and no warning" lintian_says_nothing
check "each package is there" test "$(cd "$build_root/one" && ls -- *.deb | sed 's/_.*//' | grep -v dbgsym | LC_ALL=C sort | xargs)" = "${packages[*]}"

# What is there and what dpkg knows; not caches, logs, lists and the key that dkms makes itself, and not what depmod
# wrote for the kernel, which has no module here: newer versions of dkms remove that with the last one of theirs.
files_of() { # ROOT
	(cd "$1" && find . -xdev \( -path ./debs -o -path ./tmp -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/apt \
		-o -path './var/lib/dpkg/*-old' -o -path ./var/lib/dpkg/lock\* -o -path './var/lib/dkms/mok.*' -o -path '*/lib/modules/*/modules.*' \) -prune -o -print | sort)
	in_root "$1" dpkg-query -W
}
modules_in() { # ROOT
	find "$1/lib/modules" "$1/usr/lib/modules" -name 'grtrace*.ko*' 2>/dev/null | sed 's|.*/||' | sort -u | wc -l
}
all_modules=$(sed -n 's/^obj-.*+= \(grtrace[a-z0-9_]*\)\.o$/\1/p' "$GRTRACE_SRC/kernel/Kbuild" | wc -l)
runs() { # ROOT VERSION
	[ "$(in_root "$1" grtrace --version | cut -d' ' -f2)" = "$2" ] && in_root "$1" gpuperf --help >said &&
		in_root "$1" dkms status >said && grep -q "^grtrace[/,] *$2, .*installed" said && ! grep -v "$2" said
}
for suite in ${GRTRACE_SUITES:-bookworm trixie sid}; do
	root=$here/root_$suite
	depended=$(for deb in "$build_root"/one/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/ *(.*//; s/^ *//' | sort -u | grep -v grtrace)
	# shellcheck disable=SC2086 # words
	check "$suite: a root" make_root "$suite" "$root" linux-headers-amd64 $depended || continue
	# a kernel is there when its directory is, with what depmod writes there
	kernel=$(ls "$root/usr/src" | sed -n 's/^linux-headers-\(.*-amd64\)$/\1/p' | sort -V | tail -n 1)
	mkdir -p "$root/debs/old" "$root/debs/new" "$root/lib/modules/$kernel"
	in_root "$root" depmod "$kernel" 2>/dev/null
	cp "$build_root"/old/*.deb "$root/debs/old/"
	cp "$build_root"/one/*.deb "$root/debs/new/"
	rm -f "$root"/debs/*/*dbgsym*
	files_of "$root" >before
	check "$suite: an older version is installed" in_root "$root" sh -c 'apt-get -q -y --no-install-recommends install /debs/old/*.deb'
	check "$suite: it runs, dkms has its modules" runs "$root" 0.0.1
	check "$suite: it is upgraded" in_root "$root" sh -c 'apt-get -q -y --no-install-recommends install /debs/new/*.deb'
	check "$suite: the new one runs, dkms has its modules and no others" runs "$root" "$version"
	check "$suite: all $all_modules modules are there" test "$(modules_in "$root")" = "$all_modules"
	check "$suite: it is removed" apt_get "$root" remove "${packages[@]}"
	check "$suite: no module is left" test "$(modules_in "$root")" = 0
	check "$suite: it is purged" in_root "$root" dpkg --purge "${packages[@]}"
	files_of "$root" >after
	check "$suite: nothing is left, nothing else is gone" diff before after
	rm -rf --one-file-system "$root"
done
echo "1..$number"
