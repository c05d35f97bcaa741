#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# packaging/grtrace.spec: rpmbuild makes the packages of it. Each file is in one of them, and what a package has on another
# system is there: the programs run, the library is found by pkg-config, the source of the modules is whole.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"
command -v rpmbuild >/dev/null || skip_all "no rpmbuild: tools/setup check"
version=$("$GRTRACE" --version | cut -d' ' -f2)
name=grtrace-$version
here=$PWD

# The BPF programs are those that are built already; the rest is built as the spec says, without the optimizer.
mkdir -p "$name/build" top/SOURCES
tar -C "$GRTRACE_SRC" -c --exclude=./build --exclude=./.git --exclude=./demo . | tar -C "$name" -x
[ ! -d "$GRTRACE_PLAIN/bpf" ] || cp -a "$GRTRACE_PLAIN/bpf" "$name/build/"
tar -czf "top/SOURCES/$name.tar.gz" "$name"
rm -rf "$name"
# Debian has rpm and not the macros of systemd, nor packages that rpm knows of.
output=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL CFLAGS=-O0 rpmbuild -bb --nodeps --define "_topdir $here/top" --define '_unitdir /usr/lib/systemd/system' \
	--define 'systemd_post() :' --define 'systemd_preun() :' --define 'systemd_postun_with_restart() :' \
	--define 'debug_package %{nil}' "$GRTRACE_SRC/packaging/grtrace.spec" 2>&1)
status=$?
output=$(tail -n 30 <<<"$output")
check "rpmbuild builds it" exits 0
mapfile -t rpms < <(find top/RPMS -name '*.rpm' | sort)
packages() { printf '%s\n' "${rpms[@]##*/}" | sed "s/-$version-.*//" | sort | xargs; }
check "each package is there" test "$(packages)" = "$(sed -n '/^%if/d; /^%files$/p; s/^%files \(.*\)/\1/p' "$GRTRACE_SRC/packaging/grtrace.spec" | sed 's/^%files$/grtrace/; t; s/^/grtrace-/' | sort | xargs)"
files() { # PACKAGE, by the end of its name
	rpm -qlp "top/RPMS/"*"/$1-$version-"*.rpm 2>/dev/null
}
every() { for rpm in "${rpms[@]}"; do rpm -qlp "$rpm" 2>/dev/null; done; }
check "no file is in two" test -z "$(every | sort | uniq -d | grep -vE '^/usr/(share/licenses|lib/\.build-id)')"
check "the program has its page, its completion and its unit" test "$(files grtrace | grep -cE '/(bin/grtrace|man1/grtrace\.1[.gz]*|completions/grtrace|site-functions/_grtrace|fish/vendor_completions.d/grtrace.fish|system/grtrace.service)$')" = 6
check "so have its other names" test "$(files grtrace | grep -cE '/bin/(gpuperf|gpuperf\.py)$')" = 2

# What is in them, where rpm put it: a directory that is the root of another system.
for rpm in "${rpms[@]}"; do
	(mkdir -p root && cd root && rpm2cpio "../$rpm" | cpio -idm --quiet)
done
check "the installed program runs" test "$(root/usr/bin/grtrace --version | cut -d' ' -f2)" = "$version"
libdir=$(cd root && find usr -name libgrtrace.a -printf '%h\n')
check "the library for CUDA programs is where the program looks" test -e root/usr/bin/../lib64/grtrace/libgrtrace-cuda.so -o "$(uname -m)" != x86_64
check "pkg-config finds the library" test "$(PKG_CONFIG_PATH=root/$libdir/pkgconfig pkg-config --modversion grtrace)" = "$version"
check "the unit starts what is installed" grep -q '^ExecStart=/usr/bin/grtrace serve' root/usr/lib/systemd/system/grtrace.service
check "dkms finds the modules' version" test "$(kernel_source_dir='' dkms_tree='' bash -c '. "$0" && echo "$PACKAGE_VERSION"' "$PWD/root/usr/src/$name/dkms.conf")" = "$version"
check "and their source" test -e "root/usr/src/$name/core/main.c" -a -e "root/usr/src/$name/include/grtrace/version.h"
check "the documents lead to the tutorials" test -e root/usr/share/doc/grtrace/docs/tutorials/late-frame.png
# Debian's rpmlint has Mandriva's rules of signatures, groups, ldconfig and where pages of programs in Python lie.
known='no-(signature|packager-tag|group-tag)|ldconfig|bad-manual-page-folder|missing-hash-section|outside-libdir-files'
known+='|\.build-id|static-library-without-debuginfo|no-dependency-on locales-doc|non-executable-script .*\.sh 644'
if command -v rpmlint >/dev/null; then
	output=$(rpmlint "${rpms[@]}" 2>&1)
	check "rpmlint reads all of them" says "^ *${#rpms[@]} packages and 0 specfiles checked"
	output=$(grep ': E: ' <<<"$output" | grep -vE "$known")
	check "and finds no error" test -z "$output"
else
	ok "rpmlint # SKIP no rpmlint: tools/setup check"
fi
plan
